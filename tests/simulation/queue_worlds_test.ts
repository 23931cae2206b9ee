/** Queues in a few simulated worlds; `tests/nightly` has more of them. */
import { describe, it } from "@std/testing/bdd";
import { assertQueuesKeepRules } from "./_queue_worlds.ts";

describe("Queues in simulated worlds", () => {
  it("keep their order and bounds, lose nothing and leave nothing", () => assertQueuesKeepRules(1, 30));
});
