/**
 * An abortable delay.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";

/**
 * The `sleep` of a clock.
 *
 * @param after Calls a task once after a time in ms, unless it is cancelled.
 */
export function sleepOn(after: (ms: number, task: () => void) => Cancel): Clock["sleep"] {
  return (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const cancel = after(ms, () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      });
      const abort = () => {
        cancel();
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", abort, { once: true });
    });
}
