/**
 * Streams at the pace of a model, and without pacing.
 * @module
 */
import { names } from "../contestants/all.ts";
import type { Bench, Figure } from "../kit/bench.ts";
import { load } from "../kit/load.ts";
import { median, medianOfPairs } from "../kit/statistics.ts";
import { formatNumber, formatTable } from "../kit/table.ts";
import { owns } from "./latency.ts";
import { type Rate, rateOf, type Rates, ratio, tableOf } from "./throughput.ts";

const paceMs = 20;
const pacedEvents = 100;
const unpacedEvents = 500;

/** Returns the number of rounds. Streams take longer, so there are fewer unless more than the default are requested. */
function streamRounds({ options }: Bench): number {
  return Math.max(1, options.rounds - 1);
}

/** One measurement at a pace. */
interface Paced extends Rate {
  /** Time to first token, minus the upstream's own, ms. */
  readonly first: number;
}

function pacedRows(bench: Bench, samples: ReadonlyMap<string, Paced[]>): void {
  for (const [name, title, base] of owns) {
    const own = samples.get(name);
    if (own === undefined) continue;
    const straight = samples.get("direct");
    if (straight !== undefined) {
      const measured = medianOfPairs(
        own.map(({ first }) => first),
        straight.map(({ first }) => first),
        (a, b) => a - b,
      );
      const figure = `time to first token over direct, 64 paced streams: ${title}`;
      bench.rows.push({ figure, measured, unit: "ms", better: "less", must: 1.2, aim: 0.9 });
    }
    const measured = ratio(samples, name, base, "cpuMicros");
    if (measured === undefined) continue;
    const figure = `CPU an event over the pass-through's, 64 paced streams: ${title}`;
    bench.rows.push({ figure, measured, better: "less", must: 2, aim: 1.6 });
  }
}

/** 64 streams with an event every 20 ms. */
export const streams: Figure = {
  name: "streams",
  title: "64 streams at 20 ms an event: first token, CPU an event",
  isQuick: true,
  async run(bench) {
    const sides = await bench.streamSides(names);
    await bench.upstream.set({ events: pacedEvents, paceMs });
    const seconds = Math.max(2, bench.options.seconds);
    const mode = { mode: "closed", connections: 64, seconds, scatterMs: 1000 } as const;
    const samples = await bench.rounds(sides, async (side): Promise<Paced> => {
      const done = await bench.withCpu(side, () => load(side.target(true), mode, side.isSecure));
      return { ...rateOf(bench, side, done, done.events), first: done.first?.p50 ?? NaN };
    }, streamRounds(bench));
    bench.raw.streams = Object.fromEntries(samples);
    const lines = [...samples].map(([name, own]) => [
      name,
      formatNumber(median(own.map(({ first }) => first))),
      formatNumber(median(own.map(({ cpuMicros }) => cpuMicros))),
    ]);
    const table = formatTable(["contestant", "first token, ms", "CPU an event, µs"], lines);
    bench.tables.push(`64 streams of ${pacedEvents} events at ${paceMs} ms\n${table}`);
    pacedRows(bench, samples);
  },
};

const eventGoals = { deno: { must: 0.37, aim: 1 }, node24: { must: 0.8, aim: 0.9 } };

/** Streams without pacing. */
export const events: Figure = {
  name: "events",
  title: "streams as fast as they go: events a second",
  async run(bench) {
    const { connections } = bench.options;
    const sides = await bench.streamSides(names);
    await bench.upstream.set({ events: unpacedEvents });
    const measured = new Map<number, Rates>();
    for (const size of connections) {
      bench.say(`  ${size} connections`);
      measured.set(
        size,
        await bench.rounds(sides, async (side) => {
          const mode = { mode: "closed", connections: size, seconds: bench.secondsFor(side) } as const;
          const done = await bench.withCpu(side, () => load(side.target(true), mode, side.isSecure));
          return rateOf(bench, side, done, done.events);
        }, streamRounds(bench)),
      );
    }
    bench.raw.events = Object.fromEntries([...measured].map(([size, rates]) => [size, Object.fromEntries(rates)]));
    bench.tables.push(tableOf(`Streams of ${unpacedEvents} events, unpaced, by connections`, "ev", measured));
    for (const [size, rates] of measured) {
      for (const [name, title, base] of owns) {
        const value = ratio(rates, name, base, "perSecond");
        if (value === undefined) continue;
        const goal = size >= 16 ? eventGoals[name as keyof typeof eventGoals] : {};
        const figure = `events/s over the pass-through's, unpaced: ${title}, ${size} connections`;
        bench.rows.push({ figure, measured: value, better: "more", ...goal });
      }
    }
  },
};
