/**
 * Calls synchronous functions of programs.
 * @module
 */

/**
 * Calls a function of the program whose result is needed at once. A promise is no result: its rejection is handled here,
 * since nothing else waits for it.
 *
 * @throws {TypeError} When it returns a promise. Also rethrows what it throws.
 */
export function callNow<Result>(call: () => Result): Result {
  const result = call();
  if (!isThenable(result)) return result;
  Promise.resolve(result).catch(() => {});
  throw new TypeError("The function returned a promise, and its result is needed at once");
}

/** Whether a value is a promise; it may come from another realm or library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === "function";
}

/**
 * Calls an observer without waiting for it. Catches its errors, including rejected promises.
 *
 * @param notify Calls the observer.
 * @param onFailure Called once when the observer has failed.
 */
export function notifySafely(notify: () => unknown, onFailure: () => void = () => {}): void {
  try {
    const pending = notify();
    if (isThenable(pending)) Promise.resolve(pending).catch(onFailure);
  } catch {
    onFailure();
  }
}
