/**
 * How a program's call narrows its own routing.
 * @module
 */
import type { ChatCompletionRequest } from "../contracts/openai.ts";
import { type Narrowing, readNarrowing } from "../pipeline/narrowing.ts";
import type { CallSettings } from "./options.ts";

/**
 * Reads it from the header, the call's `route` and the request's own `mesh`, which wins.
 *
 * @param request As it was checked.
 * @param settings Of the call.
 * @throws {UnsupportedRequestError} For what is no narrowing.
 */
export function narrowingOf(
  request: ChatCompletionRequest,
  { headers, route }: CallSettings,
): Narrowing | undefined {
  const written = route === undefined
    ? request
    : { ...request, mesh: { ...route, ...request.mesh as object | undefined } };
  return readNarrowing(new Headers(headers).get("x-mesh-route"), written);
}
