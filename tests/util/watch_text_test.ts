import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readIfPresent, watchText } from "../../src/util/watch_text.ts";
import { fakeClock } from "../../src/runtime/test.ts";

/** A watched file that begins as `a`; each step sets what is read from now on and lets a look pass. */
async function changesAfter(looks: readonly (string | undefined)[], known: string | undefined = "a"): Promise<number> {
  const clock = fakeClock();
  let text: string | undefined = "a";
  let changes = 0;
  const files = { readText: () => text === undefined ? Promise.reject(new Error("gone")) : Promise.resolve(text) };
  const cancel = watchText(() => readIfPresent("mesh.yaml", files), {
    clock,
    initial: known,
    onChange: () => changes++,
  });
  for (text of looks) await clock.advance(400);
  cancel();
  assertEquals(clock.pending, 0);
  return changes;
}

describe("A watched file", () => {
  const table: [what: string, looks: readonly (string | undefined)[], changes: number][] = [
    ["stays as it is", ["a", "a", "a"], 0],
    ["is written once", ["b", "b", "b"], 1],
    ["is being written for a while", ["b", "bc", "bcd", "bcd", "bcd"], 1],
    ["goes away and comes back alike", [undefined, undefined, "a", "a"], 0],
    ["goes away and comes back another", [undefined, "b", "b"], 1],
    ["is away in the middle of it", ["b", undefined, "b", "b"], 1],
    ["is another one for a moment", ["b", "a", "a"], 0],
    ["changes back later", ["b", "b", "a", "a"], 2],
  ];
  for (const [what, looks, changes] of table) {
    it(`that ${what} has changed ${changes} times`, async () => assertEquals(await changesAfter(looks), changes));
  }

  it("that came to be after the start has changed", async () => {
    assertEquals(await changesAfter(["b", "b"], undefined), 1);
  });
});
