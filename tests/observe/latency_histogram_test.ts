import { assertEquals } from "@std/assert";
import { LatencyHistogram } from "../../src/observe/_histograms.ts";
import { seededRandom } from "../../src/runtime/test.ts";

function createLatencies(...all: readonly number[]): LatencyHistogram {
  const latencies = new LatencyHistogram();
  for (const ms of all) latencies.add(ms);
  return latencies;
}

Deno.test("mean and percentile are null before the first latency, then exact while there are less than twenty", () => {
  const none = createLatencies();
  assertEquals([none.mean, none.percentile95], [null, null]);
  const one = createLatencies(100);
  assertEquals([one.mean, one.percentile95], [100, 100]);
  const nineteen = createLatencies(...Array(18).fill(10), 1234);
  assertEquals([nineteen.mean, nineteen.percentile95], [1414 / 19, 1234]);
});

Deno.test("of twenty latencies the longest is above the percentile", () => {
  const { percentile95 } = createLatencies(...Array(19).fill(10), 60_000);
  assertEquals(Math.abs(percentile95! - 10) <= 0.45, true, `${percentile95}`);
});

Deno.test("latencies that make no sense count for nothing", () => {
  const latencies = createLatencies(NaN, -1, Infinity, 30);
  assertEquals([latencies.mean, latencies.percentile95], [30, 30]);
});

Deno.test("latencies of nearly nothing and of weeks are borne", () => {
  const none = createLatencies(...Array(40).fill(0));
  assertEquals([none.mean, none.percentile95], [0, 0]);
  const week = 7 * 24 * 60 * 60 * 1000;
  const { mean, percentile95 } = createLatencies(...Array(40).fill(week));
  assertEquals(mean, week);
  assertEquals(percentile95! >= week / 7 * 0.955 && percentile95! <= week / 7, true, `${percentile95}`);
  assertEquals(createLatencies(...Array(95).fill(0.2), ...Array(5).fill(10)).percentile95, 0.5);
});

Deno.test("the percentile is within 4.5 % of the exact one, below 1 ms within 0.5 ms", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = seededRandom(seed);
    const scale = 10 ** (random() * 8 - 1); // from 0.1 ms to 3 h
    const all = Array.from({ length: 20 + Math.floor(random() * 400) }, () => scale * random() ** 2);
    const exact = all.toSorted((one, other) => one - other)[Math.ceil(all.length * 0.95) - 1]!;
    const found = createLatencies(...all).percentile95!;
    const allowed = exact < 1 ? 0.5 : exact * 0.045;
    assertEquals(Math.abs(found - exact) <= allowed, true, `seed ${seed}: ${found} for ${exact}`);
  }
});
