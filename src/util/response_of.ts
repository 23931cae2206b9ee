/**
 * From a plain response to one of the Fetch standard.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import { isStream, readableOf } from "./plain_stream.ts";

/** Converts to a `Response`, body included. */
export function responseOf({ status, headers, body }: PlainResponse): Response {
  return new Response((isStream(body) ? readableOf(body) : body) as BodyInit | null, { status, headers });
}
