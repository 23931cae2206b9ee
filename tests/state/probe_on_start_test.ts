/**
 * `recovery.probe_on_start`: a process that takes up the state of the last one probes the providers of models in standby before
 * its first request.
 */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { serverConnectors } from "../../connectors/server.ts";
import { MemoryStorage } from "../../connectors/storage/memory.ts";
import type { MeshEvent, RoutingRecord, StandbyReason } from "../../mod.ts";
import { stateIn } from "../../src/state/state_persistence.ts";
import { readSettings } from "../../src/config/load/sources.ts";
import { Engine } from "../../src/engine/engine.ts";
import { createConfigContext } from "../../src/registry/catalogue.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import {
  changes,
  configured,
  listed,
  modelA,
  providerA,
  readModelStatus,
  recoveryEvent,
} from "../support/_transitions.ts";
import { type Behaviour, startUpstream, status } from "../support/upstream.ts";

const start = Date.UTC(2026, 0, 1, 18);

/** A storage in which the model `a` of the pool `chat`, or its provider, is in standby for another minute. */
async function createSavedStorage(clock: FakeClock, reason: StandbyReason, whose: object): Promise<MemoryStorage> {
  const rest = { ...whose, standby: { reason, since: start - 60_000, until: start + 60_000 } };
  const record = { version: 1, saved_at: start, breakers: [rest], failures: [] };
  const storage = new MemoryStorage(clock);
  await storage.save("state", new TextEncoder().encode(JSON.stringify(record)));
  return storage;
}

interface Restart {
  readonly reason?: StandbyReason;
  readonly whose?: object;
  readonly probe?: Behaviour;
  readonly recovery?: object;
  readonly config?: object;
}

/** Starts a mesh over such a state and looks at it once it is ready, and a minute later. */
async function restarted({ reason = "retry_limit", whose = modelA, probe = listed, recovery, config = {} }: Restart) {
  const clock = fakeClock({ now: start, skipSleeps: true });
  await using upstream = await startUpstream(probe);
  const records: (MeshEvent | RoutingRecord)[] = [];
  const mesh = new Engine({
    connectors: serverConnectors,
    runtime: { ...serverRuntime(), clock, random: () => 0.5 },
    storage: stateIn(await createSavedStorage(clock, reason, whose)),
    on: (record) => records.push(record),
  });
  const pool = { recovery: { probe_on_start: true, ...recovery } };
  const settings = configured({ a: upstream.url }, { pool, config: { ...config } }).config;
  mesh.configure(readSettings(settings, createConfigContext(mesh)));
  await mesh.ready();
  const scene = { proxy: { mesh } } as unknown as Parameters<typeof readModelStatus>[0];
  const atStart = { state: readModelStatus(scene), reported: changes(records), probes: upstream.calls };
  await clock.advance(60_000);
  const later = readModelStatus(scene);
  await mesh.close();
  return { ...atStart, later };
}

/** The standbys of a model that no request has named. */
const inStandby = (reason: string) => ({
  status: "standby",
  reason,
  since: new Date(start - 60_000).toISOString(),
  retryAt: new Date(start + 60_000).toISOString(),
});

describe("standby, recovery.probe_on_start", () => {
  for (const [reason, whose] of [["error_rate", modelA], ["provider_outage", providerA]] as const) {
    it(`${reason}, and the probe succeeds: active before the first request`, async () => {
      const { state, reported, probes } = await restarted({ reason, whose });
      assertEquals([state, probes], [{ status: "active" }, 1]);
      assertEquals(reported, [recoveryEvent(whose, reason)]);
    });
  }

  it("and the probe fails: standby until the cooldown is over", async () => {
    const { state, reported, probes, later } = await restarted({ probe: status(500) });
    assertEquals([state, reported, probes], [inStandby("retry_limit"), [], 1]);
    assertEquals(later, { status: "active" });
  });

  it("one failed probe never deactivates a provider that is not probed further", async () => {
    const config = { discovery: { health: { failure_threshold: 1 } } };
    const { state, later } = await restarted({ probe: status(500), config });
    assertEquals([state, later], [inStandby("retry_limit"), { status: "active" }]);
  });

  it("is off unless configured: no provider is asked", async () => {
    const { state, probes } = await restarted({ recovery: { probe_on_start: undefined } });
    assertEquals([state, probes], [inStandby("retry_limit"), 0]);
  });

  it("quota_exhausted: no probe can find out, and none is sent", async () => {
    const { state, probes } = await restarted({ reason: "quota_exhausted", whose: providerA });
    assertEquals([state, probes], [inStandby("quota_exhausted"), 0]);
  });

  it("what is in standby until a probe succeeds is half-open where it is not probed any more", async () => {
    const recovery = { probe_on_start: false };
    const whose = { ...providerA, cause: "health_probe" };
    const { state, reported, probes } = await restarted({ reason: "health_probe", whose, recovery });
    assertEquals([state, reported, probes], [{ status: "active" }, [recoveryEvent(providerA, "health_probe")], 0]);
  });

  it("and stays in standby where it is", async () => {
    const recovery = { probe_on_start: false };
    const config = { discovery: { health: { interval: "10m" } } };
    const whose = { ...providerA, cause: "health_probe" };
    const { state, reported } = await restarted({ reason: "health_probe", whose, recovery, config });
    assertEquals([state, reported], [inStandby("health_probe"), []]);
  });
});
