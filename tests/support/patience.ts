/**
 * Waiting for what happens in real time: sockets, processes, files. How long that takes is the machine's affair, so
 * nothing is measured. One guard, far longer than anything takes on a busy machine, turns what never happens into a
 * failure that says what it was.
 * @module
 */
import { AssertionError } from "@std/assert";

/** The guard, ms. A grace or a limit that must not be what ends a wait is several times as long. */
export const patienceMs = 60_000;

/**
 * Awaits an event.
 *
 * @param what What it is, to be named when it does not come about; a function describes it at that time.
 * @param event What is awaited.
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
 * Waits until something holds, where no event says that it changes.
 *
 * @param holds Whether it holds now.
 * @param what What it is, to be named when it does not come about; the condition's own text unless given.
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
 * Waits until a value has become another one.
 *
 * @param read The value now.
 * @param expected What it has to become.
 */
export function becomes<Value>(read: () => Value, expected: Value): Promise<void> {
  return until(() => read() === expected, () => `${read} is ${read()}, not ${expected}`);
}

/**
 * Waits until a number that grows has stood still for many turns of the event loop.
 *
 * @param read The number now; it has to begin to grow.
 * @returns Where it stands.
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
