/**
 * Worlds of many seeds, one after the other.
 * @module
 */
import { assertEquals, assertGreater } from "@std/assert";
import { createScenario } from "./scenario.ts";
import { simulate } from "./simulation.ts";

/**
 * Fails unless the worlds of these seeds keep all rules, and most of their requests are answered.
 *
 * @param first The first seed.
 * @param last The last one.
 */
export async function assertWorldsKeepRules(first: number, last: number): Promise<void> {
  let requests = 0;
  let answered = 0;
  for (let seed = first; seed <= last; seed++) {
    const end = await simulate(seed);
    assertEquals(end.violation, undefined, `follow it with: deno task simulate --seeds=1 --from=${seed}`);
    if (createScenario(seed).isStorm) continue; // hundreds of requests none of which could be answered
    requests += end.requests;
    answered += end.answered;
  }
  assertGreater(answered / requests, 0.5, "most requests are answered, or the worlds prove nothing");
}
