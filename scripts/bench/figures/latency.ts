/**
 * Latency that a gateway adds to responses, without load and at half of its saturation.
 * @module
 */
import type { Bench, Figure, Side } from "../kit/bench.ts";
import { type Load, load, saturate } from "../kit/load.ts";
import { median, summarizePairs, type Summary } from "../kit/statistics.ts";
import { formatNumber, formatTable } from "../kit/table.ts";

const delayMs = 20;
const maxLateMs = 10;
const goals: Readonly<Record<number, { must: number; aim: number }>> = {
  1: { must: 1.2, aim: 0.9 },
  16: { must: 2, aim: 1.4 },
};

/** The project's contestants, with titles for table rows. */
export const owns: readonly (readonly [name: string, title: string, base: string])[] = [
  ["deno", "Deno", "pass"],
  ["deno-node", "Deno, node:http", "pass"],
  ["node20", "Node 20", "pass20"],
  ["node24", "Node 24", "pass24"],
];

/** A sample of one side; NaN when the load failed. */
function takeSample(
  bench: Bench,
  { contestant }: Side,
  { load: { failed, requests }, value }: { readonly load: Load; readonly value: number | null },
): number {
  if (failed <= requests / 100 && value !== null) return value;
  bench.problem(`${contestant.name}: ${failed} of ${failed + requests} requests failed`);
  return NaN;
}

/** Median difference between two sides, round by round. */
function added(samples: ReadonlyMap<string, number[]>, name: string, base: string): Summary | undefined {
  const [left, right] = [samples.get(name), samples.get(base)];
  return left && right && summarizePairs(left, right, (a, b) => a - b);
}

/** p50 above that of direct requests, to an upstream that responds after 20 ms. */
export const latency: Figure = {
  name: "latency",
  title: "added p50, upstream answering in 20 ms",
  async run(bench) {
    const sides = await bench.sides(["direct", "pass", "deno", "node20", "node24"]);
    const seconds = Math.max(2, bench.options.seconds);
    const lines: string[][] = [];
    for (const connections of [1, 16]) {
      bench.say(`  ${connections} connections`);
      const mode = { mode: "closed", connections, seconds, scatterMs: delayMs } as const;
      const samples = await bench.rounds({
        sides,
        mode: { delayMs },
        async measure(side) {
          const done = await load(side.target(), mode, side.isSecure);
          return takeSample(bench, side, { load: done, value: done.p50 });
        },
      });
      bench.raw[`latency ${connections}`] = Object.fromEntries(samples);
      for (const [name, own] of samples) {
        const over = added(samples, name, "direct");
        const cells = [median(own), over?.measured ?? NaN].map(formatNumber);
        lines.push([name, String(connections), ...cells]);
        const title = owns.find(([value]) => value === name)?.[1];
        if (title === undefined || over === undefined) continue;
        const goal = name === "deno" || name.startsWith("node2") ? goals[connections] : {};
        const figure = `added p50 over direct: ${title}, ${connections} connection${connections === 1 ? "" : "s"}`;
        bench.rows.push({ figure, ...over, unit: "ms", better: "less", ...goal });
      }
    }
    const head = ["contestant", "connections", "p50 net of the upstream's 20 ms", "added, ms"];
    bench.tables.push(`Whole answers after ${delayMs} ms\n${formatTable(head, lines)}`);
  },
};

/** p99 above that of the pass-through, at half of the contestant's own saturation with random arrivals. */
export const tail: Figure = {
  name: "tail",
  title: "p99 at half of saturation",
  async run(bench) {
    const sides = await bench.sides(["pass", "deno", "pass20", "node20", "pass24", "node24"]);
    const seconds = Math.max(2, bench.options.seconds);
    const rates = new Map<string, number>();
    const most = await bench.rounds({
      sides,
      rounds: 1,
      async measure(side) {
        const { requests, seconds } = await saturate(side.target(), 64, { seconds: 1, isSecure: side.isSecure });
        return requests / seconds;
      },
    });
    for (const [name, samples] of most) rates.set(name, Math.round(median(samples) / 2));
    const samples = await bench.rounds({
      sides,
      async measure(side) {
        const done = await load(side.target(), { mode: "open", rate: rates.get(side.contestant.name)!, seconds });
        if (done.late !== undefined && done.late > maxLateMs) {
          bench.problem(`tail, ${side.contestant.name}: the load itself was ${Math.round(done.late)} ms late`);
          return NaN;
        }
        return takeSample(bench, side, { load: done, value: done.p99 });
      },
    });
    bench.raw.tail = { rates: Object.fromEntries(rates), p99: Object.fromEntries(samples) };
    const lines = [...samples].map(([name, own]) => [name, formatNumber(rates.get(name)!), formatNumber(median(own))]);
    bench.tables.push(`Half of saturation\n${formatTable(["contestant", "req/s", "p99, ms"], lines)}`);
    for (const [name, title, base] of owns) {
      const [left, right] = [samples.get(name), samples.get(base)];
      if (left === undefined || right === undefined) continue;
      const measured = summarizePairs(left, right, (a, b) => a / b);
      const figure = `p99 at half of saturation over the pass-through's: ${title}`;
      bench.rows.push({ figure, ...measured, better: "less" });
    }
  },
};
