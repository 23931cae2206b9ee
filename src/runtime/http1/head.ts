/**
 * The head of a response: status line and header fields (RFC 9112, sections 4 and 5), read strictly. What servers and
 * intermediaries may read in two ways is refused, since a response that ends at a different byte for us than for them
 * would hand its rest to the next request.
 * @module
 */
import { MalformedResponse } from "./malformed.ts";

/** Most bytes of a head. */
const maxHeadBytes = 64 * 1024;

const cr = 13;
const lf = 10;
const protocol = [..."HTTP/1."].map((char) => char.charCodeAt(0));
const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const fieldLine = /^([!#$%&'*+\-.^_`|~\dA-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;

/** A status and header fields. */
export interface Head {
  /** From 100 to 999. */
  readonly status: number;
  /** Of HTTP/1. */
  readonly minor: 0 | 1;
  /** By name in lower case; values of repeated fields are joined by a comma and a space. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Finds where a head ends, in bytes that come in pieces. */
export class HeadScanner {
  /** Bytes of the head that have been looked at. */
  #scanned = 0;
  #lineStart = 0;

  /**
   * Looks at what has come since the last call.
   *
   * @param bytes The head's bytes start at `from`, at every call.
   * @returns Length of the head with its empty line; undefined while that has not come.
   * @throws {MalformedResponse} For a line that ends without a carriage return, another protocol, or a head that is too long.
   */
  find(bytes: Uint8Array, from: number, to: number): number | undefined {
    if (this.#scanned < protocol.length) checkProtocol(bytes, from, to);
    let at = bytes.indexOf(lf, from + this.#scanned);
    for (; at >= 0 && at < to; at = bytes.indexOf(lf, at + 1)) {
      if (at === from || bytes[at - 1] !== cr) throw new MalformedResponse("a line feed without a carriage return");
      const length = at + 1 - from;
      if (length - this.#lineStart === 2) return checkedLength(length);
      this.#lineStart = length;
    }
    this.#scanned = to - from;
    checkedLength(this.#scanned);
    return undefined;
  }
}

function checkProtocol(bytes: Uint8Array, from: number, to: number): void {
  const known = Math.min(to - from, protocol.length);
  for (let index = 0; index < known; index++) {
    if (bytes[from + index] !== protocol[index]) throw new MalformedResponse("no HTTP/1");
  }
}

function checkedLength(length: number): number {
  if (length > maxHeadBytes) throw new MalformedResponse("a head that is too long");
  return length;
}

/**
 * Parses a head.
 *
 * @param bytes From `from` to `to`, with its empty line.
 * @throws {MalformedResponse}
 */
export function parseHead(bytes: Uint8Array, from: number, to: number): Head {
  const lines = latin1(bytes.subarray(from, to - 4)).split("\r\n");
  const [, minor, status] = statusLine.exec(lines[0]!) ?? [];
  if (status === undefined) throw new MalformedResponse("a status line that is none");
  const fields = new Map<string, string>();
  for (let index = 1; index < lines.length; index++) {
    const [, name, value] = fieldLine.exec(lines[index]!) ?? [];
    if (name === undefined) throw new MalformedResponse("a header field that is none"); // a folded one, too
    const key = name.toLowerCase();
    const before = fields.get(key);
    const trimmed = trimEnd(value!);
    fields.set(key, before === undefined ? trimmed : `${before}, ${trimmed}`);
  }
  return { status: Number(status), minor: minor === "1" ? 1 : 0, fields };
}

/** Optional whitespace of HTTP only. */
function trimEnd(value: string): string {
  let end = value.length;
  while (end > 0 && (value[end - 1] === " " || value[end - 1] === "\t")) end--;
  return end === value.length ? value : value.slice(0, end);
}

/** Bytes as characters of the same number; engines limit how many arguments a call may have. */
function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4096) {
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + 4096) as unknown as number[]);
  }
  return text;
}
