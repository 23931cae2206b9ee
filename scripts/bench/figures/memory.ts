/**
 * Memory of open streams.
 * @module
 */
import type { Bench, Figure } from "../kit/bench.ts";
import { hold } from "../kit/load.ts";
import { output } from "../kit/process.ts";
import { median } from "../kit/statistics.ts";
import { formatNumber, formatTable } from "../kit/table.ts";
import { residentKib } from "../kit/usage.ts";

const few = 50;
const slow = { events: 100_000, paceMs: 2000, firstMs: 5 };
const goals: Readonly<Record<string, { must: number; aim: number }>> = {
  deno: { must: 130, aim: 120 },
  node24: { must: 90, aim: 60 },
};

/** Maximum number of streams that the limit of open files allows; a gateway needs two files per stream. */
async function maxStreams(): Promise<number> {
  const files = Number(await output({ command: ["sh", "-c", "ulimit -Hn"] }));
  return Number.isNaN(files) ? Infinity : Math.floor((files - 500) / 2); // "unlimited" is not a number
}

/** Resident memory after events have been received for a while, KiB. */
async function settled(pid: number): Promise<number> {
  const samples: number[] = [];
  for (let index = 0; index < 5; index++) {
    await new Promise((resolve) => setTimeout(resolve, 800));
    samples.push(await residentKib(pid));
  }
  return median(samples);
}

/** Memory per stream at each number of streams, KiB, relative to the same process with a few streams. */
async function measure(bench: Bench, name: string, sizes: readonly number[]): Promise<Map<number, number>> {
  const side = await bench.fresh(name);
  await bench.upstream.set(slow);
  const held = await hold(side.target({ isStream: true }));
  const measured = new Map<number, number>();
  try {
    const from = { count: await held.open(few), kib: await settled(side.program!.pid) };
    for (const size of sizes) {
      const count = await held.open(size);
      if (count < size) bench.problem(`memory, ${name}: ${count} of ${size} streams opened`);
      const kib = await settled(side.program!.pid);
      if (count > from.count) measured.set(count, (kib - from.kib) / (count - from.count));
    }
  } finally {
    await held.end();
    await side.program!.kill();
  }
  return measured;
}

/** Memory per stream at 2 000 and 5 000 open streams. */
export const memory: Figure = {
  name: "memory",
  title: "memory a slow stream, 2 000 and 5 000 open",
  async run(bench) {
    const most = await maxStreams();
    const sizes = (bench.options.isQuick ? [2000] : [2000, 5000]).map((size) => Math.min(size, most));
    const lines: string[][] = [];
    for (const name of bench.chosen(["pass", "deno", "node24"])) {
      bench.say(`  ${name}`);
      try {
        const measured = await measure(bench, name, sizes);
        for (const [count, kib] of measured) {
          lines.push([name, formatNumber(count), formatNumber(kib)]);
          bench.raw[`memory ${name} ${count}`] = kib;
          if (!(name in goals)) continue;
          const figure = `memory an open slow stream, ${count} open: ${name}`;
          bench.rows.push({
            figure,
            measured: kib,
            unit: "KiB",
            better: "less",
            ...(count === 5000 ? goals[name] : {}),
          });
        }
      } catch (error) {
        bench.problem(`memory, ${name}: ${(error as Error).message}`);
      }
    }
    bench.tables.push(`Memory a stream\n${formatTable(["contestant", "open", "KiB a stream"], lines)}`);
  },
};
