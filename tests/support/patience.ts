/**
 * Waits for events in real time: sockets, processes, files. How long they take depends on the machine, so nothing is
 * measured. A single timeout, far above any delay on a busy machine, turns an event that never happens into a failure
 * with its description.
 * @module
 */
import { AssertionError } from "@std/assert";

/** The timeout, ms. Grace periods and limits that must not end a wait are several times as long. */
export const patienceMs = 60_000;

/**
 * Awaits an event.
 *
 * @param what Description for the error message; a function is called at that time.
 */
export async function happens<Result>(what: string | (() => string), event: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const never = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const reported = typeof what === "string" ? what : what();
      reject(new AssertionError(`Waited ${patienceMs / 1000} s in vain: ${reported}`));
    }, patienceMs);
  });
  try {
    return await Promise.race([event, never]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Polls until a condition is true, where no event reports the change.
 *
 * @param what Description for the error message; by default, the source of the condition.
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string | (() => string) = String(holds),
): Promise<void> {
  let isOver = false;
  const watch = async () => {
    while (!await holds() && !isOver) await new Promise((resolve) => setTimeout(resolve, 2));
  };
  await happens(what, watch()).finally(() => isOver = true);
}

/**
 * Polls until a value has changed to an expected one.
 *
 * @param read Returns the value.
 * @param expected The expected value.
 */
export function becomes<Value>(read: () => Value, expected: Value): Promise<void> {
  return until(() => read() === expected, () => `${read} is ${read()}, not ${expected}`);
}

/**
 * Polls until a growing number has not changed for many turns of the event loop.
 *
 * @param read Returns the number, which must begin to grow.
 * @returns Its final value.
 */
export async function standsStill(read: () => number): Promise<number> {
  let [before, turns] = [0, 0];
  await until(() => {
    turns = read() > 0 && read() === before ? turns + 1 : 0;
    before = read();
    return turns === 50;
  }, () => `${read} stands still, and is ${read()}`);
  return before;
}
