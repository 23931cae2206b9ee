/**
 * A provider answers with a status that means failure: the next one serves, and only the records show it. With
 * no other model, the row of the error table.
 */
import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { MeshEvent } from "../../mod.ts";
import { type Seen, stage } from "../support/_failover.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { type AnswerHeaders, type Behaviour, cutAt, ok, startUpstream, status } from "../support/upstream.ts";

/** What the client reads when there is no other model. */
interface Alone {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  /** `retry-after retry-after-ms`. */
  readonly wait?: string;
  /** Calls, where they differ. */
  readonly calls?: number;
  /** Another try is no use; so unless said. */
  readonly mayRetry?: true;
}

/** One way to fail. */
interface Row {
  readonly name: string;
  readonly behaviour: Behaviour;
  /** Calls it gets while another provider is up. */
  readonly calls: number;
  /** What the records call it. */
  readonly outcome: string;
  /** The state of its model after one such request, in a pool where one failure is enough. */
  readonly state: string;
  readonly alone: Alone;
}

const failed: Alone = { status: 502, type: "server_error", code: "all_attempts_failed" };
const refused: Alone = { status: 502, type: "server_error", code: "upstream_auth_error" };
const noQuota: Alone = { status: 429, type: "insufficient_quota", code: "insufficient_quota", wait: "21600 21600000" };
const limited: Alone = { status: 429, type: "rate_limit_error", code: "rate_limit_exceeded" };
const limitedFor = (seconds: number, calls: number): Alone => {
  const long = seconds > 60 ? {} : { mayRetry: true as const };
  return { ...limited, calls, wait: `${Math.ceil(seconds)} ${seconds * 1000}`, ...long };
};

const voted = "retry_limit for 60s";
const hinted = (headers: AnswerHeaders) => status(429, { headers });
const tomorrow = "quota_exhausted for 21600s";
const server = { calls: 3, outcome: "server", state: voted, alone: failed };
const auth = { calls: 1, outcome: "auth", state: voted, alone: refused };
const quota = { calls: 1, outcome: "quota_exhausted", state: tomorrow, alone: noQuota };
const misconfigured = { calls: 1, outcome: "misconfigured", state: voted, alone: failed };
const missing = { calls: 1, outcome: "model_not_found", state: "model_not_found for 60s", alone: failed };
const unhinted = { calls: 3, outcome: "rate_limited", state: voted, alone: limitedFor(60, 3) };
const restsFor = (seconds: number, calls = 1, callsAlone = calls) => ({
  calls,
  outcome: "rate_limited",
  state: `rate_limited for ${seconds}s`,
  alone: limitedFor(seconds, callsAlone),
});

const rows: readonly Row[] = [
  { name: "429 with no hint", behaviour: status(429), ...unhinted },
  { name: "429 with Retry-After beyond the back-off", behaviour: hinted({ "retry-after": "2" }), ...restsFor(2, 1, 3) },
  { name: "429 with Retry-After beyond max_delay", behaviour: hinted({ "retry-after": "30" }), ...restsFor(30) },
  { name: "429 with Retry-After over a minute", behaviour: hinted({ "retry-after": "61" }), ...restsFor(61) },
  { name: "429 with Retry-After of days", behaviour: hinted({ "retry-after": "200000" }), ...restsFor(86_400) },
  { name: "429 with a short retry-after-ms", behaviour: hinted({ "retry-after-ms": "400" }), ...restsFor(0.4, 3) },
  {
    name: "429 with retry-after-ms beside Retry-After",
    behaviour: hinted({ "retry-after": "7", "retry-after-ms": "30500" }),
    ...restsFor(30.5),
  },
  {
    name: "429 with a date",
    behaviour: hinted({ "retry-after": "Thu, 01 Jan 2026 18:00:40 GMT" }),
    ...restsFor(40),
  },
  {
    name: "429 with a date after its own Date",
    behaviour: hinted({ date: "Sun, 07 Jun 2020 00:00:00 GMT", "retry-after": "Sun, 07 Jun 2020 00:00:50 GMT" }),
    ...restsFor(50),
  },
  { name: "429 with a past date", behaviour: hinted({ "retry-after": "Thu, 01 Jan 2015 00:00:00 GMT" }), ...unhinted },
  { name: "429 with words for a hint", behaviour: hinted({ "retry-after": "soon" }), ...unhinted },
  { name: "429 with a negative hint", behaviour: hinted({ "retry-after": "-5" }), ...unhinted },
  { name: "429 with a hint of 0", behaviour: hinted({ "retry-after": "0" }), ...unhinted },
  { name: "429 with two hints", behaviour: hinted([["retry-after", "30"], ["retry-after", "40"]]), ...unhinted },
  { name: "429 with an endless hint", behaviour: hinted({ "retry-after": "9".repeat(400) }), ...unhinted },
  {
    name: "429 with a hint and a body that breaks off",
    behaviour: cutAt(hinted({ "retry-after": "30" }), "headers"),
    ...restsFor(30),
  },
  { name: "429 insufficient_quota", behaviour: status(429, { error: { code: "insufficient_quota" } }), ...quota },
  { name: "402", behaviour: status(402), ...quota },
  { name: "402 with words for a body", behaviour: status(402, { text: "Payment required" }), ...quota },
  { name: "408", behaviour: status(408), ...server },
  { name: "409", behaviour: status(409), ...server },
  { name: "425", behaviour: status(425), ...server },
  { name: "500", behaviour: status(500), ...server },
  { name: "500 with a web page", behaviour: status(500, { text: "<html>Oops</html>" }), ...server },
  { name: "500 with nothing", behaviour: status(500, { text: "" }), ...server },
  { name: "500 with a body without end", behaviour: status(500, { text: "x".repeat(200_000) }), ...server },
  { name: "501", behaviour: status(501), ...server },
  { name: "502", behaviour: status(502), ...server },
  { name: "503", behaviour: status(503), ...server },
  { name: "504", behaviour: status(504), ...server },
  { name: "529", behaviour: status(529), ...server },
  ...[502, 503, 529].map((code) => ({
    name: `${code} with Retry-After`,
    behaviour: status(code, { headers: { "retry-after": "30" } }),
    calls: 1,
    outcome: "server",
    state: "rate_limited for 30s",
    alone: failed,
  })),
  { name: "401", behaviour: status(401), ...auth },
  { name: "403", behaviour: status(403), ...auth },
  { name: "404", behaviour: status(404), ...misconfigured },
  { name: "404 with a web page", behaviour: status(404, { text: "<html>Not here</html>" }), ...misconfigured },
  { name: "404 model_not_found", behaviour: status(404, { error: { code: "model_not_found" } }), ...missing },
  {
    name: "404 of a model that does not exist",
    behaviour: status(404, { error: { message: "The model `x` does not exist or you do not have access to it." } }),
    ...missing,
  },
  ...[405, 415, 451].map((code) => ({ name: String(code), behaviour: status(code), ...misconfigured })),
  { name: "304", behaviour: status(304), ...misconfigured },
];

const oneOutcome = { deactivation: { retry_limit: 1 } };

describe("one provider fails, another is up", () => {
  for (const { name, behaviour, calls, outcome, state } of rows) {
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
      capability: "generation.text-generation.chat-completion",
      pool: "chat",
      model: "b",
      provider: "b",
      delivery: "sync",
      replaced_provider: "a",
      rotation_reason: "auth",
      fallback_chain: [
        { model: "a", provider: "a", outcome: "auth", status: 401, ms: 0 },
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
  for (const { name, behaviour, calls, outcome, state, alone } of rows) {
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
  assertNotMatch(message, /Scripted|html|key-of-a|127\.0\.0\.1/);
  if (status === 502) assertMatch(message, /\ba \(/);
}

describe("the only provider is rate-limited and says nothing of when", () => {
  it("429 without Retry-After while its model stays active: another try is no use", async () => {
    await using scene = await stage({ a: status(429) });
    assertErrorSeen(await scene.ask(), limited);
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
      assertEquals(scene.states(), { a: voted, b: "active" });
      scene.upstreams.b!.follow(away);
      await scene.clock.advance(60_000);
      assertErrorSeen(await scene.ask(), failed);
      assertEquals(trap.connections, 0);
    });
  }
});
