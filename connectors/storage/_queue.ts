/**
 * Serializes operations per record.
 * @module
 */

/** Serializes the operations on a record in the order of the calls, so that the last save takes effect. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Runs an operation after all earlier ones on the same record.
   *
   * @param key Key of the record.
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
