/**
 * Output lengths of a model, to estimate the output of requests without a limit.
 * @module
 */

/** Estimated output tokens of a model without responses so far. */
export const firstGuess = 1_000;

/** Number of responses kept. */
const maxResponses = 128;
/** Number of responses at and above the 95th percentile: 6 of 128 above, and one at it. */
const maxOutputTokens = 7;

/** Output tokens of a model's last 128 responses. */
export class OutputTokens {
  readonly #sizes = new Float64Array(maxResponses);
  #count = 0;
  #percentile: number | undefined;

  /**
   * Records a response.
   *
   * @param tokens Output tokens; invalid values are ignored.
   */
  add(tokens: number): void {
    if (!(tokens >= 0 && tokens < Infinity)) return;
    this.#sizes[this.#count % maxResponses] = tokens;
    this.#count++;
    this.#percentile = undefined;
  }

  /**
   * Returns the 95th percentile by nearest rank: at most one response in twenty was longer. Undefined before the first.
   *
   * @example
   * ```ts
   * const sizes = new OutputTokens();
   * for (let tokens = 1; tokens <= 100; tokens++) sizes.add(tokens);
   * sizes.percentile95(); // 95
   * ```
   */
  percentile95(): number | undefined {
    if (this.#count === 0) return undefined;
    return this.#percentile ??= this.#find();
  }

  /** Number of responses kept. */
  get count(): number {
    return Math.min(this.#count, maxResponses);
  }

  /** Sum of the output tokens of the responses kept. */
  total(): number {
    let total = 0;
    for (let index = 0; index < this.count; index++) total += this.#sizes[index]!;
    return total;
  }

  /** Finds the percentile with a scan that keeps the largest values in order. */
  #find(): number {
    const { count } = this;
    const rank = count - Math.ceil(count * 0.95);
    const largest = new Float64Array(maxOutputTokens).fill(-1);
    for (let index = 0; index < count; index++) {
      const size = this.#sizes[index]!;
      let slot = rank;
      if (size <= largest[slot]!) continue;
      for (; slot > 0 && largest[slot - 1]! < size; slot--) largest[slot] = largest[slot - 1]!;
      largest[slot] = size;
    }
    return largest[rank]!;
  }
}
