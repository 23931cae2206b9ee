/**
 * The whole promise of the product: from a virtual name to an answer.
 * @module
 */
import { filterByDelivery } from "./filter_by_delivery.ts";
import { filterByFeatures } from "./filter_by_features.ts";
import type { Eligibility, EligibilityContext } from "./eligibility.ts";
import type { Member } from "../registry/registry.ts";
import type { Routed, RouteDeps, RoutedRequest, Task } from "./request.ts";
import { Routing } from "./routing.ts";
import { poolFor } from "./select_pool.ts";

/**
 * Routes one request, in the spec's order.
 *
 * @param request What is asked.
 * @param task Which models do it, and how one of them is asked.
 * @param deps What the pipeline works with.
 * @throws A `MeshError`, or the client's abort.
 */
export function route<T>(request: RoutedRequest, task: Task<T>, deps: RouteDeps): Promise<Routed<T>> {
  const pool = poolFor(request.model, request, deps.registry); // 1 capability resolution, 2 pool selection
  const able = filterByDelivery(pool, {
    instances: deps.registry.instances,
    operation: request.operation,
    delivery: request.delivery,
    serves: task.serves,
  }); // 3 delivery-mode filter
  const found = (deps.eligibility ?? shortEligibility)(able, { request, pool, registry: deps.registry });
  return new Routing({ request, pool, ...found, call: task.call }, deps).run(); // 4 state, 5 strategy, 6 retry and rotation
}

/** Where nothing counts and no request narrows its own routing. */
function shortEligibility(able: readonly Member[], { request: { body } }: EligibilityContext): Eligibility {
  return { eligible: filterByFeatures(able, body), load: { input: 0, output: 0 } };
}
