/**
 * Work on one record after the other.
 * @module
 */

/** Lets what is done to a record begin when what was asked for before is done, so that the last save wins. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Does work in its turn.
   *
   * @param key The record it is done to.
   * @param work What is done.
   */
  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key);
    const result = before === undefined ? work() : before.then(work, work);
    this.#last.set(key, result);
    const forget = () => {
      if (this.#last.get(key) === result) this.#last.delete(key);
    };
    result.then(forget, forget);
    return result;
  }
}
