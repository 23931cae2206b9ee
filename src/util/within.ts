/**
 * A limit on work that has none of its own.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import { DeadlineError } from "../errors.ts";
import { untilAborted } from "./until_aborted.ts";

/** What ends the wait. */
export interface Limits {
  readonly clock: Clock;
  /** Longest wait, ms; undefined: none. */
  readonly ms: number | undefined;
  /** Ends the wait with its reason. */
  readonly signal?: AbortSignal;
  /** Says what was not there in time. */
  readonly message: string;
}

/**
 * Settles as the work does, unless a limit comes first.
 *
 * @param work Under way.
 * @param limits What ends the wait.
 * @throws {DeadlineError} When time is up; the signal's reason when it aborts.
 */
export async function within<T>(work: Promise<T>, { clock, ms, signal, message }: Limits): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const stop = () => controller.abort(signal!.reason);
  const cancel = ms === undefined ? undefined : clock.after(ms, () => controller.abort(new DeadlineError(message)));
  signal?.addEventListener("abort", stop);
  try {
    return await untilAborted(work, controller.signal);
  } finally {
    cancel?.();
    signal?.removeEventListener("abort", stop);
  }
}
