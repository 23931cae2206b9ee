/**
 * The real clock of every runtime. Nothing else in this repository sets a timer: one that runs for more than
 * 2^31 - 1 ms fires at once in every runtime, so long waits are made of steps here.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";
import { sleepOn } from "./_sleep.ts";

/** What `setTimeout` returns, which differs between runtimes. */
export type Timer = ReturnType<typeof setTimeout>;

const maxStepMs = 2 ** 31 - 1;

/**
 * Calls `task` once, not before `ms` have passed on the monotonic clock.
 *
 * @param ms The wait; negative or not a number means 0, Infinity never ends.
 * @param detach Receives each timer that must not keep the process alive.
 */
export function callAfter(ms: number, task: () => void, detach?: (timer: Timer) => void): Cancel {
  const due = performance.now() + (ms > 0 ? ms : 0);
  let timer: Timer | undefined;
  const arm = () => {
    // runtimes fire up to a millisecond early, so what is left is looked at again
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
  const run = async () => {
    const started = performance.now();
    // a background task reports its own failures; one that does not must end neither the others nor the process
    await task().catch(() => {});
    const late = (performance.now() - started) % period; // turns missed while the task ran are left out
    if (cancel !== undefined) arm(period - late);
  };
  arm(period);
  return () => {
    cancel?.();
    cancel = undefined;
  };
}

/**
 * The machine's clock.
 *
 * @param detach How this runtime keeps a timer from holding the process alive, where it can.
 */
export function systemClock(detach?: (timer: Timer) => void): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after: (ms, task, keepsAlive = false) => callAfter(ms, task, keepsAlive ? undefined : detach),
    sleep: sleepOn(callAfter),
    every: (ms, task) => callEvery(ms, task, detach),
  };
}
