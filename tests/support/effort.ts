/**
 * Tests of computational effort that work on busy machines: work is compared with other work, never with wall-clock
 * time.
 * @module
 */
import { AssertionError } from "@std/assert";
import process from "node:process";

/** Maximum number of rounds; a true assertion usually holds in the first ones. */
const maxRounds = 60;

/** Number of rounds without pauses. */
const quickRounds = 10;

/** Pause between later rounds, ms: the CPU time of other threads of this process counts, too, until they wait. */
const pauseMs = 10;

/** Number of rounds that are summed. */
const sumRounds = 5;

/** Times below this are not meaningful, ms. */
const minMs = 0.05;

/** Maximum growth from n to 4n; quadratic growth is 16. */
const maxGrowth = 9;

/**
 * Fails unless work grows at most linearly with the length of its input: from n to 2n and 4n.
 *
 * @param what Name of the work.
 * @param size n: large enough to take a good part of a millisecond, small enough for quadratic work.
 * @param work Processes an input of a length.
 */
export function assertLinear(what: string, size: number, work: (size: number) => unknown): Promise<void> {
  const run = (length: number) => () => work(length);
  return assertEffort(`${what} on four times as much`, { work: run(4 * size), than: run(size), most: maxGrowth });
}

/** Work to compare. */
export interface Efforts {
  readonly work: () => unknown;
  /** The reference. */
  readonly than: () => unknown;
  /** Maximum ratio. */
  readonly most: number;
}

/**
 * Fails unless work takes at most a multiple of the time of other work. Both run alternately. Since other processes add
 * to some of the times, short times are compared by their minimum, long ones by their sum.
 *
 * @param what Name of the work.
 * @param efforts Work to compare.
 */
export async function assertEffort(what: string, { work, than, most }: Efforts): Promise<void> {
  for (const task of [than, work, than]) await task(); // compiles both
  const [works, thans]: [number[], number[]] = [[], []];
  while (works.length < maxRounds) {
    if (works.length >= quickRounds) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    thans.push(Math.max(minMs, await readTime(than)));
    works.push(await readTime(work));
    if (Math.min(...works) <= most * Math.min(...thans)) return;
    if (works.length >= sumRounds && addUp(works) <= most * addUp(thans)) return;
  }
  const ms = (times: readonly number[]) => times.map((time) => time.toFixed(1)).join(", ");
  throw new AssertionError(`${what} takes more than ${most} times as long: ${ms(works)} against ${ms(thans)} ms`);
}

function addUp(times: readonly number[]): number {
  return times.reduce((sum, time) => sum + time, 0);
}

/** Returns the CPU time of this process, ms, without that of other processes. */
async function readTime(task: () => unknown): Promise<number> {
  const from = process.cpuUsage();
  const result = task();
  if (result instanceof Promise) await result;
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}
