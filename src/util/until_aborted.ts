/**
 * Aborts or times out the wait for work that may ignore its signal.
 * @module
 */
import type { Clock, StopSignal } from "../contracts/runtime.ts";
import { DeadlineError } from "../errors.ts";

/**
 * Settles as the work does, or rejects with the signal's reason when it aborts. A later outcome of the work is ignored.
 *
 * @param limit Timeout of the wait.
 * @throws {DeadlineError} When the timeout expires.
 */
export function untilAborted<T>(work: Promise<T>, signal?: StopSignal, limit?: {
  readonly clock: Clock;
  /** Timeout, ms. */
  readonly ms: number;
  /** Message of the error. */
  readonly message: string;
}): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = <V>(settle: (value: V) => void) => (value: V) => {
      cancel?.();
      signal?.removeEventListener("abort", stop);
      settle(value);
    };
    const stop = () => end(reject)(signal!.reason);
    const cancel = limit?.clock.after(limit.ms, () => end(reject)(new DeadlineError(limit.message)));
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    work.then(end(resolve), end(reject));
  });
}
