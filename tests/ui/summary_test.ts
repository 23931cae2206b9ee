/** The state of the whole mesh in the dashboard. */
import { assertEquals } from "@std/assert";
import type { PoolStatus } from "../../src/registry/status.ts";
import { countStates } from "../../ui/summary.ts";

function pool(models: Readonly<Record<string, "active" | "standby">>): PoolStatus {
  const states = Object.entries(models).map(([name, status]) => ({ name, provider: "p", status }));
  const active = states.filter(({ status }) => status === "active").length;
  const [capability, strategy] = [null, "mesh.priority.v1"];
  const counts = { active, standby: states.length - active, total: states.length };
  return { capability, strategy, status: active > 0 ? "ok" : "unavailable", ...counts, models: states };
}

Deno.test("The summary counts a model once, as in standby where it is so in one pool", () => {
  const pools = { fast: pool({ a: "active", b: "standby" }), best: pool({ b: "active", c: "active" }) };
  assertEquals(countStates({ pools }), { pools: 2, down: [], models: 3, standby: 1 });
});

Deno.test("The summary names the pools without an active model, but none without models", () => {
  const pools = { down: pool({ a: "standby" }), empty: pool({}), up: pool({ b: "active" }) };
  assertEquals(countStates({ pools }).down, ["down"]);
});
