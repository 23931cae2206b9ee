/** Simulated worlds, more of them than `tests/simulation` has. */
import { assertWorldsKeepRules } from "../simulation/_worlds.ts";

Deno.test("simulated worlds keep all rules, whatever happens in them", () => assertWorldsKeepRules(26, 500));
