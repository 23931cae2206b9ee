/**
 * Forms with files (RFC 7578): read from one buffer into views over it, and written as a sequence of chunks around the same
 * views. So a large file is in memory once, however many providers it is sent to.
 * @module
 */
import type { UploadedFile } from "../contracts/provider.ts";

/** A form as it came. */
export interface Form {
  /** Text fields in order; a name may come several times. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Views over the buffer that was read. */
  readonly files: readonly UploadedFile[];
}

/** A form that is to be sent. */
interface FormBody {
  /** Value of the header `content-type`. */
  readonly contentType: string;
  readonly chunks: readonly Uint8Array[];
}

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder();
/** Names and types of one part: far more than any client sends. */
const maxHeadBytes = 8 * 1024;
const maxParts = 256;

/**
 * The boundary that a content type names.
 *
 * @param contentType A header's value.
 * @returns Undefined when it is no form with files, or names none.
 */
export function boundaryOf(contentType: string | null): string | undefined {
  const [, quoted, plain] = /^\s*multipart\/form-data\s*;.*?boundary=(?:"([^"]{1,70})"|([^;\s"]{1,70}))/i
    .exec(contentType ?? "") ?? [];
  return quoted ?? plain;
}

/**
 * Reads a form.
 *
 * @param bytes The whole body.
 * @param boundary What separates its parts.
 * @returns Undefined when it is no such form: a wrong boundary, a part without a name, no end.
 */
export function readForm(bytes: Uint8Array, boundary: string): Form | undefined {
  const fields: [string, string][] = [];
  const files: UploadedFile[] = [];
  const opening = encoder.encode(`--${boundary}`);
  const headEnd = encoder.encode("\r\n\r\n");
  const delimiter = encoder.encode(`\r\n--${boundary}`);
  let at = indexOf(bytes, opening, 0);
  if (at !== 0 && !startsAt(bytes, encoder.encode("\r\n"), at - 2)) return undefined;
  at += opening.length;
  for (let parts = 0; !isText(bytes, at, "--"); parts++) {
    const headAt = at + 2;
    const bodyAt = indexOf(bytes, headEnd, at) + headEnd.length;
    if (!isText(bytes, at, "\r\n") || bodyAt < headAt || bodyAt - headAt > maxHeadBytes || parts === maxParts) {
      return undefined;
    }
    const end = indexOf(bytes, delimiter, bodyAt - 2);
    const part = partOf(decoder.decode(bytes.subarray(headAt, bodyAt)));
    if (end < bodyAt - 2 || part === undefined) return undefined;
    const body = bytes.subarray(bodyAt, Math.max(bodyAt, end));
    if (part.filename === undefined) fields.push([part.name, decoder.decode(body)]);
    else files.push({ field: part.name, name: part.filename, type: part.type, bytes: body });
    at = end + delimiter.length;
  }
  return { fields, files };
}

/**
 * Writes a form.
 *
 * @param form What it has.
 * @param boundary What separates its parts: nothing that may be in a file.
 */
export function writeForm({ fields, files }: Form, boundary: string): FormBody {
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

interface PartHead {
  readonly name: string;
  readonly filename: string | undefined;
  readonly type: string;
}

function partOf(head: string): PartHead | undefined {
  const disposition = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(head)?.[1];
  const name = disposition && parameter(disposition, "name");
  if (name === undefined || name === "") return undefined;
  const type = /^content-type:\s*(\S[^\r\n]*)$/im.exec(head)?.[1]?.trim() ?? "application/octet-stream";
  return { name, filename: parameter(disposition!, "filename"), type };
}

/** Names are quoted as browsers do (`%22`, `%0D%0A`), or by backslashes as some libraries do. */
function parameter(disposition: string, name: string): string | undefined {
  const [, quoted, plain] = new RegExp(`(?:^|[;\\s])${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]+))`, "i")
    .exec(disposition) ?? [];
  return (quoted?.replace(/\\(.)/g, "$1") ?? plain)?.replace(/%22/g, '"');
}

function quotable(name: string): string {
  return name.replace(/"/g, "%22").replace(/\r/g, "%0D").replace(/\n/g, "%0A");
}

function isText(bytes: Uint8Array, at: number, text: string): boolean {
  return startsAt(bytes, encoder.encode(text), at);
}

function startsAt(bytes: Uint8Array, wanted: Uint8Array, at: number): boolean {
  if (at < 0 || at + wanted.length > bytes.length) return false;
  for (let index = 0; index < wanted.length; index++) if (bytes[at + index] !== wanted[index]) return false;
  return true;
}

/** By the first byte, which runtimes look for quickly; -1 for none. */
function indexOf(bytes: Uint8Array, wanted: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(wanted[0]!, from); at >= 0; at = bytes.indexOf(wanted[0]!, at + 1)) {
    if (startsAt(bytes, wanted, at)) return at;
  }
  return -1;
}
