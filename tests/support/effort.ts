/**
 * Proofs about how much work something is, on machines that are busy with something else: work is compared with work,
 * never with the clock on the wall.
 * @module
 */
import { AssertionError } from "@std/assert";
import process from "node:process";

/** Rounds at most; what is true shows in the first ones. */
const maxRounds = 20;

/** Rounds that make a sum. */
const sumRounds = 5;

/** Below this a time says nothing, ms. */
const minMs = 0.05;

/** Growth that is surely more than linear: a square is 16. */
const maxGrowth = 7;

/**
 * Fails unless work grows with the length of what it is done on, and no faster: from n to 2n, and from there to 4n.
 *
 * @param what Whose work it is.
 * @param size n: large enough to take a good part of a millisecond, small enough for its square.
 * @param work Does it on something of this length.
 */
export function assertLinear(what: string, size: number, work: (size: number) => unknown): Promise<void> {
  const run = (length: number) => () => work(length);
  return assertEffort(`${what} on four times as much`, { work: run(4 * size), than: run(size), most: maxGrowth });
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
 * Fails unless work takes at most so many times as long as other work. Both are done in turns. Others that are busy add
 * to some of the times: of short ones the shortest have nothing of it, of long ones all together have their share.
 *
 * @param what The work.
 * @param efforts What is compared.
 */
export async function assertEffort(what: string, { work, than, most }: Efforts): Promise<void> {
  for (const task of [than, work, than]) await task(); // who is first waits for the compiler
  const [works, thans]: [number[], number[]] = [[], []];
  while (works.length < maxRounds) {
    thans.push(Math.max(minMs, await timeOf(than)));
    works.push(await timeOf(work));
    if (Math.min(...works) <= most * Math.min(...thans)) return;
    if (works.length >= sumRounds && sumOf(works) <= most * sumOf(thans)) return;
  }
  const ms = (times: readonly number[]) => times.map((time) => time.toFixed(1)).join(", ");
  throw new AssertionError(`${what} takes more than ${most} times as long: ${ms(works)} against ${ms(thans)} ms`);
}

function sumOf(times: readonly number[]): number {
  return times.reduce((sum, time) => sum + time, 0);
}

/** This process's time on a core, ms: what other programs take is not in it. */
async function timeOf(task: () => unknown): Promise<number> {
  const from = process.cpuUsage();
  const result = task();
  if (result instanceof Promise) await result;
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}
