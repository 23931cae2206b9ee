/**
 * Strict parser for the heads of responses: finds their end, and parses status line and header fields (RFC 9112, sections
 * 2.2, 4 and 5). It rejects syntax that other implementations may interpret differently: if they disagreed with us on the
 * end of a message, its remainder would become the next message.
 * @module
 */
import { NetworkError } from "../../errors.ts";
import { needsTls } from "../../util/needs_tls.ts";
import { MalformedMessage } from "./malformed.ts";

const tab = 9;
const lf = 10;
const cr = 13;
const space = 32;
const colon = 58;
const del = 127;

/** Maximum size of a head, bytes. */
const maxHeadBytes = 64 * 1024;

/** Maximum number of header fields of a head. */
const maxFields = 500;

/** First byte of the alert by which a TLS server answers plain HTTP. */
const tlsAlert = 0x15;

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;

const protocol = [..."HTTP/1."].map((char) => char.charCodeAt(0));

/** Finds the end of a head incrementally. */
export class HeadScanner {
  /** Number of bytes scanned so far. */
  #scanned = 0;
  #lineStart = 0;

  /**
   * Scans the bytes received since the last call. Loops are faster than `indexOf` for lines of this length.
   *
   * @param bytes The head starts at `from`, in every call.
   * @returns Length of the head including its empty line; undefined while it is incomplete.
   * @throws {MalformedMessage} For a line not ending with a carriage return, an invalid start, or an oversized head.
   */
  find(bytes: Uint8Array, from: number, to: number): number | undefined {
    if (this.#scanned < protocol.length) checkStart(bytes, from, to);
    for (let at = from + this.#scanned; at < to; at++) {
      if (bytes[at] !== lf) continue;
      if (at === from || bytes[at - 1] !== cr) throw new MalformedMessage("a line feed without a carriage return");
      const length = at + 1 - from;
      if (length - this.#lineStart === 2) return checkLength(length);
      this.#lineStart = length;
    }
    this.#scanned = checkLength(to - from);
    return undefined;
  }
}

function checkLength(length: number): number {
  if (length > maxHeadBytes) throw new MalformedMessage("a head that is too long");
  return length;
}

/** Throws if the bytes received so far cannot begin a head. */
function checkStart(bytes: Uint8Array, from: number, to: number): void {
  if (bytes[from] === tlsAlert) throw new NetworkError(needsTls, { neverSent: true });
  const overlap = Math.min(to - from, protocol.length);
  for (let index = 0; index < overlap; index++) {
    if (bytes[from + index] !== protocol[index]) throw new MalformedMessage("no HTTP/1");
  }
}

/** The head of a response. */
export interface ResponseHead {
  /** From 100 to 999. */
  readonly status: number;
  /** Minor version of HTTP/1. */
  readonly minor: 0 | 1;
  readonly fields: Fields;
}

/**
 * Parses the head of a response.
 *
 * @param bytes The head is between `from` and `to`, including its empty line.
 * @throws {MalformedMessage}
 */
export function parseResponseHead(bytes: Uint8Array, from: number, to: number): ResponseHead {
  const text = latin1(bytes.subarray(from, to - 2));
  const end = findLineEnd(text, 0);
  const [, minor, status] = statusLine.exec(text.slice(0, end)) ?? [];
  if (status === undefined) throw new MalformedMessage("an invalid status line");
  return { status: Number(status), minor: minor === "1" ? 1 : 0, fields: new Fields(text, end + 2) };
}

/** Header fields. They are copied from the head when they are asked for, since most never are. */
export class Fields {
  readonly #text: string;
  /** The head with names in lower case. */
  readonly #lower: string;
  /** Three offsets for each field: its start, its colon, its end. */
  readonly #offsets: number[] = [];

  /**
   * Parses fields.
   *
   * @param text A head, with the end of each line.
   * @param from Where the first field starts.
   * @throws {MalformedMessage}
   */
  constructor(text: string, from: number) {
    this.#text = text;
    this.#lower = text.toLowerCase();
    for (let start = from; start < text.length;) {
      let colonAt = start;
      while (isTokenCode(text.charCodeAt(colonAt))) colonAt++;
      if (colonAt === start || text.charCodeAt(colonAt) !== colon) {
        throw new MalformedMessage("an invalid header field"); // also obs-fold
      }
      const end = findLineEnd(text, colonAt);
      this.#offsets.push(start, colonAt, end);
      start = end + 2;
    }
    if (this.#offsets.length > 3 * maxFields) throw new MalformedMessage("too many header fields");
  }

  /**
   * Returns the value of a field; those of repeated fields are joined by a comma and a space.
   *
   * @param name In any case.
   */
  get(name: string): string | null {
    const value = this.#find(name);
    if (value !== null) return value;
    const key = name.toLowerCase();
    return key === name ? null : this.#find(key);
  }

  #find(name: string): string | null {
    const offsets = this.#offsets;
    let all: string | null = null;
    for (let at = 0; at < offsets.length; at += 3) {
      const [start, colonAt] = [offsets[at]!, offsets[at + 1]!];
      if (colonAt - start !== name.length || !this.#lower.startsWith(name, start)) continue;
      const value = trimBlanks(this.#text, colonAt + 1, offsets[at + 2]);
      all = all === null ? value : `${all}, ${value}`;
    }
    return all;
  }
}

/** Returns the offset of the carriage return that ends a line. */
function findLineEnd(text: string, from: number): number {
  for (let at = from;; at++) {
    const code = text.charCodeAt(at);
    if (code >= space && code !== del || code === tab) continue;
    if (code === cr && text.charCodeAt(at + 1) === lf) return at;
    throw new MalformedMessage("a control character in a head");
  }
}

/** Whether a character or a byte may be part of a field name: a `tchar` of RFC 9110, section 5.6.2. */
export function isTokenCode(code: number): boolean {
  return tokenCodes[code] === 1;
}

const tokenCodes = new Uint8Array(128)
  .map((_, code) => /^[!#$%&'*+\-.^_`|~\dA-Za-z]$/.test(String.fromCharCode(code)) ? 1 : 0);

/** Trims HTTP's optional whitespace (OWS) only, from a part of a text. */
export function trimBlanks(text: string, from: number = 0, to: number = text.length): string {
  let [start, end] = [from, to];
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === space || code === tab;
}

const decoder = new TextDecoder();

/** Decodes ISO-8859-1: as UTF-8, which is faster, unless it turns out not to be ASCII. */
function latin1(bytes: Uint8Array): string {
  const text = decoder.decode(bytes);
  return text.length === bytes.length && !text.includes("\ufffd") ? text : inParts(bytes);
}

/** Engines limit the number of arguments of a call. */
function inParts(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4096) {
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + 4096) as unknown as number[]);
  }
  return text;
}
