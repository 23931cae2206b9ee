/**
 * Calls observers of the program, which may fail.
 * @module
 */

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

/** A promise of the program may come from another realm or library. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === "function";
}
