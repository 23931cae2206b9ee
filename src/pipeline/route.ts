/**
 * The whole promise of the product: from a virtual name to an answer.
 * @module
 */
import { filterByDelivery } from "./filter_by_delivery.ts";
import { filterByFeatures } from "./filter_by_features.ts";
import type { Routed, RouteDeps, RoutedRequest, Task } from "./request.ts";
import { resolveCapability } from "./resolve_capability.ts";
import { rotate } from "./rotate.ts";
import { selectPool } from "./select_pool.ts";

/**
 * Routes one request, in the spec's order.
 *
 * @param request What is asked.
 * @param task Which models do it, and how one of them is asked.
 * @param deps What the pipeline works with.
 * @throws A `MeshError`, or the client's abort.
 */
export async function route<T>(request: RoutedRequest, task: Task<T>, deps: RouteDeps): Promise<Routed<T>> {
  const target = resolveCapability(request.model, deps.registry); // 1 capability resolution
  const pool = selectPool(target, deps.registry); // 2 pool selection
  const able = filterByDelivery(pool, {
    operation: request.operation,
    delivery: request.delivery,
    serves: task.serves,
  }); // 3 delivery-mode filter
  const capable = filterByFeatures(able, request.body);
  return await rotate({ request, pool, capable, call: task.call }, deps); // 4 state, 5 strategy, 6 retry and rotation
}
