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
    if (pending instanceof Promise) pending.catch(onFailure);
  } catch {
    onFailure();
  }
}
