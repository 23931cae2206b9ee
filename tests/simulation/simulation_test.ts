import { assertEquals, assertGreater } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { scenarioOf } from "./scenario.ts";
import { simulate } from "./simulation.ts";

const seeds = 200;

describe("Simulated worlds", () => {
  it("keep all rules, whatever happens in them", async () => {
    let requests = 0;
    let answered = 0;
    for (let seed = 1; seed <= seeds; seed++) {
      const end = await simulate(seed);
      assertEquals(end.violation, undefined, `follow it with: deno task simulate --seeds=1 --from=${seed}`);
      if (scenarioOf(seed).isStorm) continue; // hundreds of requests of which nobody could answer one
      requests += end.requests;
      answered += end.answered;
    }
    assertGreater(answered / requests, 0.5, "most requests are answered, or the worlds prove nothing");
  });

  it("are the same for the same seed", async () => {
    const follow = async () => {
      const lines: string[] = [];
      await simulate(7, { trace: (line) => lines.push(line) });
      return lines;
    };
    assertEquals(await follow(), await follow());
  });
});
