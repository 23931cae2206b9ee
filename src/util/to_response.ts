/**
 * Converts a plain response to a Fetch `Response`.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import { isStream, toReadable } from "./bytes.ts";

/**
 * Converts a plain response, including its body, to a `Response`. Headers are added to the response: on Deno (2.9.6), those
 * of its constructor are compared with each other, and kept in an object that has to be finalized.
 *
 * @param encode Encodes the texts of a stream; see {@linkcode toReadable}.
 */
export function toResponse(
  { status, headers, body }: PlainResponse,
  encode?: (text: string) => Uint8Array,
): Response {
  const content = (isStream(body) ? toReadable(body, encode) : body) as BodyInit | null;
  const response = status === 200 ? new Response(content) : new Response(content, { status });
  const list = response.headers;
  for (const name in headers) list.set(name, headers[name]!);
  return response;
}
