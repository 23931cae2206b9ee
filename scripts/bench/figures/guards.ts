/**
 * What a guard costs that matches nothing: the processor time of a chat of 2 KB with and without one.
 * @module
 */
import { ownDeno, ownGuarded } from "../contestants/ours.ts";
import type { Figure } from "../kit/bench.ts";
import { saturate } from "../kit/load.ts";
import { formatRates, ratio, toRate } from "./throughput.ts";

const connections = 16;

/** The question of a chat of 2 KB is that of other figures so many times. */
const repeated = 8;

/** CPU time per request with a guard, over that without one. */
export const guards: Figure = {
  name: "guards",
  title: "CPU a request of 2 KB with a guard that matches nothing",
  async run(bench) {
    const names = [ownDeno.name, ownGuarded.name];
    const rates = await bench.rounds({
      sides: await bench.sides(names),
      async measure(side) {
        const run = () => saturate(side.target({ repeated }), connections, { seconds: bench.secondsFor(side) });
        return toRate(bench, side, { usage: await bench.withUsage(side, run) });
      },
    });
    bench.raw.guards = Object.fromEntries(rates);
    bench.tables.push(formatRates("Whole answers to chats of 2 KB", "req", new Map([[connections, rates]])));
    const over = ratio(rates, { name: ownGuarded.name, base: ownDeno.name, of: "cpuMicros" });
    if (over === undefined) return;
    bench.rows.push({
      figure: "CPU a request of 2 KB: with a guard over without",
      ...over,
      better: "less",
      must: 1.05,
    });
  },
};
