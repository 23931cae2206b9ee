/**
 * Times out the wait for work that cannot be aborted.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import { afterRunning } from "./retry_timer.ts";

/**
 * Settles as the work does, or rejects when the timeout expires. A later outcome of the work is ignored. The process
 * stays alive until then, since hanging work may not keep it alive.
 *
 * @param start Starts the work; it may throw.
 */
export function waitWithin<T>(start: () => Promise<T>, { clock, ms, expired }: {
  readonly clock: Pick<Clock, "after">;
  /** Timeout, ms. */
  readonly ms: number;
  /** Creates the error of an expired wait. */
  readonly expired: () => Error;
}): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = afterRunning(clock, { ms, keepsAlive: true }, () => reject(expired()));
    const work = (async () => await start())();
    work.finally(cancel).then(resolve, reject);
  });
}

/** Waits for work that does not fail, until the timeout at the latest. */
export async function waitAtMost(
  start: () => Promise<unknown>,
  { clock, ms }: { readonly clock: Pick<Clock, "after">; readonly ms: number },
): Promise<void> {
  let isLate = false;
  const expired = () => {
    isLate = true;
    return new Error("The wait has expired");
  };
  await waitWithin(start, { clock, ms: Math.max(0, ms), expired }).catch((error) => {
    if (!isLate) throw error;
  });
}
