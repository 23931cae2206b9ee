/**
 * Errors of what a test starts and does not wait for.
 * @module
 */

/** Throws an error outside of any test, which fails the run: the handler of a promise that nothing waits for. */
export function raise(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
