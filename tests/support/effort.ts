/**
 * Proofs about how much work something is, on machines that are busy with something else: work is compared with work,
 * never with the clock on the wall.
 * @module
 */
import { AssertionError } from "@std/assert";

/** Rounds, one of which has to show what is claimed. What is true shows in the first; what is not, in none. */
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
 * Fails unless work takes at most so many times as long as other work, in one of several rounds: both are done in turns,
 * so that what else the machine does makes both longer.
 *
 * @param what The work.
 * @param efforts What is compared.
 */
export async function assertEffort(what: string, { work, than, most }: Efforts): Promise<void> {
  for (const task of [than, work, than]) await task(); // who is first waits for the compiler
  const told: string[] = [];
  let before = await timeOf(than);
  for (let round = 0; round < rounds; round++) {
    const workMs = await timeOf(work);
    const after = await timeOf(than);
    const thanMs = Math.max((before + after) / 2, leastMs);
    if (workMs <= most * thanMs) return;
    told.push(`${workMs.toFixed(1)} against ${thanMs.toFixed(1)} ms`);
    before = after;
  }
  throw new AssertionError(`${what} takes more than ${most} times as long: ${told.join(", ")}`);
}

async function timeOf(task: () => unknown): Promise<number> {
  const from = performance.now();
  const result = task();
  if (result instanceof Promise) await result;
  return performance.now() - from;
}
