import { assertEquals } from "@std/assert";
import { costInNanoUsd, formatUsd, priceAt } from "../../src/util/cost.ts";

const now = Date.parse("2026-06-15T12:00:00Z");
const usage = (input: number, output: number, cached = 0, cacheWrite = 0) => ({ input, output, cached, cacheWrite });

Deno.test("costNanoUsd prices what was read, cached, written into a cache and answered", () => {
  const price = [{ input: 3, output: 15, cached_input: 0.3, cache_write: 3.75 }];
  assertEquals(costInNanoUsd(usage(1000, 100), price, now), 4_500_000);
  assertEquals(costInNanoUsd(usage(1000, 100, 800), price, now), 600_000 + 240_000 + 1_500_000);
  assertEquals(costInNanoUsd(usage(1000, 0, 0, 400), price, now), 1_800_000 + 1_500_000);
  assertEquals(costInNanoUsd(usage(1, 0), [{ input: 0.0375, output: 0 }], now), 38);
});

Deno.test("costNanoUsd says unknown rather than 0", () => {
  assertEquals(costInNanoUsd(usage(10, 10), undefined, now), undefined);
  assertEquals(costInNanoUsd(usage(10, 10), [{ input: 1 }], now), undefined);
  assertEquals(costInNanoUsd(usage(10, 10), [{ input: 0, output: 0 }], now), 0);
});

Deno.test("costNanoUsd stays a number that can be added and stored, whatever a provider asks", () => {
  const costAt = (input: number) => costInNanoUsd(usage(100_000_000, 0), [{ input, output: 0 }], now);
  assertEquals(costAt(1e300), Number.MAX_SAFE_INTEGER);
  for (const none of [-1, NaN, Infinity]) assertEquals(costAt(none), undefined);
});

Deno.test("priceAt takes the price of the day and of the prompt's size", () => {
  const prices = [
    { input: 1, output: 1 },
    { input: 2, output: 2, from: "2026-06-01" },
    { input: 4, output: 4, from: "2026-06-01", above_tokens: 200_000 },
    { input: 9, output: 9, from: "2026-07-01" },
  ];
  assertEquals(priceAt(prices, Date.parse("2026-05-31T23:59:59Z"), 10)?.input, 1);
  assertEquals(priceAt(prices, now, 200_000)?.input, 2);
  assertEquals(priceAt(prices, now, 200_001)?.input, 4);
});

Deno.test("formatUsd writes plain decimals", () => {
  const cases: readonly (readonly [number, string])[] = [
    [0, "0"],
    [1, "0.000000001"],
    [1_500, "0.0000015"],
    [2_000_000_000, "2"],
    [12_345_678_901, "12.345678901"],
    [100_000_000_000, "100"],
  ];
  for (const [nano, text] of cases) assertEquals(formatUsd(nano), text);
});
