/**
 * Notices that a provider does not answer at all.
 * @module
 */

/** Calls in a row that were never answered. */
const unansweredCalls = 5;

/** One provider's calls, by whether they were answered. */
export class OutageDetector {
  readonly #known = new Set<string>();
  readonly #silent = new Set<string>();
  #row = 0;

  /** It has this model, too. */
  addModel(model: string): void {
    this.#known.add(model);
  }

  /** A provider answered, if only with an error. */
  answered(): void {
    this.#row = 0;
    this.#silent.clear();
  }

  /** A call to a model was never answered. */
  unanswered(model: string): void {
    this.#row++;
    this.#silent.add(model);
  }

  /** Whether that makes an outage: 5 calls in a row, over at least two of its models, or its only one. */
  get isOutage(): boolean {
    return this.#row >= unansweredCalls && this.#silent.size >= Math.min(2, this.#known.size);
  }
}
