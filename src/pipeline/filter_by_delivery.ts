/**
 * Step 3: the models of a pool that can do what is asked, the way it is asked.
 * @module
 */
import type { Operation } from "../capability/operations.ts";
import type { CapabilityPath, Delivery } from "../contracts/provider.ts";
import { UnsupportedRequestError } from "../errors.ts";
import type { Member, ModelEntry, Pool, ProviderInstance } from "../registry/registry.ts";

/** What is asked for, and how. */
export interface Asked {
  /** All providers, for what they may have to do with a pool that is empty. */
  readonly instances?: readonly ProviderInstance[];
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
export function filterByDelivery(
  pool: Pool,
  { instances = [], operation, delivery, serves }: Asked,
): readonly Member[] {
  const key = `${operation}:${delivery}` as const;
  let capable = pool.capable.get(key);
  if (capable === undefined) {
    capable = pool.members.filter(({ model }) =>
      model.delivers(delivery) && model.leaves.some((leaf) => serves(leaf) && isSupported(model, leaf, delivery))
    );
    pool.capable.set(key, capable);
  }
  if (capable.length > 0) return capable;
  const message = pool.members.length === 0
    ? `No model is in the pool "${pool.name}"${whyEmpty(instances)}`
    : `No model of the pool "${pool.name}" does ${operation} with ${delivery} delivery`;
  throw new UnsupportedRequestError(message + otherwise(pool, { operation, serves }), {
    code: "unsupported_by_pool",
    param: "model",
  });
}

/** What its provider says. A leaf that the configuration alone gives the model is not for the provider to judge. */
function isSupported({ info, instance }: ModelEntry, leaf: CapabilityPath, delivery: Delivery): boolean {
  const answers = instance.answers?.get(info.id);
  if (answers === undefined || answers.leaves?.includes(leaf) === false) return true;
  try {
    return instance.provider!.supports(info.id, leaf, delivery) !== false;
  } catch {
    return true;
  }
}

/** Providers that did not list their models may be why there is none. */
function whyEmpty(instances: readonly ProviderInstance[]): string {
  const problems = instances.flatMap(({ entry, listProblem }) => {
    return listProblem === undefined ? [] : `the provider "${entry.id}" ${listProblem}`;
  });
  return problems.length === 0 ? "" : `: ${problems.join("; ")}`;
}

/** What a caller can do whose pool is for something else altogether. */
function otherwise(
  { members, capability }: Pool,
  { operation, serves }: Pick<Asked, "operation" | "serves">,
): string {
  const leaves = members.length === 0 ? [capability ?? []].flat() : members.flatMap(({ model }) => model.leaves);
  if (leaves.length === 0 || leaves.some(serves)) return "";
  return `. Ask for a pool or capability that serves ${operation}${
    operation === "chat" ? ', such as "chat-completion"' : ""
  }`;
}
