import { assert, assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ModelMesh } from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { BudgetExceededError } from "../../src/errors.ts";
import { toErrorRow } from "../../src/proxy/error_body.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { assertRefused, assertRequestId, getRaw, goodBody, type Refused } from "../support/_surface.ts";
import { startTestProxy, testConfig, type TestProxy, type TestProxyOptions } from "../support/proxy.ts";
import { type Behaviour, Gate, hang, respond, startUpstream, status, stream } from "../support/upstream.ts";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const serverError = "server_error";

/** A refusal that comes of what every model of the pool answers. */
interface UpstreamRow {
  readonly what: string;
  /** One model for each. */
  readonly upstreams: readonly Behaviour[];
  readonly pool?: Readonly<Record<string, unknown>>;
  readonly refused: Refused;
}

const quota = { code: "insufficient_quota", type: "insufficient_quota" };
const rateLimited = (retryAfter: string) => status(429, { headers: { "retry-after": retryAfter } });
const theirs = { message: "No such tool", type: "their_type", param: "tools[0]", code: "their_code" };

const upstreamRows: readonly UpstreamRow[] = [
  ...[400, 413, 422].map((code): UpstreamRow => ({
    what: `every model answers ${code}: the first one's words`,
    upstreams: [status(code, { error: theirs }), status(400, { error: { message: "Another" } })],
    refused: { status: code, type: "their_type", code: "their_code", param: "tools[0]" },
  })),
  {
    what: "every model refuses our key",
    upstreams: [status(401), status(403)],
    refused: { status: 502, type: serverError, code: "upstream_auth_error", headers: { "x-should-retry": "false" } },
  },
  {
    what: "every model is rate-limited for a while",
    upstreams: [rateLimited("30"), rateLimited("40")],
    refused: {
      status: 429,
      type: "rate_limit_error",
      code: "rate_limit_exceeded",
      headers: { "retry-after": "30", "retry-after-ms": "30000", "x-should-retry": null },
    },
  },
  {
    what: "every model is rate-limited for over a minute",
    upstreams: [rateLimited("61")],
    refused: {
      status: 429,
      type: "rate_limit_error",
      code: "rate_limit_exceeded",
      headers: { "retry-after": "61", "retry-after-ms": "61000", "x-should-retry": "false" },
    },
  },
  {
    what: "every quota is exhausted",
    upstreams: [status(429, { error: quota }), status(402)],
    refused: {
      status: 429,
      type: "insufficient_quota",
      code: "insufficient_quota",
      headers: { "retry-after": "86400", "x-should-retry": "false" }, // the clock stands at midnight UTC
    },
  },
  {
    what: "every attempt fails, one way or another",
    upstreams: [status(500), status(404), status(401), status(302, { headers: { location: "/" } })],
    refused: { status: 502, type: serverError, code: "all_attempts_failed", headers: { "x-should-retry": "false" } },
  },
];

/** Runs a test against a proxy over upstreams that behave like this. */
async function withProxy(
  behaviours: readonly Behaviour[],
  options: Omit<TestProxyOptions, "upstreams">,
  test: (proxy: TestProxy, calls: () => number) => Promise<void>,
): Promise<void> {
  const upstreams = await Promise.all(behaviours.map((behaviour) => startUpstream(behaviour)));
  try {
    const urls = Object.fromEntries(upstreams.map(({ url }, place) => [`model-${place}`, url]));
    await using proxy = await startTestProxy({ ...options, upstreams: urls });
    await test(proxy, () => upstreams.reduce((sum, { calls }) => sum + calls, 0));
  } finally {
    for (const upstream of upstreams) await upstream.close();
  }
}

describe("A request that no model serves", () => {
  for (const { what, upstreams, pool, refused } of upstreamRows) {
    for (const stream of [false, true]) {
      it(`is refused in OpenAI's words: ${what}${stream ? ", streaming" : ""}`, async () => {
        await withProxy(upstreams, { pool }, async (proxy, calls) => {
          const response = await proxy.chat({ stream });
          assertEquals(response.headers.get("x-mesh-pool"), "chat");
          assertEquals(response.headers.get("x-mesh-attempts"), String(calls()));
          const { message } = await assertRefused(response, refused, what);
          if (refused.type === "their_type") assertEquals(message, theirs.message);
          if (refused.status === 502) upstreams.forEach((_, at) => assertStringIncludes(message, `model-${at}`));
          if (refused.status === 502) {
            assertNotMatch(message, /Scripted|http:|key-of/, "no bodies, URLs or keys");
          }
        });
      });
    }
  }

  it("names the soonest recovery once every model is in standby", async () => {
    for (const [cooldown, seconds, shouldRetry] of [["60s", "60", null], ["61s", "61", "false"]] as const) {
      const pool = { deactivation: { retry_limit: 1 }, recovery: { cooldown }, retry: { max_attempts: 0 } };
      await withProxy([status(500)], { pool }, async (proxy, calls) => {
        await assertRefused(await proxy.chat(), { status: 502, type: serverError, code: "all_attempts_failed" });
        const headers = {
          "retry-after": seconds,
          "retry-after-ms": `${seconds}000`,
          "x-should-retry": shouldRetry,
          "x-mesh-attempts": "0",
        };
        const refused = { status: 503, type: serverError, code: "no_active_model", headers };
        const { message } = await assertRefused(await proxy.chat(), refused, cooldown);
        assertStringIncludes(message, "retry_limit");
        assertEquals(calls(), 1);
      });
    }
  });

  it("answers 504 at the deadline", async () => {
    const clock = fakeClock({ skipSleeps: true });
    await using upstream = await startUpstream(hang());
    const config = { proxy: { request_timeout: "5s" } };
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, clock, config });
    for (const stream of [false, true]) {
      const response = proxy.chat({ stream });
      await upstream.received(stream ? 2 : 1);
      await clock.advance(5000);
      await assertRefused(await response, { status: 504, type: serverError, code: "timeout" });
    }
  });

  it("reads what the pool lacks: a feature, a delivery mode", async () => {
    await using upstream = await startUpstream(respond());
    const models = {
      a: { provider: "a", features: { tool_calling: false }, delivery: { streaming: false } },
    };
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, config: { models } });
    const tools = [{ type: "function", function: { name: "look" } }];
    await assertRefused(await proxy.chat({ tools }), { status: 400, code: "unsupported_by_pool" });
    await assertRefused(await proxy.chat({ stream: true }), {
      status: 400,
      code: "unsupported_by_pool",
      param: "model",
    });
    assertEquals(upstream.calls, 0);
    assertEquals((await (await proxy.chat({ tools: [] })).json()).object, "chat.completion");
  });

  it("is refused when every budget is spent, with the start of the next window", () => {
    const { status, body, headers } = toErrorRow(new BudgetExceededError("Spent", 7_200_000), "id");
    assertEquals({ status, type: body.error.type, code: body.error.code }, {
      status: 429,
      type: "insufficient_quota",
      code: "budget_exceeded",
    });
    assertEquals(headers, { "retry-after": "7200", "retry-after-ms": "7200000", "x-should-retry": "false" });
  });
});

describe("The proxy's own refusals", () => {
  it("503 over its limit of requests at once, until one of them is over", async () => {
    await using upstream = await startUpstream([hang(), respond()]);
    const config = { proxy: { max_concurrent: 1 } };
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, config });
    const leaving = new AbortController();
    const first = proxy.chat({}, { signal: leaving.signal }).catch(() => "left");
    const { closed } = await upstream.received(1);
    const headers = { "retry-after": "1", "retry-after-ms": "1000", "x-should-retry": null };
    await assertRefused(await proxy.chat(), { status: 503, type: serverError, code: "overloaded", headers });
    assertEquals((await (await fetch(`${proxy.url}/v1/models`)).json()).object, "list", "a list is no work");
    leaving.abort();
    assertEquals(await first, "left");
    await closed;
    for (const stream of [false, false, true, true]) {
      const response = await proxy.chat({ stream });
      assertEquals(response.status, 200, "every kind of answer gives its place back");
      assertEquals((await response.text()).includes("Hello"), true);
    }
    const gate = new Gate();
    gate.open(2);
    upstream.follow([stream({ gate }), respond()]);
    await (await proxy.chat({ stream: true })).body!.cancel();
    await upstream.requests[5]!.closed;
    assertEquals((await (await proxy.chat()).json()).object, "chat.completion");
    assertEquals(upstream.calls, 7);
  });

  it("503 while it is about to stop", async () => {
    await using upstream = await startUpstream(respond());
    const mesh = new ModelMesh();
    await mesh.initialize(testConfig({ upstreams: { a: upstream.url } }));
    const handler = createHandler(mesh, { isStopping: () => true });
    const request = new Request("http://localhost/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify(goodBody),
      headers: { "content-type": "application/json" },
    });
    const headers = { "retry-after": "1", "retry-after-ms": "1000" };
    await assertRefused(await handler(request), { status: 503, type: serverError, code: "shutting_down", headers });
    assertEquals(upstream.calls, 0);
    await mesh.close();
  });

  it("500 for a bug of ours, with the request id and without a stack", async () => {
    const mesh = new ModelMesh();
    getEngine(mesh).perform = () => Promise.reject(new TypeError("secret-of-the-stack is not a function"));
    const traces: unknown[] = [];
    mesh.addSink({ emit: () => {}, trace: (entry) => traces.push(entry), flush: () => Promise.resolve() });
    await mesh.initialize(testConfig({ upstreams: { a: "http://127.0.0.1:9/v1" } }));
    const request = new Request("http://localhost/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify(goodBody),
      headers: { "content-type": "application/json", "x-request-id": "find-me" },
    });
    const refused = { status: 500, type: serverError, code: "internal_error", headers: { "x-request-id": "find-me" } };
    const { message } = await assertRefused(await createHandler(mesh)(request), refused);
    assertStringIncludes(message, "find-me");
    assertNotMatch(message, /secret-of-the-stack|TypeError|\.ts/);
    const [trace] = traces as [{ severity: string; request_id: string; message: string }];
    assertEquals([trace.severity, trace.request_id], ["error", "find-me"]);
    assertStringIncludes(trace.message, "secret-of-the-stack");
    await mesh.close();
  });
});

describe("x-request-id", () => {
  it("is the client's own when it is 1 to 128 visible ASCII characters, else a UUID", async () => {
    await using upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    for (const own of ["x", "!~", "a".repeat(128), "req_0123/=+"]) {
      assertEquals((await getRaw(proxy.url, "/live", [`X-Request-Id: ${own}`])).headers.get("x-request-id"), own);
    }
    for (const other of ["", "a b", "a".repeat(129), "a\tb", "\u00e9"]) {
      assertMatch(assertRequestId((await getRaw(proxy.url, "/live", [`X-Request-Id: ${other}`])).headers), uuid);
    }
    const [one, two] = await Promise.all([1, 2].map(() => getRaw(proxy.url, "/live")));
    assert(one!.headers.get("x-request-id") !== two!.headers.get("x-request-id"));
  });

  it("is on every kind of response, and in its record", async () => {
    await using upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    const headers = { "x-request-id": "mine", "content-type": "application/json" };
    for (const stream of [false, true]) {
      const response = await proxy.chat({ stream }, { headers });
      assertEquals(response.headers.get("x-request-id"), "mine");
      await response.body?.cancel();
    }
    assertEquals(proxy.records.flatMap((record) => record.type === "routing" ? record.request_id : []), [
      "mine",
      "mine",
    ]);
    for (const path of ["/health", "/ready", "/live", "/v1/models", "/v1/models/chat", "/v1/models/x", "/nothing"]) {
      const response = await fetch(proxy.url + path, { headers });
      assertEquals(response.headers.get("x-request-id"), "mine", path);
      await response.body?.cancel();
    }
    const preflight = { ...headers, origin: "http://localhost", "access-control-request-method": "POST" };
    const response = await fetch(`${proxy.url}/v1/chat/completions`, { method: "OPTIONS", headers: preflight });
    assertEquals([response.status, response.headers.get("x-request-id")], [204, "mine"]);
  });
});
