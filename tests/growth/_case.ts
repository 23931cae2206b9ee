/**
 * The rows of the table of growth.
 * @module
 */
import { MeshError } from "../../src/errors.ts";

/** Work on input of any size, which has to grow at most in proportion to it. */
export interface GrowthCase {
  /** What does the work: paths with the name of the export, as in `src/util/cron.ts#parseCron`. */
  readonly covers: readonly string[];
  readonly what: string;
  /** n; the work is compared for n and 4n. */
  readonly size: number;
  readonly work: (size: number) => unknown;
  /** Forgets its input: garbage collection of later rows would take longer. */
  readonly release?: () => void;
}

/** A row with input that is made once for each size, so that the time it takes is not measured. */
interface Prepared<Input> extends Omit<GrowthCase, "work" | "release"> {
  readonly input: (size: number) => Input;
  readonly work: (input: Input) => unknown;
}

/**
 * Makes a row.
 *
 * @param row Its input is not modified by the work.
 */
export function prepared<Input>({ input, work, ...row }: Prepared<Input>): GrowthCase {
  const inputs = new Map<number, Input>();
  const inputOf = (size: number) => {
    if (!inputs.has(size)) inputs.set(size, input(size));
    return inputs.get(size)!;
  };
  return { ...row, work: (size) => work(inputOf(size)), release: () => inputs.clear() };
}

/** Performs work that may refuse its input. Any other error fails. */
export function refusable(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (!MeshError.isInstance(error) && !(error instanceof SyntaxError)) throw error;
  }
}

/** A list of so many items. */
export function times<Item>(count: number, item: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => item(index));
}

/** Bytes in chunks. */
export async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Reads to the end. */
export async function drained(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _item of items);
}
