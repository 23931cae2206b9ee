/**
 * Percentiles of the latency of recent responses.
 * @module
 */

/** Number of responses kept. */
const maxResponses = 256;
/** With fewer responses, percentiles are unknown. */
const minResponses = 20;

/** Latencies of the last 256 responses. */
export class LatencyPercentiles {
  readonly #latencies = new Float64Array(maxResponses);
  #count = 0;
  #sorted: Float64Array | undefined;

  /**
   * Records a response.
   *
   * @param ms Latency, ms.
   */
  add(ms: number): void {
    this.#latencies[this.#count++ % maxResponses] = ms;
    this.#sorted = undefined;
  }

  /**
   * Returns a percentile by nearest rank, ms; undefined with fewer than 20 responses.
   *
   * @param percentile Above 0, up to 100.
   *
   * @example
   * ```ts
   * const latencies = new LatencyPercentiles();
   * for (let ms = 1; ms <= 100; ms++) latencies.add(ms);
   * latencies.find(95); // 95
   * ```
   */
  find(percentile: number): number | undefined {
    const count = Math.min(this.#count, maxResponses);
    if (count < minResponses) return undefined;
    this.#sorted ??= this.#latencies.slice(0, count).sort();
    return this.#sorted[Math.ceil(count * percentile / 100) - 1];
  }
}
