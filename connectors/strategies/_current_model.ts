/**
 * The current model of a sticky strategy.
 * @module
 */
import type { ModelView, SelectionContext, SelectionOutcome } from "../../src/contracts/rotation.ts";
import { abovePriority, belowPriority } from "./_priority.ts";

/** One model for all requests, until it fails to serve one. */
export class CurrentModel {
  #name: string | undefined;
  /** Whether the model failed to serve a request, and no other model has answered since. */
  #hasFailed = false;

  /** Name of the current model. */
  get name(): string | undefined {
    return this.#name;
  }

  /** The current model, if it is a candidate and has not failed. */
  among(candidates: readonly ModelView[]): ModelView | undefined {
    if (this.#hasFailed) return undefined;
    for (const candidate of candidates) if (candidate.name === this.#name) return candidate;
    return undefined;
  }

  /** The candidates without a current model that has failed; all of them if there is no other. */
  others(candidates: readonly ModelView[]): readonly ModelView[] {
    if (!this.#hasFailed || candidates.length < 2) return candidates;
    return candidates.filter(({ name }) => name !== this.#name);
  }

  /** Makes a model the current one. A choice for a request with routing constraints changes nothing. */
  take(chosen: ModelView | undefined, { isConstrained, tried }: SelectionContext): void {
    if (chosen === undefined || isConstrained || tried.size > 0) return;
    this.#name = chosen.name;
    this.#hasFailed = false;
  }

  /** Rank of the current model: above every priority, or below if it has failed; undefined for others. */
  rank({ name }: ModelView): number | undefined {
    if (name !== this.#name) return undefined;
    return this.#hasFailed ? belowPriority : abovePriority;
  }

  /** Replaces the model that failed to serve a request by the one that did. */
  observe({ failed, served }: SelectionOutcome): void {
    if (this.#name === undefined || !failed.has(this.#name)) return;
    this.#hasFailed = served === undefined;
    if (served !== undefined) this.#name = served.name;
  }
}
