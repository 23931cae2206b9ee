/** `/mesh/status` and `/mesh/events`: what a proxy says of itself, and to whom. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { fakeClock } from "../../src/runtime/test.ts";
import { startTestProxy, type TestProxy } from "../support/proxy.ts";
import { ok, startUpstream, status } from "../support/upstream.ts";

const tokens = [
  { token: "t-admin", name: "admin" },
  { token: "t-team", name: "team", pools: ["chat"], budget: { daily_limit: 5 } },
];

function createHeaders(token: string, more = {}): Record<string, string> {
  return { authorization: `Bearer ${token}`, "content-type": "application/json", ...more };
}

async function withProxy(test: (proxy: TestProxy) => Promise<void>): Promise<void> {
  await using a = await startUpstream(status(500));
  await using b = await startUpstream(ok());
  await using proxy = await startTestProxy({
    upstreams: { a: a.url, b: b.url },
    clock: fakeClock(),
    config: {
      models: {
        a: { provider: "a", pricing: { input: 0, output: 0 } },
        b: { provider: "b", pricing: { input: 1, output: 2 } },
      },
      pools: {
        chat: {
          models: ["a", "b"],
          strategy: "priority",
          model_priority: ["a", "b"],
          retry: { max_attempts: 0 },
          deactivation: { retry_limit: 1 },
        },
        other: { models: ["b"] },
      },
      budget: { monthly_limit: 10 },
      proxy: { auth: { method: "bearer", tokens } },
    },
  });
  await test(proxy);
}

/** Events of a stream, up to a number of them; then it is left. */
async function readEvents(proxy: TestProxy, count: number, headers: Record<string, string>) {
  const controller = new AbortController();
  const response = await fetch(`${proxy.url}/mesh/events`, { headers, signal: controller.signal });
  assertEquals(response.headers.get("content-type"), "text/event-stream");
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (text.split("\n\n").length <= count) text += (await reader.read()).value ?? "";
  controller.abort();
  await reader.cancel().catch(() => {});
  return text.split("\n\n").slice(0, count).map((event) => {
    const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(event)!;
    return { id: Number(id), record: JSON.parse(data!) };
  });
}

describe("/mesh/status", () => {
  it("has pools, providers, budgets and clients for an administrator", async () => {
    await withProxy(async (proxy) => {
      await (await proxy.chat({}, { headers: createHeaders("t-team") })).text();
      const state = await (await fetch(`${proxy.url}/mesh/status`, { headers: createHeaders("t-admin") })).json();
      assertMatch(state.version, /^\d/);
      assertEquals([state.uptime_seconds, state.in_flight], [0, 0]);
      assertEquals(Object.keys(state.pools), ["chat", "other"]);
      const [a, b] = state.providers;
      assertEquals([a.id, a.status, a.reason, a.active, a.total], ["a", "standby", "retry_limit", 0, 1]);
      assertEquals(b, { id: "b", status: "active", active: 2, total: 2 });
      assertMatch(a.retry_at, /^2026-01-01T00:01:00/);
      assertEquals(
        state.budgets.map((
          { scope, id, window, spent_usd, limit_usd }: Record<string, unknown>,
        ) => [scope, id, window, spent_usd, limit_usd]),
        [["all", "", "month", 0.00002, 10], ["client", "team", "day", 0.00002, 5]],
      );
      assertEquals(state.budgets[1].resets_at, "2026-01-02T00:00:00.000Z");
      assertEquals(state.clients, [{ name: "team", requests: 1, tokens_in: 10, tokens_out: 5, cost_usd: 0.00002 }]);
    });
  });

  it("has a limited client's own alone, and needs the token", async () => {
    await withProxy(async (proxy) => {
      await (await proxy.chat({}, { headers: createHeaders("t-admin") })).text();
      const own = await (await fetch(`${proxy.url}/mesh/status`, { headers: createHeaders("t-team") })).json();
      assertEquals(Object.keys(own.pools), ["chat"]);
      assertEquals(own.clients, undefined);
      const all = await (await fetch(`${proxy.url}/mesh/status`, { headers: createHeaders("t-admin") })).json();
      assertEquals([own.role, all.role, all.process], ["client", "administrator", undefined]);
      assertEquals(own.budgets.map(({ scope, id }: Record<string, unknown>) => [scope, id]), [["client", "team"]]);
      for (const path of ["status", "events"]) {
        const response = await fetch(`${proxy.url}/mesh/${path}`);
        assertEquals([response.status, (await response.json()).error.code], [401, "invalid_api_key"]);
      }
    });
  });
});

describe("/mesh/events", () => {
  it("has every record with an id, and those after Last-Event-ID first", async () => {
    await withProxy(async (proxy) => {
      await (await proxy.chat({}, { headers: createHeaders("t-team") })).text();
      const all = await readEvents(proxy, 6, createHeaders("t-admin", { "last-event-id": "0" }));
      const kinds = all.map(({ record }) => record.event ?? record.type);
      assertEquals(kinds, ["trace", "deactivation", "outage", "trace", "rotation", "routing"]);
      const rest = await readEvents(proxy, 1, createHeaders("t-admin", { "last-event-id": String(all[4]!.id) }));
      assertEquals(rest, all.slice(5));
    });
  });

  it("shows a limited client its own requests and its pools' states", async () => {
    await withProxy(async (proxy) => {
      await (await proxy.chat({}, { headers: createHeaders("t-admin") })).text();
      await (await proxy.chat({}, { headers: createHeaders("t-team") })).text();
      const own = await readEvents(proxy, 3, createHeaders("t-team", { "last-event-id": "0" }));
      assertEquals(own.map(({ record }) => record.event ?? record.client), ["deactivation", "rotation", "team"]);
    });
  });
});
