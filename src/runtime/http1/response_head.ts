/**
 * Strict parser for the heads of responses: finds their end, and parses status line and header fields (RFC 9112, sections
 * 2.2, 4 and 5). It rejects syntax that other implementations may interpret differently: if they disagreed with us on the
 * end of a message, its remainder would become the next message.
 * @module
 */
import { NetworkError } from "../../errors.ts";
import { needsTls } from "../../util/needs_tls.ts";
import { MalformedMessage } from "./malformed.ts";

const cr = 13;
const lf = 10;
const fieldName = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
/** Control characters, except a tab. */
// deno-lint-ignore no-control-regex
const control = /[\0-\x08\n-\x1f\x7f]/;
const plain = /^[\t\n\r\x20-\x7e]*$/;

/** Maximum number of lines of a head. */
const maxLines = 500;

/** Header fields by lower-case name; values of repeated fields are joined by a comma and a space. */
export type Fields = ReadonlyMap<string, string>;

/** What a {@linkcode HeadScanner} accepts. */
interface HeadRules {
  /** Maximum size of a head, bytes. */
  readonly maxBytes: number;
  /** Throws if the bytes between `from` and `to` cannot begin a head. Called until 7 bytes have been received. */
  readonly checkStart: (bytes: Uint8Array, from: number, to: number) => void;
}

/** Number of bytes by which the start of a head is recognized. */
const startBytes = 7;

/** Finds the end of a head incrementally. */
export class HeadScanner {
  readonly #rules: HeadRules;
  /** Number of bytes scanned so far. */
  #scanned = 0;
  #lineStart = 0;

  constructor(rules: HeadRules) {
    this.#rules = rules;
  }

  /**
   * Scans the bytes received since the last call.
   *
   * @param bytes The head starts at `from`, in every call.
   * @returns Length of the head including its empty line; undefined while it is incomplete.
   * @throws {MalformedMessage} For a line not ending with a carriage return, an invalid start, or an oversized head.
   */
  find(bytes: Uint8Array, from: number, to: number): number | undefined {
    if (this.#scanned < startBytes) this.#rules.checkStart(bytes, from, to);
    const received = bytes.subarray(0, to); // what follows is left over from earlier messages
    for (let at = received.indexOf(lf, from + this.#scanned); at >= 0; at = received.indexOf(lf, at + 1)) {
      if (at === from || bytes[at - 1] !== cr) throw new MalformedMessage("a line feed without a carriage return");
      const length = at + 1 - from;
      if (length - this.#lineStart === 2) return this.#checked(length);
      this.#lineStart = length;
    }
    this.#scanned = to - from;
    this.#checked(this.#scanned);
    return undefined;
  }

  #checked(length: number): number {
    if (length > this.#rules.maxBytes) throw new MalformedMessage("a head that is too long");
    return length;
  }
}

/**
 * Splits a head into lines, the first of which is its start line.
 *
 * @param bytes The head is between `from` and `to`, including its empty line.
 */
function splitHead(bytes: Uint8Array, from: number, to: number): string[] {
  return latin1(bytes.subarray(from, to - 4)).split("\r\n");
}

/**
 * Parses the header fields of a head.
 *
 * @param lines Its lines; the first one is skipped.
 * @throws {MalformedMessage}
 */
function parseFields(lines: readonly string[]): Fields {
  if (lines.length > maxLines) throw new MalformedMessage("too many header fields");
  const fields = new Map<string, string>();
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index]!;
    const colon = line.indexOf(":");
    const name = toFieldName(line.slice(0, Math.max(0, colon)));
    if (control.test(line)) throw new MalformedMessage("a control character in a header field");
    const value = trimBlanks(line, colon + 1);
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return fields;
}

/** Maximum number of remembered field names. */
const maxKeys = 256;
const keys = new Map<string, string>();

/** Returns a field name in lower case. Names recur, so that few have to be validated. */
function toFieldName(name: string): string {
  const existing = keys.get(name);
  if (existing !== undefined) return existing;
  if (!fieldName.test(name)) throw new MalformedMessage("an invalid header field"); // also obs-fold
  const key = name.toLowerCase();
  if (keys.size < maxKeys && name.length <= 64) keys.set(detached(name), detached(key));
  return key;
}

/** Copies a text: a part of a text keeps all of it in memory. */
function detached(text: string): string {
  return text.split("").join("");
}

/**
 * Trims HTTP's optional whitespace (OWS) only.
 *
 * @param from Index at which the text starts.
 */
export function trimBlanks(line: string, from: number = 0): string {
  let start = from;
  let end = line.length;
  while (start < end && isWhiteSpace(line.charCodeAt(start))) start++;
  while (end > start && isWhiteSpace(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

function isWhiteSpace(code: number): boolean {
  return code === 32 || code === 9;
}

const decoder = new TextDecoder();

/** Decodes ISO-8859-1. */
function latin1(bytes: Uint8Array): string {
  const ascii = decoder.decode(bytes); // the fastest way for what is nearly always ASCII
  return plain.test(ascii) ? ascii : inParts(bytes);
}

/** Engines limit the number of arguments of a call. */
function inParts(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4096) {
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + 4096) as unknown as number[]);
  }
  return text;
}

/** First byte of the alert by which a TLS server answers plain HTTP. */
const tlsAlert = 0x15;

const protocol = [..."HTTP/1."].map((char) => char.charCodeAt(0));
const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;

/** The head of a response. */
export interface ResponseHead {
  /** From 100 to 999. */
  readonly status: number;
  /** Minor version of HTTP/1. */
  readonly minor: 0 | 1;
  readonly fields: Fields;
}

/** Rules for the heads of responses. */
export const responseRules: HeadRules = {
  maxBytes: 64 * 1024,
  checkStart(bytes, from, to) {
    if (bytes[from] === tlsAlert) throw new NetworkError(needsTls, { neverSent: true });
    const overlap = Math.min(to - from, protocol.length);
    for (let index = 0; index < overlap; index++) {
      if (bytes[from + index] !== protocol[index]) throw new MalformedMessage("no HTTP/1");
    }
  },
};

/**
 * Parses the head of a response.
 *
 * @param bytes The head is between `from` and `to`, including its empty line.
 * @throws {MalformedMessage}
 */
export function parseResponseHead(bytes: Uint8Array, from: number, to: number): ResponseHead {
  const lines = splitHead(bytes, from, to);
  const [, minor, status] = statusLine.exec(lines[0]!) ?? [];
  if (status === undefined) throw new MalformedMessage("an invalid status line");
  return { status: Number(status), minor: minor === "1" ? 1 : 0, fields: parseFields(lines) };
}
