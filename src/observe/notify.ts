/**
 * Calls observers of the program, which may fail.
 * @module
 */
import { isThenable } from "../util/call_now.ts";

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
