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
  const due = performance.now() + (ms > 0 ? ms : 0);
  let timer: Timer | undefined;
  const arm = () => {
    // runtimes fire up to a millisecond early, so the remaining time is checked
    const left = due - performance.now();
    timer = setTimeout(left > 0 ? step : fire, Math.min(Math.max(0, Math.ceil(left)), maxStepMs));
    detach?.(timer);
  };
  const step = () => performance.now() < due ? arm() : fire();
  const fire = () => {
    timer = undefined;
    task();
  };
  arm();
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
  readonly task: () => void;
}

/** Maximum number of empty sets that are kept. */
const maxSpares = 64;

/**
 * Creates the `after` of a clock. Short timers are exact, long ones fire up to 50 ms late, never early.
 *
 * @param detach Receives each native timer that must not keep the process alive.
 */
export function coarseTimers(detach?: (timer: Timer) => void): Clock["after"] {
  const wheel = new Wheel(detach);
  return (ms, task, keepsAlive = false) => {
    if (keepsAlive) return callAfter(ms, task);
    if (!(ms >= longMs && ms < Infinity)) return callAfter(ms, task, detach);
    return wheel.add(ms, task);
  };
}

/** Timers by tick, and one native timer for the next tick. */
class Wheel {
  readonly #detach: ((timer: Timer) => void) | undefined;
  readonly #waits = new Map<number, IndexedSet<Wait>>();
  /** Empty sets: most ticks have few timers, which are cancelled soon. */
  readonly #spares: IndexedSet<Wait>[] = [];
  #size = 0;
  /** The tick for which the native timer is set; Infinity without one. */
  #armedTick = Infinity;
  #cancelTimer: Cancel = () => {};

  constructor(detach: ((timer: Timer) => void) | undefined) {
    this.#detach = detach;
  }

  add(ms: number, task: () => void): Cancel {
    const now = performance.now();
    const tick = Math.ceil((now + ms) / grainMs);
    let waits = this.#waits.get(tick);
    if (waits === undefined) this.#waits.set(tick, waits = this.#spares.pop() ?? new IndexedSet());
    const wait: Wait = { index: undefined, task }; // all members at once: V8 allocates those that are added apart
    waits.add(wait);
    if (tick < this.#armedTick) this.#arm(tick, now);
    this.#size++;
    return () => {
      if (waits.delete(wait)) this.#forget(tick, waits);
    };
  }

  #arm(tick: number, now: number): void {
    this.#cancelTimer();
    this.#armedTick = tick;
    this.#cancelTimer = callAfter(tick * grainMs - now, () => this.#turn(), this.#detach);
  }

  /** Fires the timers that are due, and sets the native timer for the next ones. */
  #turn(): void {
    this.#armedTick = Infinity;
    const now = performance.now();
    const due = [...this.#waits.keys()].filter((tick) => tick * grainMs <= now).sort((first, second) => first - second);
    for (const tick of due) this.#end(tick);
    let next = Infinity;
    for (const tick of this.#waits.keys()) next = Math.min(next, tick);
    if (next < this.#armedTick) this.#arm(next, now);
  }

  #end(tick: number): void {
    const waits = this.#waits.get(tick)!;
    this.#waits.delete(tick);
    for (const wait of waits.all) {
      if (!waits.delete(wait)) continue; // cancelled by another one
      this.#size--;
      try {
        wait.task();
      } catch (error) {
        queueMicrotask(() => {
          throw error; // as from a native timer, without affecting the others
        });
      }
    }
  }

  /** The native timer remains set while there are others, since the next one would require it again. */
  #forget(tick: number, waits: IndexedSet<Wait>): void {
    if (waits.size === 0 && this.#waits.get(tick) === waits) {
      this.#waits.delete(tick);
      if (this.#spares.length < maxSpares) this.#spares.push(waits);
    }
    if (--this.#size > 0) return;
    this.#cancelTimer();
    this.#armedTick = Infinity;
  }
}
