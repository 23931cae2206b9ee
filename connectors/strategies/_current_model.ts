/**
 * The model that a strategy stays with.
 * @module
 */
import type { ModelView, SelectionContext, SelectionOutcome } from "../../src/contracts/rotation.ts";
import { abovePriority, belowPriority } from "./_priority.ts";

/** One model for all requests, until one of them is not served by it. */
export class CurrentModel {
  #name: string | undefined;
  /** A request was not served by it, and none has been answered by another model since. */
  #hasFailed = false;

  /** Its name. */
  get name(): string | undefined {
    return this.#name;
  }

  /** The current model, where it is a candidate and has not failed. */
  among(candidates: readonly ModelView[]): ModelView | undefined {
    if (this.#hasFailed) return undefined;
    for (const candidate of candidates) if (candidate.name === this.#name) return candidate;
    return undefined;
  }

  /** The candidates but for a current model that has failed; that alone when there is no other. */
  others(candidates: readonly ModelView[]): readonly ModelView[] {
    if (!this.#hasFailed || candidates.length < 2) return candidates;
    return candidates.filter(({ name }) => name !== this.#name);
  }

  /** Stays with a model from now on; what was chosen for one request alone changes nothing. */
  take(chosen: ModelView | undefined, { isConstrained, tried }: SelectionContext): void {
    if (chosen === undefined || isConstrained || tried.size > 0) return;
    this.#name = chosen.name;
    this.#hasFailed = false;
  }

  /** Above every priority for the current model, below for one that has failed; undefined for all others. */
  rank({ name }: ModelView): number | undefined {
    if (name !== this.#name) return undefined;
    return this.#hasFailed ? belowPriority : abovePriority;
  }

  /** Leaves the model that did not serve a request, for the one that did. */
  observe({ failed, served }: SelectionOutcome): void {
    if (this.#name === undefined || !failed.has(this.#name)) return;
    this.#hasFailed = served === undefined;
    if (served !== undefined) this.#name = served.name;
  }
}
