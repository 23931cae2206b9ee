/**
 * How a program's call narrows its own routing.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { RoutingConstraints } from "../pipeline/routing_constraints.ts";
import type { CallSettings } from "./options.ts";

/**
 * Reads it from the header, the call's `route` and the request's own `mesh`, which wins.
 *
 * @param request As it was checked.
 * @param settings Of the call.
 * @throws {UnsupportedRequestError} For what are no routing constraints.
 */
export async function routingConstraintsOf(
  request: RequestBody,
  { headers, route }: CallSettings,
): Promise<RoutingConstraints | undefined> {
  const header = new Headers(headers).get("x-mesh-route");
  const { mesh } = request;
  if (header === null && route === undefined && mesh === undefined) return undefined;
  const { readRoutingConstraints } = await import("../pipeline/routing_constraints.ts"); // most calls have none
  return readRoutingConstraints(
    header,
    route === undefined ? request : { ...request, mesh: { ...route, ...mesh as object | undefined } },
  );
}
