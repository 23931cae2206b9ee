/**
 * A timer for responses that may have arrived while the process could not run.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";

/** Number of steps. */
const steps = 10;

/** Options of a running timer. */
interface RunningTimerOptions {
  /** The delay, ms. */
  readonly ms: number;
  /** Whether the timer keeps the process alive. @default false */
  readonly keepsAlive?: boolean;
}

/**
 * Calls a task after a delay during which the process was able to run. The delay passes in steps, and the time for which
 * a process was suspended or blocked counts as one step. So what was received meanwhile is processed before the timeout.
 */
export function afterRunning(
  clock: Pick<Clock, "after">,
  { ms, keepsAlive = false }: RunningTimerOptions,
  task: () => void,
): Cancel {
  let passed = 0;
  let cancel: Cancel = () => {};
  const step = () => {
    if (passed++ === steps) return task();
    cancel = clock.after(ms / steps, step, keepsAlive);
  };
  step();
  return () => cancel();
}
