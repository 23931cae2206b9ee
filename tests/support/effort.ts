/**
 * Proofs about how much work something is, on machines that are busy with something else: work is compared with work,
 * never with the clock on the wall.
 * @module
 */
import { AssertionError } from "@std/assert";

/** Rounds in which the shortest times have to show what is claimed. What is true shows in the first ones. */
const rounds = 12;

/** Below this a time says nothing, ms. */
const leastMs = 0.05;

/** Growth that is surely more than linear: a square is 16. */
const mostGrowth = 7;

/**
 * Fails unless work grows with the length of what it is done on, and no faster: from n to 2n, and from there to 4n.
 *
 * @param what Whose work it is.
 * @param size n: large enough to take a good part of a millisecond, small enough for its square.
 * @param work Does it on something of this length.
 */
export function assertLinear(what: string, size: number, work: (size: number) => unknown): Promise<void> {
  const run = (length: number) => () => work(length);
  return assertEffort(`${what} on four times as much`, { work: run(4 * size), than: run(size), most: mostGrowth });
}

/** What is compared. */
export interface Efforts {
  readonly work: () => unknown;
  /** The yardstick. */
  readonly than: () => unknown;
  /** How many times as much the work may be. */
  readonly most: number;
}

/**
 * Fails unless work takes at most so many times as long as other work, by the shortest of several times each: others
 * make it longer, nothing makes it shorter.
 *
 * @param what The work.
 * @param efforts What is compared.
 */
export async function assertEffort(what: string, { work, than, most }: Efforts): Promise<void> {
  let [workMs, thanMs] = [Infinity, Infinity];
  for (let round = 0; round < rounds; round++) {
    thanMs = Math.min(thanMs, await timeOf(than));
    workMs = Math.min(workMs, await timeOf(work));
    // the first round is slow for whoever is first
    if (round > 0 && workMs <= most * Math.max(thanMs, leastMs)) return;
  }
  throw new AssertionError(`${what} takes ${workMs.toFixed(1)} ms: more than ${most} times ${thanMs.toFixed(1)} ms`);
}

async function timeOf(task: () => unknown): Promise<number> {
  const from = performance.now();
  const result = task();
  if (result instanceof Promise) await result;
  return performance.now() - from;
}
