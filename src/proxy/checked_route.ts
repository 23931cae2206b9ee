/**
 * Checks of a route that depend on method and sender.
 * @module
 */
import type { PlainRequest, PlainResponse } from "../contracts/shell.ts";
import { isStream } from "../util/plain_stream.ts";
import { HttpError } from "./error_body.ts";
import type { RouteEntry } from "./exchange.ts";

/**
 * The route of a request.
 *
 * @param entry The route of its path.
 * @param request For the error.
 * @throws {HttpError} 405 for an unsupported method.
 */
export function checkedRoute(entry: RouteEntry, request: PlainRequest): RouteEntry {
  const method = request.method === "HEAD" ? "GET" : request.method;
  if (entry.methods.includes(method)) return entry;
  const allow = entry.methods.join(", ");
  throw new HttpError(`The method ${request.method} is not allowed here: use ${allow}`, {
    status: 405,
    code: "method_not_allowed",
    headers: { allow },
  });
}

/** The error for a target that a reverse proxy may understand differently. */
export function invalidUrl(): HttpError {
  const message = 'A URL must not have a backslash, "#", a control character or dot segments in it, encoded or not';
  return new HttpError(message, { status: 400, code: "invalid_url" });
}

export function notAdministrator(): HttpError {
  const message = "This path is for administrators: see proxy.auth.admin_tokens";
  return new HttpError(message, { status: 403, code: "not_an_administrator" });
}

/** The response to HEAD: the headers of GET, including its length if known. */
export function withoutBody({ body, ...response }: PlainResponse): PlainResponse {
  if (body === null) return { ...response, body };
  if (isStream(body)) {
    body.cancel();
    return { ...response, body: null };
  }
  const { length } = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return { ...response, headers: { ...response.headers, "content-length": String(length) }, body: null };
}
