/**
 * A provider answers with a status that means failure: the next one serves, and only the records show it. With
 * no other model, the row of the error table.
 */
import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Alone, failed, failingStatuses, limited, tripped } from "../support/_failing_statuses.ts";
import type { MeshEvent } from "../../mod.ts";
import { type Seen, stage } from "../support/_failover.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { ok, startUpstream, status } from "../support/upstream.ts";

const oneOutcome = { deactivation: { retry_limit: 1 } };

describe("one provider fails, another is up", () => {
  for (const { name, behaviour, calls, outcome, state } of failingStatuses) {
    it(`${name}: the other one answers`, async () => {
      await using scene = await stage({ a: behaviour, b: ok({ text: "from b" }) }, { pool: oneOutcome });
      const seen = await scene.ask();
      assertEquals([seen.status, seen.text, seen.route], [200, "from b", `b ${calls + 1}/1`]);
      assertEquals(scene.calls, { a: calls, b: 1 });
      assertEquals(scene.states(), { a: state, b: "active" });
      const who = state.startsWith("quota") ? "provider a" : "a";
      assertEquals(scene.events, [`deactivation ${who} ${state.split(" ")[0]}`, `rotation a>b ${outcome}`]);
      const { model, replaced_provider, rotation_reason, fallback_chain, possibly_billed } = scene.routing;
      assertEquals([model, replaced_provider, rotation_reason, possibly_billed], ["b", "a", outcome, undefined]);
      assertEquals(fallback_chain.map((step) => step.outcome), [outcome, "ok"]);
    });
  }
});

describe("a request that fails over", () => {
  it("goes to each provider with that one's key and model, and otherwise as it came", async () => {
    await using scene = await stage({ a: status(401), b: ok() });
    const own = {
      messages: [{ role: "user", content: "é🙂" }],
      temperature: 0.25,
      seed: 12,
      metadata: { deep: [1, { x: null }] },
    };
    const headers = { "content-type": "application/json", authorization: "Bearer the-clients-own", cookie: "c=1" };
    await scene.ask(own, { headers });
    for (const name of ["a", "b"]) {
      const { json, headers } = await scene.received(name);
      assertEquals(json(), { model: name, ...own });
      assertEquals([headers.authorization, headers.cookie], [`Bearer key-of-${name}-0123456789`, undefined]);
    }
  });

  it("is emitted: from which model, to which, why, and for which request", async () => {
    await using scene = await stage({ a: status(401), b: ok() });
    await scene.ask({}, { headers: { "content-type": "application/json", "x-request-id": "mine-1" } });
    const { id: _, ...event } = scene.proxy.records[0] as MeshEvent;
    assertEquals<unknown>(event, {
      type: "event",
      event: "rotation",
      timestamp: "2026-01-01T18:00:00.000Z",
      pool: "chat",
      model: "b",
      provider: "b",
      from: "a",
      to: "b",
      reason: "auth",
      metadata: { request_id: "mine-1", status: 401 },
    });
    assertEquals(scene.routing, {
      type: "routing",
      timestamp: "2026-01-01T18:00:00.000Z",
      request_id: "mine-1",
      operation: "chat",
      capability: "generation.text-generation.chat-completion",
      pool: "chat",
      model: "b",
      provider: "b",
      delivery: "sync",
      replaced_provider: "a",
      rotation_reason: "auth",
      fallback_chain: [
        { model: "a", provider: "a", outcome: "auth", status: 401, error: "Scripted 401", ms: 0 },
        { model: "b", provider: "b", outcome: "ok", ms: 0 },
      ],
      routing_latency_ms: 0,
      attempts: 2,
      status: 200,
      duration_ms: 0,
      tokens_in: 10,
      tokens_out: 5,
    });
  });
});

describe("the only provider fails", () => {
  for (const { name, behaviour, calls, outcome, state, alone } of failingStatuses) {
    it(`${name}: the client gets ${alone.status} ${alone.code}`, async () => {
      await using scene = await stage({ a: behaviour }, { pool: oneOutcome });
      const seen = await scene.ask();
      assertErrorSeen(seen, alone);
      assertEquals(seen.route, `a ${alone.calls ?? calls}/1`);
      assertEquals(scene.calls, { a: alone.calls ?? calls });
      assertEquals(scene.states(), { a: state });
      assertEquals(scene.routing.fallback_chain.map((step) => step.outcome), [outcome]);
    });
  }
});

/** The row of the error table, and nothing that a client must not see. */
function assertErrorSeen(seen: Seen, alone: Alone): void {
  const { status, type, code, wait = "null null", mayRetry } = alone;
  assertMatchesSchema("ErrorResponse", seen.body);
  const { message, ...error } = seen.error!;
  assertEquals({ status: seen.status, ...error }, { status, type, param: null, code });
  const get = (name: string) => seen.headers.get(name);
  assertEquals(`${get("retry-after")} ${get("retry-after-ms")}`, wait);
  assertEquals(get("x-should-retry"), mayRetry ? null : "false");
  assertNotMatch(message, /Scripted|html|key-of-a|http:/);
  if (status === 502) assertMatch(message, /\ba \(/);
}

describe("the only provider is rate-limited and says nothing of when", () => {
  it("429 without Retry-After while its model stays active: another try may succeed", async () => {
    await using scene = await stage({ a: status(429) });
    assertErrorSeen(await scene.ask(), { ...limited, mayRetry: true });
    assertEquals([scene.states(), scene.events], [{ a: "active" }, []]);
  });
});

describe("a redirect", () => {
  for (const code of [301, 302, 303, 307, 308]) {
    it(`${code} is not followed, so that no key leaks: the other provider answers`, async () => {
      await using trap = await startUpstream(ok({ text: "trapped" }));
      const away = status(code, { headers: { location: `${trap.url}/chat/completions` } });
      await using scene = await stage({ a: away, b: ok({ text: "from b" }) }, { pool: oneOutcome });
      assertEquals((await scene.ask()).text, "from b");
      assertEquals(scene.states(), { a: tripped, b: "active" });
      scene.upstreams.b!.follow(away);
      await scene.clock.advance(60_000);
      assertErrorSeen(await scene.ask(), failed);
      assertEquals(trap.connections, 0);
    });
  }
});
