/**
 * Waiting for work that may not heed its signal.
 * @module
 */

/**
 * Settles as the work does, or rejects with the signal's reason as soon as it aborts. What the work comes to after that
 * is ignored.
 *
 * @param work Under way.
 * @param signal Ends the wait.
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
