/**
 * Converts a plain response to a Fetch `Response`.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import { isStream, toReadable } from "./bytes.ts";

/** Converts a plain response, including its body, to a `Response`. */
export function toResponse({ status, headers, body }: PlainResponse): Response {
  return new Response((isStream(body) ? toReadable(body) : body) as BodyInit | null, { status, headers });
}
