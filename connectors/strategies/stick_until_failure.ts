/**
 * Stick until failure: one model serves all until it fails.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { ModelView, SelectionContext, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { abovePriority, preferred, priority } from "./_priority.ts";

/**
 * Stays with its model while that is a candidate, else takes the best by priority and stays with it. A request
 * that fails over moves only itself: the model is left by all once it is no longer offered to a request that has
 * not tried it. A model that comes back on trial is not returned to for its priority; it gets its chance when the
 * current one fails, and then by priority, like any other.
 */
export const stickUntilFailure: Connector<"strategy"> = {
  id: "mesh.stick-until-failure.v1",
  kind: "strategy",
  create: () => new StickUntilFailure(),
};

class StickUntilFailure implements SelectionStrategy {
  #current?: string;

  select(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined {
    for (const candidate of candidates) if (candidate.name === this.#current) return candidate;
    const chosen = preferred(candidates, context);
    const isLeavingAlone = this.#current !== undefined && context.tried.has(this.#current);
    if (!isLeavingAlone && !context.narrowed) this.#current = chosen?.name;
    return chosen;
  }

  score(candidate: ModelView, context: SelectionContext): number {
    return candidate.name === this.#current ? abovePriority : priority(candidate, context);
  }
}
