/**
 * Notices when the wall clock moves apart from the monotonic one: it was set, or the machine slept.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";

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
