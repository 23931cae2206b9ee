/**
 * How long a model's answers are, for requests that do not limit it themselves.
 * @module
 */

/** Tokens written by an answer of models that have given none yet, for a request that sets no limit. */
export const firstGuess = 1_000;

/** Answers that are remembered. */
const responsesKept = 128;
/** The answers above the 95th percentile at most (6 of 128), and the one at it. */
const largestKept = 7;

/** The tokens of a model's last 128 answers. */
export class OutputTokens {
  readonly #sizes = new Float64Array(responsesKept);
  #count = 0;
  #percentile: number | undefined;

  /**
   * Counts an answer.
   *
   * @param tokens Tokens written; what makes no sense counts for nothing.
   */
  add(tokens: number): void {
    if (!(tokens >= 0 && tokens < Infinity)) return;
    this.#sizes[this.#count % responsesKept] = tokens;
    this.#count++;
    this.#percentile = undefined;
  }

  /**
   * The 95th percentile by nearest rank: no more than one answer in twenty was longer. Undefined before the first.
   *
   * @example
   * ```ts ignore
   * for (let tokens = 1; tokens <= 100; tokens++) sizes.add(tokens);
   * sizes.percentile95(); // 95
   * ```
   */
  percentile95(): number | undefined {
    if (this.#count === 0) return undefined;
    return this.#percentile ??= this.#find();
  }

  /** How many answers are remembered. */
  get count(): number {
    return Math.min(this.#count, responsesKept);
  }

  /** The tokens of the answers that are remembered. */
  total(): number {
    let total = 0;
    for (let index = 0; index < this.count; index++) total += this.#sizes[index]!;
    return total;
  }

  /** The n-th largest of few, by a scan that keeps the largest ones in order. */
  #find(): number {
    const { count } = this;
    const rank = count - Math.ceil(count * 0.95);
    const largest = new Float64Array(largestKept).fill(-1);
    for (let index = 0; index < count; index++) {
      const size = this.#sizes[index]!;
      let place = rank;
      if (size <= largest[place]!) continue;
      for (; place > 0 && largest[place - 1]! < size; place--) largest[place] = largest[place - 1]!;
      largest[place] = size;
    }
    return largest[rank]!;
  }
}
