import { assertEquals } from "@std/assert";
import { seededRandom } from "../../src/runtime/test.ts";
import { OutputTokens } from "../../src/state/metrics/output_tokens.ts";

Deno.test("the size of a response is unknown before the first, then its 95th percentile", () => {
  const sizes = new OutputTokens();
  assertEquals(sizes.percentile95(), undefined);
  sizes.add(70);
  assertEquals(sizes.percentile95(), 70);
  sizes.add(10);
  assertEquals(sizes.percentile95(), 70);
  const hundred = new OutputTokens();
  for (let tokens = 1; tokens <= 100; tokens++) hundred.add(tokens);
  assertEquals(hundred.percentile95(), 95);
});

Deno.test("a rare long answer does not move the percentile, many do", () => {
  const sizes = new OutputTokens();
  for (let count = 0; count < 128; count++) sizes.add(count % 32 === 0 ? 100_000 : 200);
  assertEquals(sizes.percentile95(), 200);
  for (let count = 0; count < 7; count++) sizes.add(5e9);
  assertEquals(sizes.percentile95(), 5e9);
});

Deno.test("sizes that make no sense count for nothing", () => {
  const sizes = new OutputTokens();
  for (const tokens of [NaN, -1, Infinity]) sizes.add(tokens);
  assertEquals(sizes.percentile95(), undefined);
  sizes.add(0);
  assertEquals(sizes.percentile95(), 0);
});

Deno.test("the percentile is exact over the last 128 answers", () => {
  for (let seed = 1; seed <= 10; seed++) {
    const random = seededRandom(seed);
    const sizes = new OutputTokens();
    const added: number[] = [];
    for (let step = 0; step < 400; step++) {
      const tokens = Math.floor(random() ** 3 * (seed % 2 === 0 ? 10 : 5000)); // with many of a size, and few
      sizes.add(tokens);
      added.push(tokens);
      const last = added.slice(-128).sort((one, other) => one - other);
      assertEquals(sizes.percentile95(), last[Math.ceil(last.length * 0.95) - 1], `seed ${seed}, step ${step}`);
    }
  }
});

Deno.test("the total and the number of responses are those of the last 128", () => {
  const sizes = new OutputTokens();
  assertEquals([sizes.count, sizes.total()], [0, 0]);
  for (let tokens = 1; tokens <= 130; tokens++) sizes.add(tokens);
  assertEquals([sizes.count, sizes.total()], [128, 128 * (3 + 130) / 2]);
});
