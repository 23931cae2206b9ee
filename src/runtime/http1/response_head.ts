/**
 * Parser for the head of a response (RFC 9112, section 4).
 * @module
 */
import { NetworkError } from "../../errors.ts";
import { needsTls } from "../../util/needs_tls.ts";
import { type Fields, type HeadRules, parseFields, splitHead } from "./head.ts";
import { MalformedMessage } from "./malformed.ts";

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
    const known = Math.min(to - from, protocol.length);
    for (let index = 0; index < known; index++) {
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
