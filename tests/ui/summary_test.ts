/** The state of the whole mesh in the dashboard. */
import { assertEquals } from "@std/assert";
import type { PoolStatus } from "../../src/registry/status.ts";
import { countStates } from "../../ui/summary.ts";

const now = Date.UTC(2026, 0, 1);

function pool(
  models: Readonly<Record<string, "active" | "standby">>,
  facts: Partial<PoolStatus["models"][number]> = {},
): PoolStatus {
  const states = Object.entries(models).map(([name, status]) => ({ name, provider: "p", status, ...facts }));
  const active = states.filter(({ status }) => status === "active").length;
  const [capability, strategy] = [null, "mesh.priority.v1"];
  const counts = { active, standby: states.length - active, total: states.length };
  return { capability, strategy, status: active > 0 ? "ok" : "unavailable", ...counts, models: states };
}

Deno.test("The summary counts a model once, as in standby where it is so in one pool", () => {
  const pools = { fast: pool({ a: "active", b: "standby" }), best: pool({ b: "active", c: "active" }) };
  assertEquals(countStates({ pools }, now), { pools: 2, down: [], paused: [], models: 3, standby: 1 });
});

Deno.test("The summary names the pools without an active model, but none without models", () => {
  const pools = { down: pool({ a: "standby" }), empty: pool({}), up: pool({ b: "active" }) };
  assertEquals(countStates({ pools }, now).down, ["down"]);
});

Deno.test("A rate limit that passes within a minute is not an outage, a longer one is", () => {
  const limited = (seconds: number, reason: "rate_limited" | "manual" = "rate_limited") =>
    pool({ a: "standby" }, { reason, retryAt: new Date(now + seconds * 1000).toISOString() });
  const pools = { brief: limited(5), long: limited(3600), other: limited(5, "manual") };
  const { down, paused } = countStates({ pools }, now);
  assertEquals({ down, paused }, { down: ["long", "other"], paused: ["brief"] });
});
