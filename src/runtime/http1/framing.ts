/**
 * Determines the end of a body (RFC 9112, section 6.3), and whether its connection is persistent.
 * @module
 */
import { MalformedMessage } from "./malformed.ts";
import { type Fields, type ResponseHead, trimBlanks } from "./response_head.ts";

/** How the end of a body is determined. */
export type Framing =
  | { readonly kind: "length"; readonly length: number }
  | { readonly kind: "chunked" }
  | { readonly kind: "close" };

const none: Framing = { kind: "length", length: 0 };
const chunked: Framing = { kind: "chunked" };
const untilClose: Framing = { kind: "close" };

/**
 * Returns the framing of a response body.
 *
 * @param method Method of the request.
 * @throws {MalformedMessage} When the fields contradict each other or the status: client and server could disagree on
 * where the next response starts.
 */
export function responseFraming({ status, minor, fields }: ResponseHead, method: string): Framing {
  const coding = fields.get("transfer-encoding");
  const lengths = fields.get("content-length");
  if (coding !== undefined && lengths !== undefined) throw new MalformedMessage("a length beside a transfer coding");
  const length = lengths === undefined ? undefined : parseLength(lengths);
  if (status < 200 && minor === 0) throw new MalformedMessage("an interim response in HTTP/1.0");
  if (status < 200 || status === 204) {
    if (coding !== undefined || (length ?? 0) > 0) throw new MalformedMessage("a body where none may be");
    return none;
  }
  if (coding !== undefined && (minor === 0 || coding.toLowerCase() !== "chunked")) {
    throw new MalformedMessage("an unknown transfer coding");
  }
  if (status === 304 || method === "HEAD") return none;
  if (coding !== undefined) return chunked;
  return length === undefined ? untilClose : { kind: "length", length };
}

/** Accepts a repeated length, also within one field, if all values are equal. */
function parseLength(value: string): number {
  const [first = "", ...others] = value.split(",").map((one) => trimBlanks(one));
  const length = Number(first);
  if (!/^\d+$/.test(first) || length > Number.MAX_SAFE_INTEGER || others.some((other) => other !== first)) {
    throw new MalformedMessage("an invalid length");
  }
  return length;
}

/** Whether the connection is persistent. Keep-alive of HTTP/1.0 is not supported: it is hardly used. */
export function isPersistent({ minor, fields }: { readonly minor: 0 | 1; readonly fields: Fields }): boolean {
  const connection = fields.get("connection");
  return minor === 1 && (connection === undefined || !/(^|[ \t,])close($|[ \t,])/i.test(connection));
}
