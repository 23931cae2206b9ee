/**
 * Strict parser for the head of a response: status line and header fields (RFC 9112, sections 4 and 5). It rejects
 * syntax that servers and intermediaries may interpret differently: if they disagreed with us on the end of a response,
 * its remainder would become the response to the next request.
 * @module
 */
import { MalformedResponse } from "./malformed.ts";

/** Maximum size of a head, bytes. */
const maxHeadBytes = 64 * 1024;

const cr = 13;
const lf = 10;
const protocol = [..."HTTP/1."].map((char) => char.charCodeAt(0));
const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const fieldLine = /^([!#$%&'*+\-.^_`|~\dA-Za-z]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;

/** A parsed head. */
export interface Head {
  /** From 100 to 999. */
  readonly status: number;
  /** Minor version of HTTP/1. */
  readonly minor: 0 | 1;
  /** By lower-case name; values of repeated fields are joined by a comma and a space. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Finds the end of a head incrementally. */
export class HeadScanner {
  /** Number of bytes scanned so far. */
  #scanned = 0;
  #lineStart = 0;

  /**
   * Scans the bytes received since the last call.
   *
   * @param bytes The head starts at `from`, in every call.
   * @returns Length of the head including its empty line; undefined while it is incomplete.
   * @throws {MalformedResponse} For a line not ending with a carriage return, another protocol, or an oversized head.
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
 * @param bytes The head is between `from` and `to`, including its empty line.
 * @throws {MalformedResponse}
 */
export function parseHead(bytes: Uint8Array, from: number, to: number): Head {
  const lines = latin1(bytes.subarray(from, to - 4)).split("\r\n");
  const [, minor, status] = statusLine.exec(lines[0]!) ?? [];
  if (status === undefined) throw new MalformedResponse("an invalid status line");
  const fields = new Map<string, string>();
  for (let index = 1; index < lines.length; index++) {
    const [, name, value] = fieldLine.exec(lines[index]!) ?? [];
    if (name === undefined) throw new MalformedResponse("an invalid header field"); // also obs-fold
    const key = name.toLowerCase();
    const before = fields.get(key);
    const trimmed = trimEnd(value!);
    fields.set(key, before === undefined ? trimmed : `${before}, ${trimmed}`);
  }
  return { status: Number(status), minor: minor === "1" ? 1 : 0, fields };
}

/** Trims HTTP's optional whitespace (OWS) only. */
function trimEnd(value: string): string {
  let end = value.length;
  while (end > 0 && (value[end - 1] === " " || value[end - 1] === "\t")) end--;
  return end === value.length ? value : value.slice(0, end);
}

/** Decodes ISO-8859-1, in parts, since engines limit the number of arguments of a call. */
function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4096) {
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + 4096) as unknown as number[]);
  }
  return text;
}
