/**
 * Streams at the pace of a model, and without pacing.
 * @module
 */
import { names } from "../contestants/all.ts";
import type { Bench, Figure } from "../kit/bench.ts";
import { load } from "../kit/load.ts";
import { median, summarizePairs } from "../kit/statistics.ts";
import { formatNumber, formatTable } from "../kit/table.ts";
import { owns } from "./latency.ts";
import { formatCollections, formatRates, type Rate, type Rates, ratio, toRate } from "./throughput.ts";

const paceMs = 20;
const pacedEvents = 100;
const unpacedEvents = 500;

/** One measurement at a pace. */
interface Paced extends Rate {
  /** Time to first token, minus the upstream's own: its median and 99th percentile, ms. */
  readonly first: number;
  readonly firstP99: number;
}

const firstGoals = { first: { must: 0.4, aim: 0.2 }, firstP99: { must: 3, aim: 1 } } as const;
const pacedGoals: Readonly<Record<string, { must: number; aim: number }>> = {
  deno: { must: 2.3, aim: 1.8 },
  node24: { must: 1.3, aim: 1.1 },
};

function pacedRows(bench: Bench, samples: ReadonlyMap<string, Paced[]>): void {
  for (const [name, title, base] of owns) {
    const own = samples.get(name);
    if (own === undefined) continue;
    for (const [of, share] of [["first", "p50"], ["firstP99", "p99"]] as const) {
      const other = samples.get(base);
      if (other === undefined) continue;
      const measured = summarizePairs(
        own.map((sample) => sample[of]),
        other.map((sample) => sample[of]),
        (a, b) => a - b,
      );
      const figure = `first token later than through the pass-through, 64 paced streams, ${share}: ${title}`;
      bench.rows.push({ figure, ...measured, unit: "ms", better: "less", ...(name === "deno" ? firstGoals[of] : {}) });
    }
    const measured = ratio(samples, { name, base, of: "cpuMicros" });
    if (measured === undefined) continue;
    const figure = `CPU an event over the pass-through's, 64 paced streams: ${title}`;
    bench.rows.push({ figure, ...measured, better: "less", ...pacedGoals[name] });
  }
}

/** 64 streams with an event every 20 ms. */
export const streams: Figure = {
  name: "streams",
  title: "64 streams at 20 ms an event: first token, CPU an event",
  isQuick: true,
  async run(bench) {
    const sides = await bench.streamSides(names);
    const seconds = Math.max(2, bench.options.seconds);
    const mode = { mode: "closed", connections: 64, seconds, scatterMs: 1000 } as const;
    const samples = await bench.rounds({
      sides,
      mode: { events: pacedEvents, paceMs },
      isStream: true,
      async measure(side): Promise<Paced> {
        const done = await bench.withUsage(side, () => load(side.target({ isStream: true }), mode, side.isSecure));
        const { p50, p99 } = done.first ?? {};
        return { ...toRate(bench, side, { usage: done, count: done.events }), first: p50 ?? NaN, firstP99: p99 ?? NaN };
      },
    });
    bench.raw.streams = Object.fromEntries(samples);
    const lines = [...samples].map(([name, own]) => [
      name,
      formatNumber(median(own.map(({ first }) => first))),
      formatNumber(median(own.map(({ firstP99 }) => firstP99))),
      formatNumber(median(own.map(({ cpuMicros }) => cpuMicros))),
    ]);
    const table = formatTable(["contestant", "first token, ms", "p99, ms", "CPU an event, µs"], lines);
    const title = `64 streams of ${pacedEvents} events at ${paceMs} ms`;
    bench.tables.push(`${title}\n${table}`, formatCollections(title, new Map([[64, samples]])));
    pacedRows(bench, samples);
  },
};

const eventGoals = { must: 1, aim: 1.3 };

/** Streams without pacing. */
export const events: Figure = {
  name: "events",
  title: "streams as fast as they go: events a second",
  async run(bench) {
    const { connections } = bench.options;
    const sides = await bench.streamSides(names);
    const measured = new Map<number, Rates>();
    for (const size of connections) {
      bench.say(`  ${size} connections`);
      measured.set(
        size,
        await bench.rounds({
          sides,
          mode: { events: unpacedEvents },
          isStream: true,
          async measure(side) {
            const mode = { mode: "closed", connections: size, seconds: bench.secondsFor(side) } as const;
            const done = await bench.withUsage(side, () => load(side.target({ isStream: true }), mode, side.isSecure));
            return toRate(bench, side, { usage: done, count: done.events });
          },
        }),
      );
    }
    bench.raw.events = Object.fromEntries([...measured].map(([size, rates]) => [size, Object.fromEntries(rates)]));
    bench.tables.push(formatRates(`Streams of ${unpacedEvents} events, unpaced, by connections`, "ev", measured));
    for (const [size, rates] of measured) {
      for (const [name, title, base] of owns) {
        const value = ratio(rates, { name, base, of: "perSecond" });
        if (value === undefined) continue;
        const goal = size >= 16 && name === "deno" ? eventGoals : {};
        const figure = `events/s over the pass-through's, unpaced: ${title}, ${size} connections`;
        bench.rows.push({ figure, ...value, better: "more", ...goal });
      }
    }
  },
};
