/**
 * The routing constraints of a client's call.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { RoutingConstraints } from "../pipeline/routing_constraints.ts";
import type { CallSettings } from "./options.ts";

/**
 * Reads routing constraints from the `x-mesh-route` header, the call's `route` and the request's `mesh`, in ascending
 * precedence.
 *
 * @param request A validated request.
 * @param settings Settings of the call.
 * @throws {UnsupportedRequestError} When the constraints are malformed.
 */
export async function collectRoutingConstraints(
  request: RequestBody,
  { headers, route }: CallSettings,
): Promise<RoutingConstraints | undefined> {
  const header = new Headers(headers).get("x-mesh-route");
  const { mesh } = request;
  if (header === null && route === undefined && mesh === undefined) return undefined;
  const { readRoutingConstraints } = await import("../pipeline/routing_constraints.ts"); // few calls have any
  return readRoutingConstraints(
    header,
    route === undefined ? request : { ...request, mesh: { ...route, ...mesh as object | undefined } },
  );
}
