/**
 * Stick until failure: one model serves all requests until it fails.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { ModelView, SelectionContext, SelectionOutcome, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { CurrentModel } from "./_current_model.ts";
import { preferred, priority } from "./_priority.ts";

/**
 * Stays with a model while it is a candidate and serves requests, otherwise switches to the best by priority. The first
 * request that the model fails to serve switches all: to the model that answered instead, or until one has, to the best
 * of the others. It does not return to a half-open model for its priority; that model is considered when the current
 * one fails, and then by priority like any other.
 */
export const stickUntilFailure: Connector<"strategy"> = {
  id: "mesh.stick-until-failure.v1",
  kind: "strategy",
  create: () => new StickUntilFailure(),
};

class StickUntilFailure implements SelectionStrategy {
  readonly #current = new CurrentModel();

  get current(): string | undefined {
    return this.#current.name;
  }

  select(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined {
    const current = this.#current.among(candidates);
    if (current !== undefined) return current;
    const chosen = preferred(this.#current.others(candidates), context);
    this.#current.take(chosen, context);
    return chosen;
  }

  score(candidate: ModelView, context: SelectionContext): number {
    return this.#current.rank(candidate) ?? priority(candidate, context);
  }

  observe(outcome: SelectionOutcome): void {
    this.#current.observe(outcome);
  }
}
