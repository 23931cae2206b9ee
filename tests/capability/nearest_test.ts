import { assertEquals } from "@std/assert";
import { editDistance, nearest } from "../../src/util/nearest.ts";

Deno.test("editDistance() counts additions, removals, replacements and swaps of neighbours", () => {
  const cases: [string, string, number][] = [
    ["", "", 0],
    ["", "abc", 3],
    ["abc", "abc", 0],
    ["abc", "abd", 1],
    ["abc", "acb", 1],
    ["kitten", "sitting", 3],
  ];
  for (const [one, other, edits] of cases) {
    assertEquals(editDistance(one, other), edits);
    assertEquals(editDistance(other, one), edits);
  }
});

Deno.test("nearest() puts the likeliest first, each once, and keeps the order of equals", () => {
  assertEquals(nearest("strategi", ["storage", "strategy", "strategies", "strategy"]), ["strategy", "strategies"]);
  assertEquals(nearest("ab", ["ac", "ad", "ae", "af"]), ["ac", "ad", "ae"]);
  assertEquals(nearest("gpt-4", ["gpt-4o", "claude", "openai.gpt-4o-mini"], 2), ["gpt-4o", "openai.gpt-4o-mini"]);
});

Deno.test("nearest() finds nothing for what resembles nothing", () => {
  assertEquals(nearest("zebra", ["models", "pools"]), []);
});
