/** A few worlds; `tests/nightly` has more of them, `deno task simulate` as many as you like. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { assertWorldsKeepRules } from "./_worlds.ts";
import { simulate } from "./simulation.ts";

describe("Simulated worlds", () => {
  it("keep all rules, whatever happens in them", () => assertWorldsKeepRules(1, 4));

  it("are the same for the same seed", async () => {
    const follow = async () => {
      const lines: string[] = [];
      await simulate(7, { trace: (line) => lines.push(line) });
      return lines;
    };
    assertEquals(await follow(), await follow());
  });
});
