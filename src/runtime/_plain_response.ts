/**
 * Converts responses of the Fetch standard for servers that send plain ones.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import { toPlainStream } from "../util/bytes.ts";

/** Converts a response. Bodies other than event streams are read completely. */
export async function toPlainResponse(response: Response): Promise<PlainResponse> {
  const { status, body } = response;
  const headers: Record<string, string> = Object.fromEntries(response.headers);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 1) Object.assign(headers, { "set-cookie": cookies }); // the form that servers accept
  const isEvents = headers["content-type"] === "text/event-stream";
  if (isEvents || body === null) return { status, headers, body: body && toPlainStream(body) };
  return { status, headers, body: new Uint8Array(await response.arrayBuffer()) };
}
