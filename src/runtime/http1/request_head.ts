/**
 * Parser for the head of a request (RFC 9112, section 3).
 * @module
 */
import { type Fields, type HeadRules, parseFields, splitHead } from "./head.ts";
import { MalformedMessage } from "./malformed.ts";

const requestLine = /^([!#$%&'*+\-.^_`|~\dA-Za-z]+) ([\x21-\x7e]+) HTTP\/(\d)\.(\d)$/;
/** A request line of HTTP/0.9. */
const simpleLine = /^[A-Z]+ \/[\x21-\x7e]*$/;
/** The forms of a target: a path, a URL with a host and without credentials, or `*`. */
const target = /^(?:\/|https?:\/\/[\w.~!$&'()*+,;=:%[\]-]+(?:[/?]|$)|\*$)/i;

/** The head of a request. */
export interface RequestHead {
  readonly method: string;
  /** The target: path and query, or an absolute URL. */
  readonly target: string;
  /** Minor version of HTTP/1. */
  readonly minor: 0 | 1;
  readonly fields: Fields;
}

/** Rules for the heads of requests. */
export const requestRules: HeadRules = {
  maxBytes: 16 * 1024,
  tooLarge: 431,
  checkStart(bytes, from) {
    // a client of another protocol, such as TLS, would otherwise wait for the time limit
    const first = bytes[from]!;
    if (first <= 32 || first >= 127) throw new MalformedMessage("no request line");
  },
};

/**
 * Parses the head of a request.
 *
 * @param bytes The head is between `from` and `to`, including its empty line.
 * @throws {MalformedMessage} With status 505 for another version of HTTP.
 */
export function parseRequestHead(bytes: Uint8Array, from: number, to: number): RequestHead {
  const lines = splitHead(bytes, from, to);
  const line = lines[0]!;
  const [, method, path, major, minor] = requestLine.exec(line) ?? [];
  if (method === undefined) throw new MalformedMessage("an invalid request line", simpleLine.test(line) ? 505 : 400);
  if (major === "0" || major === "2") throw new MalformedMessage("another version of HTTP", 505);
  if (major !== "1" || minor! > "1") throw new MalformedMessage("an unknown version of HTTP");
  if (method !== "CONNECT" && !target.test(path!)) throw new MalformedMessage("an invalid target");
  const fields = parseFields(lines);
  if (minor === "1" && !fields.has("host")) throw new MalformedMessage("no host");
  return { method, target: path!, minor: minor === "1" ? 1 : 0, fields };
}
