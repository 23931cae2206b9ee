/**
 * Calls of observers that a program plugged in, which may fail in any way.
 * @module
 */

/**
 * Calls an observer without waiting for it. Errors that it throws, now or later, are caught.
 *
 * @param notify Calls the observer.
 * @param onFailure Called once when it failed.
 */
export function notifySafely(notify: () => unknown, onFailure: () => void = () => {}): void {
  try {
    const pending = notify();
    if (pending instanceof Promise) pending.catch(onFailure);
  } catch {
    onFailure();
  }
}
