/** What of a provider's usage is taken: a table. */
import { assertEquals } from "@std/assert";
import { readUsage, tokenBound } from "../../src/pipeline/read_usage.ts";
import type { TokenCounts } from "../../src/state/counters/usage.ts";

const bound = 1000;

/** What stands in a response, and input, output and total as they are taken. */
const lines: readonly (readonly [name: string, usage: unknown, taken: readonly (number | undefined)[]])[] = [
  ["integers are taken", { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }, [10, 5, 15]],
  ["zeros are numbers", { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, [0, 0, 0]],
  ["a total may be more than its parts", { prompt_tokens: 10, completion_tokens: 5, total_tokens: 99 }, [10, 5, 99]],
  ["without a total it is the sum", { prompt_tokens: 10, completion_tokens: 5 }, [10, 5, 15]],
  ["a text is no total", { prompt_tokens: 10, completion_tokens: 5, total_tokens: "20" }, [10, 5, 15]],
  ["an object is no total", { prompt_tokens: 10, completion_tokens: 5, total_tokens: {} }, [10, 5, 15]],
  ["a total is not negative", { prompt_tokens: 10, completion_tokens: 5, total_tokens: -1e15 }, [10, 5, 15]],
  ["a total has a bound", { prompt_tokens: 10, completion_tokens: 5, total_tokens: 1e16 }, [10, 5, 15]],
  ["a total is not below its parts", { prompt_tokens: 10, completion_tokens: 5, total_tokens: 14 }, [10, 5, 15]],
  ["a part has a bound", { prompt_tokens: 1001, completion_tokens: 5 }, [undefined, 5, undefined]],
  ["a part is whole", { prompt_tokens: 1.5, completion_tokens: 5 }, [undefined, 5, undefined]],
  ["the other part is what is left", { prompt_tokens: 10, completion_tokens: "5", total_tokens: 15 }, [10, 5, 15]],
  ["and the first one too", { prompt_tokens: null, completion_tokens: 5, total_tokens: 15 }, [10, 5, 15]],
  ["but not below nothing", { completion_tokens: 5, total_tokens: 4 }, [undefined, 5, undefined]],
  ["a total alone is kept", { total_tokens: 15 }, [undefined, undefined, 15]],
  ["numbers without end are none", { prompt_tokens: 1e308, completion_tokens: NaN }, [undefined, undefined, undefined]],
  ...[null, undefined, "x", 7, [], {}, [1, 2], true].map((usage) =>
    [`${JSON.stringify(usage)} says nothing`, usage, [undefined, undefined, undefined]] as const
  ),
];

for (const [name, usage, taken] of lines) {
  Deno.test(`of a provider's usage, ${name}`, () => {
    const { input, output, tokens } = readUsage(usage, bound);
    assertEquals([input, output, tokens], taken);
  });
}

Deno.test("tokens of a cache are no more than those that were read", () => {
  const cacheOf = (details: unknown): Pick<TokenCounts, "cached" | "cacheWrite"> => {
    const { cached, cacheWrite } = readUsage(
      { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: details },
      bound,
    );
    return { cached, cacheWrite };
  };
  assertEquals(cacheOf({ cached_tokens: 10, cache_write_tokens: 0 }), { cached: 10, cacheWrite: 0 });
  assertEquals(cacheOf({ cached_tokens: 11, cache_write_tokens: "3" }), { cached: undefined, cacheWrite: undefined });
  assertEquals(cacheOf(null), { cached: undefined, cacheWrite: undefined });
});

Deno.test("what a cache gave may go by a name of its own", () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 2 };
  assertEquals(readUsage(usage, bound).cached, 8);
  assertEquals(readUsage({ ...usage, prompt_tokens_details: { cached_tokens: 4 } }, bound).cached, 4);
  assertEquals(readUsage({ ...usage, prompt_cache_hit_tokens: 11 }, bound).cached, undefined);
});

Deno.test("a call takes no more than the model's window and output, for as many responses as were asked for", () => {
  const constraints = { context_window: 8000, max_output_tokens: 2000 };
  assertEquals(tokenBound(constraints), 10_000);
  assertEquals(tokenBound(constraints, 3), 14_000);
  for (const odd of ["3", -1, null, 0, {}]) assertEquals(tokenBound(constraints, odd), 10_000);
  assertEquals(tokenBound(constraints, 1e300), 100_000_000);
});

Deno.test("a call of a model whose window or output is unknown takes no more than 100 million tokens", () => {
  for (const constraints of [undefined, {}, { context_window: 8000 }, { max_output_tokens: 2000 }]) {
    assertEquals(tokenBound(constraints), 100_000_000);
  }
});
