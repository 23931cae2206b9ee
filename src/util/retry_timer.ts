/**
 * Timers of background work: retries with exponential backoff, and delays that a stopped process does not shorten.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";

/** Number of steps. */
const steps = 10;

/**
 * Calls a task after a delay during which the process was able to run. The delay passes in steps, and the time for which
 * a process was suspended or blocked counts as one step. So what was received meanwhile is processed before the timeout.
 */
export function afterRunning(
  clock: Pick<Clock, "after">,
  { ms, keepsAlive = false }: {
    /** The delay, ms. */
    readonly ms: number;
    /** Whether the timer keeps the process alive. @default false */
    readonly keepsAlive?: boolean;
  },
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

/** Options of a {@linkcode RetryTimer}. */
interface RetryTimerOptions {
  /** Delay of the first retry, ms; it doubles with each further one. */
  readonly firstMs: number;
  /** Maximum delay, ms. */
  readonly maxMs: number;
  /** The work to retry. It may report its own failures, and schedule the next retry; a rejection does so, too. */
  readonly retry: () => Promise<unknown>;
}

/** Schedules one retry at a time. It does not keep the process alive. */
export class RetryTimer {
  readonly #clock: Pick<Clock, "after">;
  readonly #options: RetryTimerOptions;
  #delayMs: number;
  #cancel: Cancel | undefined;

  constructor(clock: Pick<Clock, "after">, options: RetryTimerOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#delayMs = options.firstMs;
  }

  /** Schedules a retry after a failure, unless one is scheduled. */
  schedule(): void {
    if (this.#cancel !== undefined) return;
    this.#cancel = this.#clock.after(this.#delayMs, () => {
      this.#cancel = undefined;
      this.#options.retry().catch(() => this.schedule());
    });
    this.#delayMs = Math.min(2 * this.#delayMs, this.#options.maxMs);
  }

  /** Cancels the retry after a success, or at the end. The next delay is the first one again. */
  reset(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#delayMs = this.#options.firstMs;
  }
}
