/** Several keys of one provider: what is counted, reported and kept of each. */
import { assertEquals, assertFalse } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { TraceEntry } from "../../mod.ts";
import type { Stage } from "../support/_failover.ts";
import { byKey, keyed, keys, keysSeen, limited, refuse } from "../support/_keys.ts";
import { ok } from "../support/upstream.ts";

function seen({ upstreams }: Stage): string {
  return keysSeen(upstreams.a!);
}

describe("limits of a model", () => {
  it("hold for each key", async () => {
    await using scene = await keyed(ok(), { of: { a: { limits: { rpm: 1 } } } });
    const routes = (await scene.askTimes(3)).map(({ route }) => route);
    assertEquals([routes, seen(scene)], [["a 1/0", "a 1/0", "b 1/0"], "1 2"]);
  });

  it("reported by headers are that key's: another one has its own", async () => {
    const spent = ok({
      headers: {
        "x-ratelimit-limit-requests": "5",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "30s",
      },
    });
    await using scene = await keyed(byKey({ 1: spent }));
    await scene.askTimes(3);
    assertEquals(seen(scene), "1 2 2");
    await scene.clock.advance(30_000);
    await scene.ask();
    assertEquals(seen(scene), "1 2 2 1");
  });
});

describe("what is logged of keys", () => {
  it("is their place, never their value", async () => {
    await using scene = await keyed(byKey({ 1: refuse, 2: limited(20) }), { count: 3 });
    const { mesh } = scene.proxy;
    const traces: TraceEntry[] = [];
    mesh.addSink({ emit() {}, trace: (entry) => traces.push(entry), flush: () => Promise.resolve() });
    await scene.ask();
    assertEquals(traces.map(({ message }) => message), [
      'Key 1 of 3 of the provider "a" is in standby for 60 s: auth',
      'Key 2 of 3 of the provider "a" is in standby for 20 s: rate_limited',
    ]);
    const request = { model: "chat", messages: [{ role: "user" as const, content: "Hi" }] };
    const reported = [traces, scene.proxy.records, mesh.exportState(), mesh.poolStatus(), await mesh.explain(request)];
    assertFalse(JSON.stringify(reported).includes("canary"));
  });

  it("outlives the process without saying which keys there are", async () => {
    await using scene = await keyed(byKey({ 1: refuse, 2: limited(90) }), { count: 3 });
    await scene.ask();
    await scene.clock.advance(10_000);
    const state = scene.proxy.mesh.exportState();
    assertEquals(
      state.keys?.map(({ provider, model, reason, consecutive_trips }) => [provider, model, reason, consecutive_trips]),
      [
        ["a", undefined, "auth", 1],
        ["a", "a", "rate_limited", undefined],
      ],
    );
    assertFalse(JSON.stringify(state).includes("canary"));
    await using same = await keyed(ok(), { count: 3 });
    await same.clock.advance(10_000);
    same.proxy.mesh.importState(JSON.parse(JSON.stringify(state)));
    await same.askTimes(2);
    assertEquals(seen(same), "3 3");
    await same.clock.advance(50_000);
    await same.askTimes(2);
    assertEquals(seen(same), "3 3 1 3");
  });

  it("a key at another index is the same, a new one at its index has no standby", async () => {
    await using scene = await keyed(byKey({ 1: refuse }), { count: 2 });
    await scene.ask();
    const state = scene.proxy.mesh.exportState();
    await using moved = await keyed(ok(), { provider: { api_key: [keys[2], keys[0]] } });
    moved.proxy.mesh.importState(state);
    await moved.askTimes(3);
    assertEquals(seen(moved), "3 3 3");
    await using changed = await keyed(ok(), { provider: { api_key: [keys[2], keys[1]] } });
    changed.proxy.mesh.importState(state);
    await changed.askTimes(2);
    assertEquals(seen(changed), "3 2");
  });

  it("a state that was taken up again ends what came after it", async () => {
    await using scene = await keyed(byKey({ 1: refuse }));
    const before = scene.proxy.mesh.exportState();
    assertEquals(before.keys, undefined);
    await scene.ask();
    scene.proxy.mesh.importState(before);
    scene.upstreams.a!.follow(ok());
    await scene.askTimes(2);
    assertEquals(seen(scene).split(" ").slice(2).sort(), ["1", "2"]);
  });
});
