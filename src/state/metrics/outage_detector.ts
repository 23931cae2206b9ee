/**
 * Detects a provider outage: consecutive calls without any response.
 * @module
 */

/** Number of consecutive unanswered calls that make an outage. */
const unansweredCalls = 5;

/** Counts consecutive unanswered calls of one provider. */
export class OutageDetector {
  readonly #known = new Set<string>();
  readonly #silent = new Set<string>();
  #row = 0;

  /** Registers a model of the provider. */
  addModel(model: string): void {
    this.#known.add(model);
  }

  /** Records a response, including an error response. */
  answered(): void {
    this.#row = 0;
    this.#silent.clear();
  }

  /** Records a call without a response. */
  unanswered(model: string): void {
    this.#row++;
    this.#silent.add(model);
  }

  /**
   * Whether there is an outage: at least 5 consecutive unanswered calls, to at least two of its models or to its only
   * one.
   */
  get isOutage(): boolean {
    return this.#row >= unansweredCalls && this.#silent.size >= Math.min(2, this.#known.size);
  }
}
