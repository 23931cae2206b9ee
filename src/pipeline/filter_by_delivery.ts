/**
 * Step 3: the models of a pool that can do what is asked, the way it is asked.
 * @module
 */
import { deliveryModes } from "../capability/delivery.ts";
import { type Operation, servesOperation } from "../capability/operations.ts";
import type { Delivery } from "../contracts/provider.ts";
import { UnsupportedRequestError } from "../errors.ts";
import type { Member, ModelEntry, Pool } from "../registry/registry.ts";

/**
 * Keeps the members with a leaf of the operation that is delivered that way. Worked out once per pool.
 *
 * @param pool The pool.
 * @param operation What is asked for.
 * @param delivery How.
 * @throws {UnsupportedRequestError} When no member is left.
 */
export function filterByDelivery(pool: Pool, operation: Operation, delivery: Delivery): readonly Member[] {
  const key = `${operation}:${delivery}` as const;
  let capable = pool.capable.get(key);
  if (capable === undefined) {
    capable = pool.members.filter(({ model }) => serves(model, operation, delivery));
    pool.capable.set(key, capable);
  }
  if (capable.length > 0) return capable;
  throw new UnsupportedRequestError(
    pool.members.length === 0
      ? `No model is in the pool "${pool.name}"`
      : `No model of the pool "${pool.name}" does ${operation} with ${delivery} delivery`,
    { code: "unsupported_by_pool", param: "model" },
  );
}

function serves(model: ModelEntry, operation: Operation, delivery: Delivery): boolean {
  return model.delivers(delivery) &&
    model.leaves.some((leaf) => servesOperation(leaf, operation) && deliveryModes(leaf).includes(delivery));
}
