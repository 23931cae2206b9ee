/**
 * Throughput of non-streaming responses: requests per second, and their cost for the gateway's process.
 * @module
 */
import { names } from "../contestants/all.ts";
import type { Bench, Figure, Side, Used } from "../kit/bench.ts";
import type { Collections } from "../kit/collections.ts";
import { type Load, saturate } from "../kit/load.ts";
import { median, summarizePairs, type Summary } from "../kit/statistics.ts";
import { formatNumber, formatTable, type Row } from "../kit/table.ts";

/** A measurement, per second and per request. */
export interface Rate {
  readonly perSecond: number;
  readonly cpuMicros: number;
  /** 99th percentile of the latency, ms. */
  readonly p99: number;
  /** Garbage collections; undefined without a process. */
  readonly collections?: Collections;
}

/** Members of a rate that contestants are compared by. */
type Compared = "perSecond" | "cpuMicros" | "p99";

/** Rates per contestant, one sample per round. */
export type Rates = ReadonlyMap<string, readonly Rate[]>;

/** Converts a load to rates; NaN when more than 1 % of its requests failed. */
export function toRate(
  bench: Bench,
  side: Side,
  { usage: { collections, cpuSeconds, ...load }, count = load.requests }: {
    readonly usage: Used<Load>;
    readonly count?: number;
  },
): Rate {
  if (load.failed > load.requests / 100) {
    bench.problem(`${side.contestant.name}: ${load.failed} of ${load.failed + load.requests} requests failed`);
    return { perSecond: NaN, cpuMicros: NaN, p99: NaN };
  }
  return { perSecond: count / load.seconds, cpuMicros: cpuSeconds * 1e6 / count, p99: load.p99, collections };
}

/** Returns the ratio of two contestants, round by round. */
export function ratio(
  rates: Rates,
  { name, base, of }: { readonly name: string; readonly base: string; readonly of: Compared },
): Summary | undefined {
  const [left, right] = [rates.get(name), rates.get(base)];
  if (left === undefined || right === undefined) return undefined;
  return summarizePairs(left.map((rate) => rate[of]), right.map((rate) => rate[of]), (a, b) => a / b);
}

/** Returns a table of rates: a row per contestant, columns per number of connections. */
export function formatRates(title: string, unit: string, byConnections: ReadonlyMap<number, Rates>): string {
  const sizes = [...byConnections.keys()];
  const found = [...new Set([...byConnections.values()].flatMap((rates) => [...rates.keys()]))];
  const lines = found.map((name) => [
    name,
    ...sizes.flatMap((size) => {
      const rates = byConnections.get(size)!.get(name) ?? [];
      return (["perSecond", "cpuMicros"] as const).map((of) => formatNumber(median(rates.map((rate) => rate[of]))));
    }),
  ]);
  const head = ["contestant", ...sizes.flatMap((size) => [`${size}: ${unit}/s`, "CPU µs"])];
  return `${title}\n${formatTable(head, lines)}`;
}

/** Returns a table of garbage collections: scavenges and their total time in each round. */
export function formatCollections(title: string, byConnections: ReadonlyMap<number, Rates>): string {
  const lines = [...byConnections].flatMap(([size, rates]) =>
    [...rates].filter(([, own]) => own.some(({ collections }) => collections !== undefined)).map(([name, own]) => [
      name,
      String(size),
      own.map(({ collections, cpuMicros }) => {
        const { scavenges = 0, scavengeMs = 0, full = 0 } = collections ?? {};
        return `${formatNumber(cpuMicros)} µs, ${scavenges}: ${formatNumber(scavengeMs)} ms${full ? ` +${full}` : ""}`;
      }).join("; "),
    ])
  );
  const head = ["contestant", "connections", "CPU; scavenges: their time +full collections, by round"];
  return `${title}: garbage collections\n${formatTable(head, lines)}`;
}

/** The target of a contestant relative to another one. */
interface Goal {
  readonly name: string;
  readonly base: string;
  readonly title: string;
  readonly connections: readonly number[];
  readonly must: number;
  readonly aim: number;
}

const cpuGoals = { must: 1.28, aim: 1.03 };
const some = [16, 64, 256];
const bareNode = "over the bare pass-through on the same Node";

const goals: readonly Goal[] = [
  { name: "deno", base: "pass", title: "Deno over the bare pass-through", connections: some, must: 0.8, aim: 1 },
  { name: "node20", base: "pass20", title: `Node 20 ${bareNode}`, connections: some, must: 0.6, aim: 0.75 },
  { name: "node24", base: "pass24", title: `Node 24 ${bareNode}`, connections: some, must: 0.75, aim: 0.9 },
  { name: "node20", base: "portkey20", title: "Node 20 over Portkey", connections: [64], must: 7, aim: 10 },
  { name: "node24", base: "portkey24", title: "Node 24 over Portkey", connections: [64], must: 5, aim: 8 },
  { name: "deno", base: "portkey24", title: "Deno over Portkey on Node 24", connections: [64], must: 7, aim: 10 },
  { name: "deno", base: "litellm", title: "Deno over LiteLLM", connections: [64], must: 50, aim: 100 },
];

function toRateRows(byConnections: ReadonlyMap<number, Rates>): Row[] {
  const rows: Row[] = [];
  for (const { name, base, title, connections, must, aim } of goals) {
    for (const size of connections) {
      const measured = ratio(byConnections.get(size) ?? new Map(), { name, base, of: "perSecond" });
      if (measured === undefined) continue;
      rows.push({ figure: `requests/s: ${title}, ${size} connections`, ...measured, must, aim, better: "more" });
    }
  }
  for (const [size, rates] of byConnections) {
    const measured = ratio(rates, { name: "deno", base: "pass", of: "cpuMicros" });
    if (measured === undefined) continue;
    const figure = `CPU a request: Deno over the bare pass-through, ${size} connections`;
    rows.push({ figure, ...measured, better: "less", ...(size === 16 || size === 64 ? cpuGoals : {}) });
    if (size !== 16 && size !== 64) continue;
    const p99 = ratio(rates, { name: "deno", base: "pass", of: "p99" })!;
    rows.push({ figure: `p99 over the bare pass-through's: Deno, ${size} connections`, ...p99, better: "less" });
  }
  return rows;
}

/** Measures all at each number of connections. */
async function measureAll(bench: Bench, connections: readonly number[], isSecure: boolean) {
  const sides = await bench.sides(names, isSecure);
  const measured = new Map<number, Rates>();
  for (const size of connections) {
    bench.say(`  ${size} connections`);
    measured.set(
      size,
      await bench.rounds({
        sides,
        async measure(side) {
          const run = () => saturate(side.target(), size, { seconds: bench.secondsFor(side), isSecure: side.isSecure });
          return toRate(bench, side, { usage: await bench.withUsage(side, run) });
        },
      }),
    );
  }
  return measured;
}

/** Idle time before a burst, s: after about eight, V8 has shrunk its young generation. */
const idleSeconds = 10;

/** Throughput of the first second after a pause, which traffic in bursts meets. */
export const bursts: Figure = {
  name: "bursts",
  title: `the same in the first second after ${idleSeconds} idle ones, 64 connections`,
  isQuick: true,
  async run(bench) {
    const sides = await bench.sides(names);
    const rates = await bench.rounds({
      sides,
      idleSeconds,
      async measure(side) {
        const run = () => saturate(side.target(), 64, { seconds: 1, isSecure: side.isSecure });
        return toRate(bench, side, { usage: await bench.withUsage(side, run) });
      },
    });
    bench.raw.bursts = Object.fromEntries(rates);
    const title = `Whole answers, the first second after ${idleSeconds} idle ones`;
    bench.tables.push(
      formatRates(title, "req", new Map([[64, rates]])),
      formatCollections(title, new Map([[64, rates]])),
    );
    for (const { name, base, title } of goals.slice(0, 3)) {
      const over = ratio(rates, { name, base, of: "cpuMicros" });
      if (over === undefined) continue;
      bench.rows.push({ figure: `CPU a request after a pause: ${title}`, ...over, better: "less" });
    }
  },
};

/** Throughput without TLS, at every number of connections. */
export const throughput: Figure = {
  name: "throughput",
  title: "requests a second and CPU a request, whole answers of 1 KB",
  isQuick: true,
  async run(bench) {
    const measured = await measureAll(bench, bench.options.connections, false);
    bench.tables.push(formatRates("Whole answers, plain HTTP upstream, by connections", "req", measured));
    bench.tables.push(formatCollections("Whole answers, plain HTTP upstream", measured));
    bench.rows.push(...toRateRows(measured));
    bench.raw.throughput = Object.fromEntries([...measured].map(([size, rates]) => [size, Object.fromEntries(rates)]));
  },
};

/** Throughput with a TLS upstream. */
export const tls: Figure = {
  name: "tls",
  title: "the same over TLS upstream",
  async run(bench) {
    const { connections, contestants } = bench.options;
    const sizes = contestants.length > 0 ? connections : connections.filter((size) => size === 64);
    const measured = await measureAll(bench, sizes, true);
    bench.tables.push(formatRates("Whole answers, TLS upstream, by connections", "req", measured));
    bench.tables.push(formatCollections("Whole answers, TLS upstream", measured));
    for (const [size, rates] of measured) {
      for (const { name, base, title } of goals.slice(0, 3)) {
        const ratios = [ratio(rates, { name, base, of: "perSecond" }), ratio(rates, { name, base, of: "cpuMicros" })];
        if (ratios[0] === undefined) continue;
        const at = `${title}, TLS upstream, ${size} connections`;
        const goal = name === "deno" && size === 64 ? { must: 0.8, aim: 1 } : {};
        bench.rows.push({ figure: `requests/s: ${at}`, ...ratios[0], better: "more", ...goal });
        bench.rows.push({ figure: `CPU a request: ${at}`, ...ratios[1]!, better: "less" });
      }
    }
    bench.raw.tls = Object.fromEntries([...measured].map(([size, rates]) => [size, Object.fromEntries(rates)]));
  },
};
