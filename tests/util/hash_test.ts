import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import { hash53, mix32, toFraction } from "../../src/util/hash.ts";

/** Names as they come: they differ in a digit. */
function names(number: number): string[] {
  return Array.from({ length: number }, (_, index) => `session-${index}`);
}

/** How far the counts of even buckets are from even: about the number of buckets for good hashes. */
function chiSquare(buckets: readonly number[]): number {
  const even = buckets.reduce((sum, many) => sum + many, 0) / buckets.length;
  return buckets.reduce((sum, many) => sum + (many - even) ** 2 / even, 0);
}

Deno.test("hash53() is cyrb53, by the values its author published", () => {
  const published = { a: 7929297801672961, b: 8684336938537663, revenge: 4051478007546757, revenue: 8309097637345594 };
  for (const [text, hash] of Object.entries(published)) assertEquals(hash53(text), hash, text);
});

Deno.test("hash53() is a safe integer for any text", () => {
  for (const text of ["", "\0", "ä", "🌍", "\ud800", "x".repeat(100_000)]) {
    const hash = hash53(text);
    assert(Number.isSafeInteger(hash) && hash >= 0, text.slice(0, 9));
  }
});

Deno.test("hash53() gives texts that differ little different hashes", () => {
  assertEquals(new Set(names(100_000).map(hash53)).size, 100_000);
  assertLess(new Set(names(100_000).map((name) => hash53(name) >>> 0)).size, 100_001);
  assertGreater(new Set(names(100_000).map((name) => hash53(name) >>> 0)).size, 99_990);
});

Deno.test("hash53() spreads evenly over buckets, by its lower and by its upper bits", () => {
  const [lower, upper] = [new Array<number>(256).fill(0), new Array<number>(256).fill(0)];
  for (const name of names(50_000)) {
    const hash = hash53(name);
    lower[hash % 256]!++;
    upper[Math.floor(hash / 2 ** 45)]!++;
  }
  for (const buckets of [lower, upper]) assertLess(chiSquare(buckets), 340); // beyond 330: one in a thousand
});

Deno.test("mix32() changes every bit half of the times, for a bit of either number", () => {
  for (let bit = 0; bit < 32; bit++) {
    const [byFirst, bySecond] = [new Array<number>(32).fill(0), new Array<number>(32).fill(0)];
    for (const name of names(1000)) {
      const hash = hash53(name);
      countBits(byFirst, mix32(hash, 12345) ^ mix32(hash ^ 1 << bit, 12345));
      countBits(bySecond, mix32(12345, hash) ^ mix32(12345, hash ^ 1 << bit));
    }
    for (const changes of [...byFirst, ...bySecond]) assert(changes > 400 && changes < 600, `bit ${bit}: ${changes}`);
  }
});

Deno.test("mix32() distinguishes the order of its numbers", () => {
  assert(mix32(1, 2) !== mix32(2, 1));
});

Deno.test("fractionOf() is between 0 and 1, and never either", () => {
  assertGreater(toFraction(0), 0);
  assertLess(toFraction(2 ** 32 - 1), 1);
  const mean = names(10_000).reduce((sum, name) => sum + toFraction(mix32(hash53(name), 7)), 0) / 10_000;
  assertLess(Math.abs(mean - 0.5), 0.01);
});

function countBits(counts: number[], number: number): void {
  for (let bit = 0; bit < 32; bit++) counts[bit]! += number >>> bit & 1;
}
