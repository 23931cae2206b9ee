/**
 * Step 3: the models of a pool that can do what is asked, the way it is asked.
 * @module
 */
import type { Operation } from "../capability/operations.ts";
import type { CapabilityPath, Delivery } from "../contracts/provider.ts";
import { UnsupportedRequestError } from "../errors.ts";
import type { Member, Pool } from "../registry/registry.ts";

/** What is asked for, and how. */
export interface Asked {
  readonly operation: Operation;
  readonly delivery: Delivery;
  /** Whether a leaf's models do that, delivered that way. */
  readonly serves: (leaf: CapabilityPath) => boolean;
}

/**
 * Keeps the members with a leaf of the operation that is delivered that way. Worked out once per pool.
 *
 * @param pool The pool.
 * @param asked What is asked for, and how.
 * @throws {UnsupportedRequestError} When no member is left.
 */
export function filterByDelivery(pool: Pool, { operation, delivery, serves }: Asked): readonly Member[] {
  const key = `${operation}:${delivery}` as const;
  let capable = pool.capable.get(key);
  if (capable === undefined) {
    capable = pool.members.filter(({ model }) => model.delivers(delivery) && model.leaves.some(serves));
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
