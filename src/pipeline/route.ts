/**
 * The whole promise of the product: from a virtual name to an answer.
 * @module
 */
import { eligibility, type EligibilityContext, type ModelChoice } from "./eligibility.ts";
import type { RouteDeps } from "./deps.ts";
import type { RoutedRequest } from "./request.ts";
import type { Call, Routed } from "./routed.ts";
import { Routing } from "./routing.ts";
import { poolFor } from "./select_pool.ts";

/**
 * Routes one request, in the spec's order.
 *
 * @param request What is asked.
 * @param call Asks one model.
 * @param deps What the pipeline works with.
 * @throws A `MeshError`, or the client's abort.
 */
export async function route<T>(request: RoutedRequest, call: Call<T>, deps: RouteDeps): Promise<Routed<T>> {
  const { registry } = deps;
  const pool = poolFor(request.model, request, registry); // 1 capability resolution, 2 pool selection
  const choice = request.routingConstraints && await choiceOf({ request, pool, registry });
  const found = eligibility({ request, pool, registry, choice }); // 3 filters by delivery and by request
  return await new Routing({ request, pool, ...found, call }, deps).run(); // 4 state, 5 strategy, 6 retry and rotation
}

/** Most requests have no routing constraints: what applies them is imported with the first. */
async function choiceOf(context: EligibilityContext): Promise<ModelChoice | undefined> {
  const { modelChoice } = await import("./model_choice.ts");
  return modelChoice(context);
}
