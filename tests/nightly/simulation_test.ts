/** Simulated worlds, more of them than `tests/simulation` has. */
import { assertQueuesKeepRules } from "../simulation/_queue_worlds.ts";
import { assertWorldsKeepRules } from "../simulation/_worlds.ts";

Deno.test("simulated worlds keep all rules, whatever happens in them", () => assertWorldsKeepRules(5, 500));

Deno.test("queues in simulated worlds keep their order and bounds", () => assertQueuesKeepRules(5, 1_000));
