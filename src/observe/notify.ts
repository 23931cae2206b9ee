/**
 * Telling what a program plugged in, which may fail in any way.
 * @module
 */

/**
 * Calls an observer. It is not waited for, and whatever it throws, now or later, costs nobody anything.
 *
 * @param tell Calls it.
 * @param onFailure Told that it failed.
 */
export function notifySafely(tell: () => unknown, onFailure: () => void = () => {}): void {
  try {
    const told = tell();
    if (told instanceof Promise) told.catch(onFailure);
  } catch {
    onFailure();
  }
}
