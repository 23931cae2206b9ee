/** Ten thousand clients in memory, and clients under one configuration after the other. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Engine } from "../../src/engine/engine.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { RuntimeClients } from "../../src/proxy/clients/runtime_clients.ts";
import { sha256 } from "../../src/util/sha256.ts";
import { goodBody } from "../support/_surface.ts";
import { clientsConfig, clientsProxy, tempFolder } from "../support/_runtime_clients.ts";
import { type OnFile, startOnFile } from "../support/_renewed.ts";
import { until } from "../support/patience.ts";
import { startTestProxy } from "../support/proxy.ts";
import { ok, startUpstream } from "../support/upstream.ts";

/** Runs a task and counts the look-ups and walks in maps meanwhile. */
function countingMaps(task: () => void): { lookups: number; walks: number } {
  const counts = { lookups: 0, walks: 0 };
  const { get, forEach, values, keys, entries } = Map.prototype;
  const iterator = Map.prototype[Symbol.iterator];
  const walk = (original: () => unknown) =>
    function (this: Map<unknown, unknown>, ...args: []) {
      counts.walks++;
      return original.apply(this, args);
    };
  Object.assign(Map.prototype, {
    get(this: Map<unknown, unknown>, key: unknown) {
      counts.lookups++;
      return get.call(this, key);
    },
    ...Object.fromEntries(
      Object.entries({ forEach, values, keys, entries }).map(([name, one]) => [name, walk(one as () => unknown)]),
    ),
    [Symbol.iterator]: walk(iterator),
  });
  try {
    task();
  } finally {
    Object.assign(Map.prototype, { get, forEach, values, keys, entries, [Symbol.iterator]: iterator });
  }
  return counts;
}

async function withClients(count: number, test: (clients: RuntimeClients, mesh: Engine, hashed: () => number) => void) {
  await using folder = await tempFolder();
  const path = `${folder.path}/state.json`;
  const stored = Array.from({ length: count }, (_, index) => ({
    id: `client_${index}`,
    name: `app ${index}`,
    created_at: "2026-01-01T00:00:00.000Z",
    budget: { daily_limit: 1 },
    token_sha256: sha256(`mm_${index}`),
  }));
  await Deno.writeTextFile(`${path}.clients`, JSON.stringify({ version: 1, clients: stored, revoked: [] }));
  await using proxy = await startTestProxy({
    upstreams: {},
    config: clientsConfig({ url: "http://127.0.0.1:9/v1" }, { path }),
  });
  let hashed = 0;
  const clients = new RuntimeClients((text) => {
    hashed++;
    return sha256(text);
  });
  const mesh = getEngine(proxy.mesh);
  await clients.use(mesh);
  test(clients, mesh, () => hashed);
}

describe("Ten thousand clients", () => {
  it("cost a request what one client costs: a hash and a look-up; only those that ask have counts", async () => {
    const work: unknown[] = [];
    for (const count of [1, 10_000]) {
      await withClients(count, (clients, mesh, hashed) => {
        assertEquals(clients.findCaller(`mm_${count - 1}`)?.client?.name, `app ${count - 1}`);
        const before = hashed();
        const again = countingMaps(() => assert(clients.findCaller(`mm_${count - 1}`)));
        const unknown = countingMaps(() => assertEquals(clients.findCaller("mm_unknown"), undefined));
        work.push({ again, unknown, hashes: hashed() - before, budgets: mesh.state.budgetScopes.size });
      });
    }
    const each = { lookups: 1, walks: 0 };
    assertEquals(work[0], { again: each, unknown: each, hashes: 2, budgets: 1 });
    assertEquals(work[1], work[0]);
  });
});

describe("A client made at runtime", () => {
  const app = { name: "app", budget: { daily_limit: 2 }, rpm: 3 };

  async function onFile(test: (started: OnFile, token: string, config: Record<string, unknown>) => Promise<void>) {
    await using upstream = await startUpstream(ok());
    await using folder = await tempFolder();
    const config = clientsConfig(upstream, { path: `${folder.path}/state.json` });
    await using started = await startOnFile(folder.path, config);
    const { body: { token = "" } } = await clientsProxy(started.proxy.url).ask("POST ", app);
    await test(started, token, config);
  }

  it("keeps its token, its rate and its spending over a reload", async () => {
    await onFile(async (started, token, config) => {
      assertEquals(await started.ask(token), 200);
      await started.renew({ ...config, aliases: { other: "chat" } });
      assertEquals([await started.ask(token), await started.ask(token)], [200, 429]);
    });
  });

  it("may be given a priority in queues, which holds at once", async () => {
    await onFile(async ({ proxy: { url } }, token) => {
      const { ask } = clientsProxy(url);
      const { body: { data: [client] } } = await ask<{ data: { id: string }[] }>("GET ");
      const change = (priority: unknown) => ask(`PATCH /${client!.id}`, { priority });
      const send = async (priority: string) => {
        const { status, body } = await fetch(`${url}/v1/chat/completions`, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            authorization: `Bearer ${token}`,
            "x-mesh-priority": priority,
          },
          body: JSON.stringify(goodBody),
        });
        await body?.cancel();
        return status;
      };
      assertEquals(await send("1"), 400);
      assertEquals((await change(5)).body.priority, 5);
      assertEquals([await send("6"), await send("5")], [400, 200]);
      assertEquals([(await change(101)).status, (await change("high")).status], [400, 400]);
      assertEquals((await change(null)).body.priority, undefined);
      assertEquals(await send("5"), 400);
    });
  });

  it("is refused once the storage is gone from the configuration, and known again with it", async () => {
    await onFile(async (started, token, config) => {
      const { storage: _, ...without } = config;
      await started.renew(without);
      assertEquals(await started.ask(token), 401);
      await started.renew(config);
      await until(async () => await started.ask(token) === 200, "the client is known again");
    });
  });

  it("keeps its own limits beside a client to which the configuration gives its name later", async () => {
    await onFile(async (started, token, config) => {
      const auth = { tokens: [{ token: "t-other-0123456789", name: "app", rpm: 1 }] };
      await started.renew({ ...config, proxy: { auth } });
      const other = "t-other-0123456789";
      assertEquals([await started.ask(other), await started.ask(token), await started.ask(other)], [200, 200, 429]);
    });
  });
});
