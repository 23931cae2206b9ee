/** Queues in a few simulated worlds; `tests/nightly` has more of them. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { assertQueuesKeepRules } from "./_queue_worlds.ts";
import { waitRule } from "./_queues.ts";

describe("Queues in simulated worlds", () => {
  it("keep their order and bounds, lose nothing and leave nothing", () => assertQueuesKeepRules(1, 4));

  it("exceed max_wait by no more than the time for which the process was stopped", () => {
    const journey = {
      arrival: { id: 5 },
      pool: { name: "chat", queue: { maxWaitMs: 1000, maxLength: 1, priority: 0 } },
    };
    const look = (queued_ms: number, stoppedMs: number) => waitRule(journey, { queued_ms }, stoppedMs);
    assertEquals([look(1000, 0), look(1055, 60), look(1060, 60)], [undefined, undefined, undefined]);
    assertEquals(look(1055, 0), "request 5 waited in chat for 1055 ms, expected at most 1000 ms");
    assertEquals(look(1200, 60), "request 5 waited in chat for 1200 ms, expected at most 1060 ms");
  });
});
