/** The event `budget`: a budget has reached a step of `alert_at`, once in each window. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, MeshConfig, type MeshEvent } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { makeFolder } from "../support/_library.ts";
import { startTestProxy, testConfig, type TestProxy } from "../support/proxy.ts";
import { until } from "../support/patience.ts";
import { json, ok, startUpstream, type Upstream } from "../support/upstream.ts";

const messages = [{ role: "user" as const, content: "Hi" }];
const noon = Date.UTC(2026, 0, 1, 12);
const token = "of-the-app-0123456789";
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

/** One dollar a request, whatever it says. */
const dollars = (price: number) => ({
  models: {
    a: { provider: "a", capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request: price } },
  },
});

/** Budget events in short: whose, which window, step, spent. */
function listAlerts(records: readonly { readonly type: string }[]): string[] {
  return records.flatMap((record) => {
    const { type, event, metadata } = record as MeshEvent;
    if (type !== "event" || event !== "budget") return [];
    const { scope, id, window, step, spent, limit } = metadata as Record<string, string>;
    return `${scope} ${id} ${window} ${step}: ${spent} of ${limit}`;
  });
}

interface Setup {
  readonly price?: number;
  readonly provider?: object;
  readonly pool?: object;
  readonly config?: object;
}

async function withProxy(
  { price = 1, provider, pool, config }: Setup,
  test: (proxy: TestProxy, ask: (times?: number) => Promise<void>, upstream: Upstream) => Promise<void>,
): Promise<void> {
  await using upstream = await startUpstream(ok());
  await using proxy = await startTestProxy({
    upstreams: { a: upstream.url },
    clock: fakeClock({ now: noon, skipSleeps: true }),
    ...(provider && { provider: provider as Record<string, unknown> }),
    ...(pool && { pool: pool as Record<string, unknown> }),
    config: { ...dollars(price), proxy: { auth: { tokens: [{ token, name: "app" }] } }, ...config },
  });
  const ask = async (times = 1) => {
    for (let time = 0; time < times; time++) await (await proxy.chat({}, { headers })).text();
  };
  await test(proxy, ask, upstream);
}

const ten = { daily_limit: 10 };
const app = { auth: { tokens: [{ token, name: "app", budget: ten }] } };

describe("The event of a budget", () => {
  const scopes: Record<string, Setup> = {
    "provider a": { provider: { budget: ten } },
    "pool chat": { pool: { budget: ten } },
    "client app": { config: { proxy: app } },
    "all ": { config: { budget: ten } },
  };
  for (const [scope, setup] of Object.entries(scopes)) {
    it(`comes once for each step of each window: ${scope}`, () =>
      withProxy(setup, async (proxy, ask) => {
        await ask(4);
        assertEquals(listAlerts(proxy.records), []);
        await ask(8);
        const day = (step: number, spent: number) => `${scope} day ${step}: ${spent} of 10`;
        assertEquals(listAlerts(proxy.records), [day(0.5, 5), day(0.8, 8), day(1, 10)]);
        await proxy.clock.advance(12 * 3_600_000);
        await ask(6);
        assertEquals(listAlerts(proxy.records).slice(3), [day(0.5, 5)]);
      }));
  }

  it("has what was spent, the limit and the end of the window, and says so in a trace", () =>
    withProxy({ pool: { budget: { monthly_limit: 2, alert_at: [1] } } }, async (proxy, ask) => {
      const traces: string[] = [];
      proxy.mesh.addSink({
        emit() {},
        trace: ({ message }) => void traces.push(message),
        flush: () => Promise.resolve(),
      });
      await ask(2);
      const [event] = proxy.records.filter((one) => one.type === "event" && one.event === "budget") as MeshEvent[];
      const { id, timestamp, ...facts } = event!;
      assertMatch(`${id} ${timestamp}`, /^[\w-]{20,} 2026-01-01T12:00:00/);
      assertEquals(facts, {
        type: "event",
        event: "budget",
        pool: "chat",
        provider: "a",
        reason: "alert_at",
        metadata: {
          scope: "pool",
          id: "chat",
          step: 1,
          window: "month",
          spent: 2,
          limit: 2,
          window_end: "2026-02-01T00:00:00.000Z",
        },
      });
      assertEquals(
        traces.filter((message) => message.includes("budget")),
        ['The budget of the pool "chat" has spent 100 % of its limit of this month'],
      );
    }));

  it("comes for each step that one request passes, at the steps of alert_at, in any order", () =>
    withProxy({ price: 9, config: { budget: { ...ten, alert_at: [0.9, 0.25, 0.9, 0.95] } } }, async (proxy, ask) => {
      await ask();
      assertEquals(listAlerts(proxy.records), ["all  day 0.25: 9 of 10", "all  day 0.9: 9 of 10"]);
    }));

  it("comes once with requests at once, and not at all with an empty list, a limit of 0 or no limit", async () => {
    await withProxy({ config: { budget: ten } }, async (proxy, ask) => {
      await Promise.all(Array.from({ length: 10 }, () => ask()));
      assertEquals(listAlerts(proxy.records).length, 3);
    });
    for (const budget of [{ ...ten, alert_at: [] }, { daily_limit: 0 }]) {
      await withProxy({ config: { budget } }, async (proxy, ask) => {
        await ask(10);
        assertEquals(listAlerts(proxy.records), []);
      });
    }
  });

  it("goes to webhooks", async () => {
    await using hook = await startUpstream(json({}));
    const routing = { connector: "mesh.webhook.v1", url: hook.url };
    const setup = { config: { budget: ten, observability: { routing, events: { filter: ["budget"] } } } };
    await withProxy(setup, async (proxy, ask) => {
      await ask(5);
      await until(() => hook.requests.length === 1);
      assertEquals(listAlerts(hook.requests.map(({ body }) => JSON.parse(body))), ["all  day 0.5: 5 of 10"]);
      assertEquals(listAlerts(proxy.records).length, 1);
    });
  });

  it("does not come again after a restart on the same state", async () => {
    await using folder = await makeFolder();
    await using upstream = await startUpstream(ok());
    const storage = { path: `${folder.path}/state.json` };
    const config = testConfig({ upstreams: { a: upstream.url }, config: { ...dollars(1), budget: ten, storage } });
    const alerts: string[][] = [];
    for (const times of [6, 1, 2]) {
      const records: { type: string }[] = [];
      const clock = fakeClock({ now: noon, skipSleeps: true });
      await using client = create({ config, clock, on: (record) => void records.push(record) });
      for (let time = 0; time < times; time++) await client.chat.completions.create({ messages });
      alerts.push(listAlerts(records));
    }
    assertEquals(alerts, [["all  day 0.5: 5 of 10"], [], ["all  day 0.8: 8 of 10"]]);
  });

  it("is shown to the client whose budget it is, and to administrators", () => {
    const tokens = [
      { token: "of-the-admin-0123456789", name: "admin" },
      { token, name: "app", pools: ["chat"], budget: ten },
      { token: "of-another-0123456789", name: "other", pools: ["chat"] },
    ];
    const setup = { pool: { budget: ten }, config: { budget: ten, proxy: { auth: { tokens } } } };
    return withProxy(setup, async (proxy, ask) => {
      await ask(5);
      const seen = async (one: string) => {
        const response = await fetch(`${proxy.url}/mesh/events`, {
          headers: { authorization: `Bearer ${one}`, "last-event-id": "0" },
        });
        const reader = response.body!.getReader();
        const { value } = await Promise.race([reader.read(), proxy.clock.advance(16_000).then(() => reader.read())]);
        await reader.cancel();
        const lines = new TextDecoder().decode(value).split("\n").filter((line) => line.startsWith("data: "));
        return listAlerts(lines.map((line) => JSON.parse(line.slice(6)))).map((alert) => alert.split(" day")[0]);
      };
      assertEquals((await seen(tokens[0]!.token)).toSorted(), ["all ", "client app", "pool chat"]);
      assertEquals(await seen(tokens[1]!.token), ["client app"]);
      assertEquals(await seen(tokens[2]!.token), []);
    });
  });

  it("has steps above 0 and up to 1; without a limit they are warned of", () => {
    const providers = { a: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:9/v1" } };
    const parse = (alert_at: unknown) =>
      MeshConfig.parse({
        providers,
        models: { a: { provider: "a", pricing: { input: 1, output: 1 } } },
        budget: { alert_at },
      });
    assertEquals(parse([0.5]).warnings.map(({ path }) => path), ["budget.alert_at"]);
    for (const bad of [[0], [1.1], ["half"], 0.5]) {
      let problem = "";
      try {
        parse(bad);
      } catch (error) {
        problem = String(error);
      }
      assertMatch(problem, /budget\.alert_at/);
    }
  });
});
