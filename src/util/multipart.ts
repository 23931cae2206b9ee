/**
 * Forms with files (multipart/form-data, RFC 7578), read from a buffer into views over it, and written as chunks around
 * the same views. A large file is in memory once, however many providers it is sent to.
 * @module
 */
import type { UploadedFile } from "../contracts/provider.ts";

/** A parsed form. */
export interface Form {
  /** Text fields in order. A name may occur several times. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Files, as views over the buffer. */
  readonly files: readonly UploadedFile[];
}

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder();
/** Maximum size of a part's headers, far above that of any client. */
export const maxHeadBytes: number = 8 * 1024;
export const maxParts: number = 256;

/**
 * Returns the boundary of a content type.
 *
 * @param contentType Value of the `content-type` header.
 * @returns Undefined when it is not multipart/form-data, or has no boundary.
 */
export function findBoundary(contentType: string | null): string | undefined {
  const [, quoted, plain] = /^\s*multipart\/form-data\s*;.*?boundary=(?:"([^"]{1,70})"|([^;\s"]{1,70}))/i
    .exec(contentType ?? "") ?? [];
  return quoted ?? plain;
}

/**
 * Creates a random boundary.
 *
 * @param runtime Random number generator.
 */
export function newBoundary({ random }: { readonly random: () => number }): string {
  return `form-${[random(), random(), random()].map((part) => part.toString(36).slice(2)).join("")}`;
}

/**
 * Parses a form.
 *
 * @param bytes The whole body.
 * @returns Undefined when it is malformed: a wrong boundary, a part without a name, or no end.
 */
export function readForm(bytes: Uint8Array, boundary: string): Form | undefined {
  const fields: [string, string][] = [];
  const files: UploadedFile[] = [];
  const opening = encoder.encode(`--${boundary}`);
  const headEnd = encoder.encode("\r\n\r\n");
  const delimiter = encoder.encode(`\r\n--${boundary}`);
  const [findHeadEnd, findDelimiter] = [createFinder(headEnd), createFinder(delimiter)];
  const preamble = startsAt(bytes, opening, 0) ? -2 : findDelimiter(bytes, 0);
  if (preamble === -1) return undefined;
  let at = preamble + delimiter.length;
  for (let parts = 0; !matchesAt(bytes, at, "--"); parts++) {
    const headAt = at + 2;
    const head = bytes.subarray(at, headAt + maxHeadBytes);
    const bodyAt = at + findHeadEnd(head, 0) + headEnd.length;
    if (!matchesAt(head, 0, "\r\n") || bodyAt < headAt + 2 || parts === maxParts) return undefined;
    const end = findDelimiter(bytes, bodyAt - 2);
    const part = parsePartHead(decoder.decode(bytes.subarray(headAt, bodyAt)));
    if (end < bodyAt - 2 || part === undefined) return undefined;
    const body = bytes.subarray(bodyAt, Math.max(bodyAt, end));
    if (part.filename === undefined) fields.push([part.name, decoder.decode(body)]);
    else files.push({ field: part.name, name: part.filename, type: part.type, bytes: body });
    at = end + delimiter.length;
  }
  return { fields, files };
}

/**
 * Encodes a form.
 *
 * @param form Fields and files.
 * @param boundary The boundary, which must not occur in a file.
 * @returns The body, and the value of its `content-type` header.
 */
export function writeForm(
  { fields, files }: Form,
  boundary: string,
): { readonly contentType: string; readonly chunks: readonly Uint8Array[] } {
  const chunks: Uint8Array[] = [];
  const add = (text: string) => void chunks.push(encoder.encode(text));
  const head = (name: string) => `--${boundary}\r\ncontent-disposition: form-data; name="${quotable(name)}"`;
  for (const [name, value] of fields) add(`${head(name)}\r\n\r\n${value}\r\n`);
  for (const { field, name, type, bytes } of files) {
    add(`${head(field)}; filename="${quotable(name)}"\r\ncontent-type: ${type.replace(/[\r\n]/g, "")}\r\n\r\n`);
    chunks.push(bytes);
    add("\r\n");
  }
  add(`--${boundary}--\r\n`);
  return { contentType: `multipart/form-data; boundary=${boundary}`, chunks };
}

export interface PartHead {
  readonly name: string;
  readonly filename: string | undefined;
  readonly type: string;
}

export function parsePartHead(head: string): PartHead | undefined {
  const disposition = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(head)?.[1];
  const name = disposition && parameter(disposition, "name");
  if (name === undefined || name === "") return undefined;
  const type = /^content-type:\s*(\S[^\r\n]*)$/im.exec(head)?.[1]?.trim() ?? "application/octet-stream";
  return { name, filename: parameter(disposition!, "filename"), type };
}

/**
 * Returns a parameter of a header. Quotes in names are escaped as browsers do (`%22`, `%0D%0A`), or with backslashes as
 * some libraries do.
 */
const parameters = {
  name: /(?:^|[;\s])name=(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i,
  filename: /(?:^|[;\s])filename=(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i,
};

function parameter(disposition: string, name: keyof typeof parameters): string | undefined {
  const [, quoted, plain] = parameters[name].exec(disposition) ?? [];
  return (quoted?.replace(/\\(.)/g, "$1") ?? plain)?.replace(/%22/g, '"');
}

function quotable(name: string): string {
  return name.replace(/"/g, "%22").replace(/\r/g, "%0D").replace(/\n/g, "%0A");
}

function matchesAt(bytes: Uint8Array, at: number, text: string): boolean {
  return startsAt(bytes, encoder.encode(text), at);
}

function startsAt(bytes: Uint8Array, pattern: Uint8Array, at: number): boolean {
  if (at < 0 || at + pattern.length > bytes.length) return false;
  for (let index = 0; index < pattern.length; index++) if (bytes[at + index] !== pattern[index]) return false;
  return true;
}

/**
 * Creates a Boyer–Moore–Horspool search, which skips by the last byte examined. It compares forward from the line break
 * with which the pattern begins and which occurs nowhere else in it, so that no input is slower than others.
 */
export function createFinder(pattern: Uint8Array): (bytes: Uint8Array, from: number) => number {
  const last = pattern.length - 1;
  const skips = new Uint8Array(256).fill(pattern.length);
  for (let index = 0; index < last; index++) skips[pattern[index]!] = last - index;
  return (bytes, from) => {
    for (let at = from; at + last < bytes.length; at += skips[bytes[at + last]!]!) {
      if (startsAt(bytes, pattern, at)) return at;
    }
    return -1;
  };
}
