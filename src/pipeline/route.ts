/**
 * Routing of one request: from a virtual name to a response.
 * @module
 */
import { eligibility, type EligibilityContext, type ModelChoice } from "./eligibility.ts";
import type { Pool } from "../registry/registry.ts";
import type { RouteDeps, RoutedRequest } from "./request.ts";
import type { Call, Received, Result } from "./result.ts";
import { Routing } from "./routing.ts";
import { poolFor } from "./select_pool.ts";

/**
 * Routes one request, in the order of the specification.
 *
 * @param call Calls one model.
 * @param deps Dependencies.
 * @throws A `MeshError`, or the client's abort reason.
 */
export async function route<T extends Received>(
  request: RoutedRequest,
  call: Call<T>,
  deps: RouteDeps,
): Promise<Result<T>> {
  const { registry } = deps;
  // 1 capability resolution, 2 pool selection
  const pool = registry.relist === undefined
    ? poolFor(request.model, request, registry)
    : await onceListed(request, deps);
  const choice = request.routingConstraints && await chooseModels({ request, pool, registry });
  const found = eligibility({ request, pool, registry, choice }); // 3 filters by delivery and by request
  const admission = request.admit?.();
  if (admission !== undefined) await admission;
  return await new Routing({ request, pool, ...found, call }, deps).run(); // 4 state, 5 strategy, 6 retry and rotation
}

/** Usually every provider has listed its models. */
async function onceListed(request: RoutedRequest, deps: RouteDeps): Promise<Pool> {
  const { poolOnceListed } = await import("./pool_once_listed.ts");
  return await poolOnceListed(request, deps);
}

/** Most requests have no routing constraints, so the code for them is imported with the first one that has. */
async function chooseModels(context: EligibilityContext): Promise<ModelChoice | undefined> {
  const { modelChoice } = await import("./model_choice.ts");
  return modelChoice(context);
}
