/**
 * Converts a plain response to a Fetch `Response`.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import { isStream, readableOf } from "./plain_stream.ts";

/** Converts a plain response, including its body, to a `Response`. */
export function responseOf({ status, headers, body }: PlainResponse): Response {
  return new Response((isStream(body) ? readableOf(body) : body) as BodyInit | null, { status, headers });
}
