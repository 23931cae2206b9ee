/**
 * How a program's call narrows its own routing.
 * @module
 */
import type { ChatCompletionRequest } from "../contracts/openai.ts";
import { readRoutingConstraints, type RoutingConstraints } from "../pipeline/routing_constraints.ts";
import type { CallSettings } from "./options.ts";

/**
 * Reads it from the header, the call's `route` and the request's own `mesh`, which wins.
 *
 * @param request As it was checked.
 * @param settings Of the call.
 * @throws {UnsupportedRequestError} For what are no routing constraints.
 */
export function routingConstraintsOf(
  request: ChatCompletionRequest,
  { headers, route }: CallSettings,
): RoutingConstraints | undefined {
  const written = route === undefined
    ? request
    : { ...request, mesh: { ...route, ...request.mesh as object | undefined } };
  return readRoutingConstraints(new Headers(headers).get("x-mesh-route"), written);
}
