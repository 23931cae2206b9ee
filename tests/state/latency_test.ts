import { assertAlmostEquals, assertEquals } from "@std/assert";
import { Latency } from "../../src/state/metrics/latency.ts";

Deno.test("a latency is unknown until something was measured or failed", () => {
  const latency = new Latency();
  assertEquals(latency.value(5), undefined);
  latency.observe(5, 300);
  assertEquals(latency.value(5), 300);
  const failed = new Latency();
  failed.addFailure(5);
  assertEquals(failed.value(5), 10_000);
});

Deno.test("a slow response counts at once, a quick one by and by", () => {
  const latency = new Latency({ decayMs: 1000 });
  latency.observe(0, 100);
  latency.observe(0, 900);
  assertEquals(latency.value(0), 900);
  latency.observe(0, 100);
  assertEquals(latency.value(0), 900);
  latency.observe(1000, 100);
  assertAlmostEquals(latency.value(1000)!, 900 / Math.E + 100 * (1 - 1 / Math.E), 1e-9);
});

Deno.test("a latency decays while nothing is measured, by a factor e in its time constant", () => {
  const latency = new Latency({ decayMs: 60_000 });
  latency.observe(0, 1000);
  for (const [now, value] of [[0, 1000], [60_000, 1000 / Math.E], [120_000, 1000 / Math.E ** 2], [1e15, 0]] as const) {
    assertAlmostEquals(latency.value(now)!, value, 1e-9);
  }
});

Deno.test("a failure adds its penalty to what has decayed, and wears off", () => {
  const latency = new Latency({ decayMs: 1000, penaltyMs: 5000 });
  latency.observe(0, 100);
  latency.addFailure(0);
  assertEquals(latency.value(0), 5100);
  latency.addFailure(0);
  assertEquals(latency.value(0), 10_100);
  latency.observe(0, 100);
  assertEquals(latency.value(0), 10_100); // a quick response at the same moment does not undo it
  assertEquals(latency.value(10_000)! < 1, true);
  latency.observe(20_000, 1000);
  latency.addFailure(21_000);
  assertAlmostEquals(latency.value(21_000)!, 1000 / Math.E + 5000, 1e-9);
});

Deno.test("a latency bears a clock that goes back or stands still, and times that make no sense", () => {
  const latency = new Latency({ decayMs: 1000 });
  latency.observe(5000, 200);
  assertEquals(latency.value(1000), 200);
  latency.observe(1000, 400);
  assertEquals([latency.value(1000), latency.value(5000)], [400, 400]);
  for (const ms of [NaN, -1]) latency.observe(5000, ms);
  assertEquals(latency.value(5000), 400);
  latency.observe(5000, Infinity);
  for (let count = 0; count < 100_000; count++) latency.addFailure(5000);
  assertEquals(latency.value(5000), 86_400_000);
  latency.observe(2 ** 45, 150);
  assertEquals(latency.value(2 ** 45), 150);
});

Deno.test("of two models used in turn the slower one has the higher latency, whatever its single answers", () => {
  const [quick, slow] = [new Latency(), new Latency()];
  for (let step = 0; step < 500; step++) {
    quick.observe(step * 1000, 200 + step * 37 % 100);
    slow.observe(step * 1000, 400 + step * 53 % 100);
    assertEquals(quick.value(step * 1000)! < slow.value(step * 1000)!, true, `step ${step}`);
  }
});

Deno.test("a latency read again and again is right to a thousandth", () => {
  const latency = new Latency({ decayMs: 1000 });
  latency.observe(0, 500);
  for (let now = 0; now < 5000; now += 0.1) {
    const exact = 500 * Math.exp(-now / 1000);
    assertEquals(Math.abs(latency.value(now)! - exact) <= exact / 990, true, `${now}`);
  }
});
