/** Statistics fed by the events of a hub. */
import { assertEquals, equal } from "@std/assert";
import { Hub } from "../../src/observe/hub.ts";
import { countEvents, Statistics } from "../../src/observe/statistics.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import type { BreakerOwner } from "../../src/state/breaker/circuit_breaker.ts";
import { minute, path } from "./_statistics.ts";

/** A hub with one member, its statistics and the owners in standby. */
function fed() {
  const clock = fakeClock();
  const hub = new Hub(clock);
  const statistics = new Statistics(clock);
  countEvents(hub, statistics);
  const inStandby = new Set<BreakerOwner>();
  const member = { pool: "chat", model: "a", provider: "one" };
  hub.publish("members_changed", {
    members: () => [member],
    ownersInStandby: () => [...inStandby],
    isInStandby: (owner) => [...inStandby].some((one) => equal(one, owner)),
  });
  const look = () => {
    const pool = statistics.records().find(({ scope, id }) => scope === "pool" && id === "chat");
    return [pool?.requests_total, pool?.rotation_events, pool?.standby_events, pool?.downtime_total];
  };
  return { clock, hub, inStandby, member, look };
}

Deno.test("a finished request counts with the rotations of its fallback chain", () => {
  const { hub, look } = fed();
  const steps = path(["b@two", "timeout"], ["a@one", "ok"]);
  hub.requestFinished({
    tries: [],
    record: {
      type: "routing",
      timestamp: hub.timestamp(),
      request_id: "1",
      capability: null,
      delivery: "sync",
      routing_latency_ms: 0,
      attempts: 2,
      ...steps,
    },
    outcome: "success",
  });
  assertEquals(look(), [1, 1, 0, 0]);
});

Deno.test("a recovery ends downtime once no cause of the standby is left", async () => {
  const { clock, hub, inStandby, member, look } = fed();
  const change = { ...member, reason: "manual", metadata: {} };
  inStandby.add(member);
  hub.event({ event: "deactivation", ...change });
  await clock.advance(minute);
  hub.event({ event: "recovery", ...change });
  await clock.advance(minute);
  assertEquals(look(), [0, 0, 1, 2 * minute], "another cause lasts");
  inStandby.clear();
  hub.event({ event: "recovery", ...change });
  await clock.advance(minute);
  assertEquals(look(), [0, 0, 1, 2 * minute]);
});

Deno.test("rotations and health events of the hub change no standby", () => {
  const { hub, member, look } = fed();
  for (const event of ["rotation", "health"] as const) hub.event({ event, ...member, reason: "error", metadata: {} });
  assertEquals(look(), [0, 0, 0, 0]);
});
