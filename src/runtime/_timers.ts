/**
 * The real clock of all runtimes. No other code sets native timers, since those above 2^31 - 1 ms fire immediately;
 * here long ones are split.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";
import { stepWatcher } from "./_clock_steps.ts";
import { sleepOn } from "./_sleep.ts";

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
