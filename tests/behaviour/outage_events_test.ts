/** The event `outage`: a pool or a provider has no active model left, or has one again. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { MeshEvent } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { until } from "../support/patience.ts";
import { startTestProxy, type TestProxy } from "../support/proxy.ts";
import { json, respond, startUpstream, status } from "../support/upstream.ts";

/** Outages in short: whose, what it is now, why. */
function listOutages(records: readonly { readonly type: string }[]): string[] {
  return records.flatMap((record) => {
    const { type, event, pool, provider, to, reason } = record as MeshEvent;
    if (type !== "event" || event !== "outage") return [];
    return `${pool === undefined ? `provider ${provider}` : `pool ${pool}`} ${to}: ${reason}`;
  });
}

/** Two providers with a model each; whatever fails goes into standby for a minute, in the pool that it failed in. */
async function withProxy(
  config: Readonly<Record<string, unknown>>,
  test: (proxy: TestProxy, ask: (model?: string) => Promise<number>) => Promise<void>,
): Promise<void> {
  await using a = await startUpstream(status(500));
  await using b = await startUpstream(respond());
  await using proxy = await startTestProxy({
    upstreams: { a: a.url, b: b.url },
    clock: fakeClock({ skipSleeps: true }),
    pool: { retry: { max_attempts: 0 }, deactivation: { retry_limit: 1 } },
    config,
  });
  await test(proxy, async (model = "chat") => {
    const response = await proxy.chat({ model });
    await response.text();
    return response.status;
  });
}

const pool = { retry: { max_attempts: 0 }, deactivation: { retry_limit: 1 } };

describe("The event of an outage", () => {
  it("is a provider's when its last active model is in standby, and when one is back; the pool goes on", () =>
    withProxy({}, async (proxy, ask) => {
      assertEquals(await ask(), 200);
      assertEquals(listOutages(proxy.records), ["provider a down: retry_limit"]);
      await proxy.clock.advance(60_000);
      assertEquals(listOutages(proxy.records), ["provider a down: retry_limit", "provider a up: retry_limit"]);
    }));

  it("is a provider's only once it has no active model in any pool", () => {
    const pools = { one: { models: ["a"], ...pool }, other: { models: ["a"], ...pool } };
    return withProxy({ pools }, async (proxy, ask) => {
      assertEquals(await ask("one"), 502);
      assertEquals(listOutages(proxy.records), ["pool one down: retry_limit"]);
      await proxy.clock.advance(10_000);
      assertEquals(await ask("other"), 502);
      const down = ["pool one down: retry_limit", "pool other down: retry_limit", "provider a down: retry_limit"];
      assertEquals(listOutages(proxy.records), down);
      await proxy.clock.advance(50_000);
      assertEquals(listOutages(proxy.records).slice(3), ["pool one up: retry_limit", "provider a up: retry_limit"]);
    });
  });

  it("is both, each once, when an operator deactivates the last model, and both when it is activated", () =>
    withProxy({}, async (proxy) => {
      for (const id of ["b", "a"]) {
        proxy.mesh.deactivate(id);
        await Promise.resolve();
      }
      assertEquals(listOutages(proxy.records), [
        "provider b down: manual",
        "pool chat down: manual",
        "provider a down: manual",
      ]);
      proxy.mesh.activate("a");
      await Promise.resolve();
      assertEquals(listOutages(proxy.records).slice(3), ["pool chat up: manual", "provider a up: manual"]);
    }));

  it("goes to webhooks", async () => {
    await using hook = await startUpstream(json({}));
    const routing = { connector: "mesh.webhook.v1", url: hook.url };
    await withProxy({ observability: { routing, events: { filter: ["outage"] } } }, async (_proxy, ask) => {
      await ask();
      await until(() => hook.requests.length === 1, "the receiver has it");
      assertEquals(listOutages(hook.requests.map(({ body }) => JSON.parse(body))), ["provider a down: retry_limit"]);
    });
  });

  it("is an administrator's to see, but for the pools of a client", () => {
    const admin = "of-the-admin-0123456789";
    const client = "of-the-app-0123456789";
    const tokens = [admin, { token: client, name: "app", pools: ["chat"] }];
    return withProxy({ proxy: { auth: { tokens } } }, async (proxy) => {
      await fetch(`${proxy.url}/live`).then((response) => response.text()); // from the first request on they are kept
      for (const id of ["b", "a"]) proxy.mesh.deactivate(id);
      const seen = async (token: string) => {
        const headers = { authorization: `Bearer ${token}`, "last-event-id": "0" };
        const reader = (await fetch(`${proxy.url}/mesh/events`, { headers })).body!.getReader();
        const { value } = await reader.read();
        await reader.cancel();
        const lines = new TextDecoder().decode(value).split("\n").filter((line) => line.startsWith("data: "));
        return listOutages(lines.map((line) => JSON.parse(line.slice(6))));
      };
      assertEquals((await seen(admin)).length, 3);
      assertEquals(await seen(client), ["pool chat down: manual"]);
    });
  });
});
