/**
 * Detects a provider outage: consecutive calls without any response.
 * @module
 */

/** Number of consecutive calls without a response that make an outage. */
const silentCalls = 5;

/** Counts consecutive calls without a response of one provider. */
export class OutageDetector {
  readonly #models = new Set<string>();
  readonly #silent = new Set<string>();
  #row = 0;

  /** Registers a model of the provider. */
  addModel(model: string): void {
    this.#models.add(model);
  }

  /** Records a response, including an error response. */
  recordResponse(): void {
    this.#row = 0;
    this.#silent.clear();
  }

  /** Records a call without a response. */
  recordSilence(model: string): void {
    this.#row++;
    this.#silent.add(model);
  }

  /**
   * Whether there is an outage: at least 5 consecutive calls without a response, to at least two of its models or to
   * its only one.
   */
  get isOutage(): boolean {
    return this.#row >= silentCalls && this.#silent.size >= Math.min(2, this.#models.size);
  }
}
