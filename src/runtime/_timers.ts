/**
 * The real clock of all runtimes. No other code sets native timers, since those above 2^31 - 1 ms fire immediately;
 * here long ones are split.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";
import { type Indexed, IndexedSet } from "../util/bag.ts";

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

/** The result of `setTimeout`, which differs between runtimes. */
export type Timer = ReturnType<typeof setTimeout>;

const maxStepMs = 2 ** 31 - 1;

/**
 * Calls `task` once, after at least `ms` on the monotonic clock.
 *
 * @param ms The delay; negative or NaN means 0, and Infinity never fires.
 * @param detach Receives each timer that must not keep the process alive.
 */
export function callAfter(ms: number, task: () => void, detach?: (timer: Timer) => void): Cancel {
  const waitMs = ms > 0 ? ms : 0;
  const due = performance.now() + waitMs;
  let timer: Timer | undefined;
  const arm = (leftMs: number) => {
    timer = setTimeout(step, Math.min(Math.ceil(leftMs), maxStepMs));
    detach?.(timer);
  };
  // runtimes fire up to a millisecond early, so the remaining time is checked
  const step = () => {
    const leftMs = due - performance.now();
    if (leftMs > 0) arm(leftMs);
    else fire();
  };
  const fire = () => {
    timer = undefined;
    task();
  };
  arm(waitMs);
  return () => clearTimeout(timer);
}

function callEvery(ms: number, task: () => Promise<void>, detach?: (timer: Timer) => void): Cancel {
  const period = Math.max(1, ms);
  let cancel: Cancel | undefined;
  const arm = (wait: number) => cancel = callAfter(wait, run, detach);
  const run = () => {
    const started = performance.now();
    const rearm = () => {
      const late = (performance.now() - started) % period; // periods missed while the task ran are skipped
      if (cancel !== undefined) arm(period - late);
    };
    settled(task).then(rearm, rearm); // a failing background task must not end the process, or other tasks
  };
  arm(period);
  return () => {
    cancel?.();
    cancel = undefined;
  };
}

/** Calls a task, which may also throw at once. */
async function settled(task: () => Promise<void>): Promise<void> {
  await task();
}

/**
 * The machine's clock.
 *
 * @param detach Detaches a timer from the process, if the runtime supports that.
 */
export function systemClock(detach?: (timer: Timer) => void): Clock {
  const clock: Clock = {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after: (ms, task, keepsAlive = false) => callAfter(ms, task, keepsAlive ? undefined : detach),
    sleep: sleepOn(callAfter),
    every: (ms, task) => callEvery(ms, task, detach),
  };
  return { ...clock, onStep: stepWatcher(clock) };
}

/** Interval of comparisons, ms. */
const intervalMs = 1_000;

/** Difference that counts as a step, ms. Slow adjustments add up to one. */
const toleranceMs = 50;

/**
 * Creates the `onStep` of a clock. It compares both clocks once a second while there are listeners.
 *
 * @param clock The clock. Its timers must not keep the process alive.
 */
export function stepWatcher({ now, monotonic, after }: Pick<Clock, "now" | "monotonic" | "after">): Clock["onStep"] {
  const listeners = new Set<{ readonly notify: () => void }>();
  let offsetMs = 0;
  let cancel: Cancel = () => {};
  const compare = () => {
    const present = now() - monotonic();
    const hasStepped = Math.abs(present - offsetMs) > toleranceMs;
    if (hasStepped) offsetMs = present;
    cancel = after(intervalMs, compare);
    if (hasStepped) { for (const { notify } of [...listeners]) notify(); }
  };
  return (notify) => {
    const listener = { notify };
    if (listeners.size === 0) {
      offsetMs = now() - monotonic();
      cancel = after(intervalMs, compare);
    }
    listeners.add(listener);
    return () => {
      if (listeners.delete(listener) && listeners.size === 0) cancel();
    };
  };
}

/** Timers of at least this duration may fire late, ms. */
const longMs = 2_000;

/** Resolution of long timers, ms. */
const grainMs = 50;

interface Wait extends Indexed {
  /** Monotonic ms. */
  readonly dueAt: number;
  readonly task: () => void;
}

/**
 * Creates the `after` of a clock. Short timers are exact, long ones fire up to 50 ms late, never early.
 *
 * @param detach Receives each native timer that must not keep the process alive.
 */
export function coarseTimers(detach?: (timer: Timer) => void): Clock["after"] {
  const waits = new LongWaits(detach);
  return (ms, task, keepsAlive = false) => {
    if (keepsAlive) return callAfter(ms, task);
    if (!(ms >= longMs && ms < Infinity)) return callAfter(ms, task, detach);
    return waits.add(ms, task);
  };
}

/**
 * Long timers, and one native timer while there are any. It is set for the next one that is due, and for no later than the
 * shortest one that may be added: most are cancelled long before they are due, and never change it.
 */
class LongWaits {
  readonly #detach: ((timer: Timer) => void) | undefined;
  readonly #waits = new IndexedSet<Wait>();
  #cancelTimer: Cancel | undefined;

  constructor(detach: ((timer: Timer) => void) | undefined) {
    this.#detach = detach;
  }

  add(ms: number, task: () => void): Cancel {
    const dueAt = Math.ceil((performance.now() + ms) / grainMs) * grainMs;
    const wait: Wait = { index: undefined, dueAt, task }; // all members at once: V8 allocates those that are added apart
    this.#waits.add(wait);
    if (this.#cancelTimer === undefined) this.#arm(longMs);
    return () => {
      if (this.#waits.delete(wait)) this.#disarmIfEmpty();
    };
  }

  #arm(ms: number): void {
    this.#cancelTimer = callAfter(ms, () => this.#turn(), this.#detach);
  }

  #disarmIfEmpty(): void {
    if (this.#waits.size > 0) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  /** Fires the timers that are due, and sets the native timer for the next ones. */
  #turn(): void {
    const now = performance.now();
    let waitMs = longMs;
    const due: Wait[] = [];
    for (const wait of this.#waits.all) {
      if (wait.dueAt <= now) due.push(wait);
      else waitMs = Math.min(waitMs, wait.dueAt - now);
    }
    this.#arm(waitMs);
    for (const wait of due.sort((first, second) => first.dueAt - second.dueAt)) {
      if (this.#waits.delete(wait)) callSafely(wait.task); // else cancelled by another one
    }
    this.#disarmIfEmpty();
  }
}

/** Calls a task. An error is thrown as from a native timer, without affecting the others. */
function callSafely(task: () => void): void {
  try {
    task();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
