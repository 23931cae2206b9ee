/** Clients made at runtime, known to all proxies of a Redis. */
import { assert, assertEquals, assertFalse } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { openStorage } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { until } from "../support/patience.ts";
import {
  adminToken,
  type ClientResponse,
  clientsConfig,
  type ClientsProxy,
  clientsProxy,
  startClientsProxy,
} from "../support/_runtime_clients.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import { startSharedProxies } from "../support/shared_proxies.ts";
import { ok, startUpstream } from "../support/upstream.ts";

async function withProxies(
  test: (
    proxies: { one: ClientsProxy; other: ClientsProxy; redis: TestRedis; storage: Record<string, unknown> },
  ) => Promise<void>,
) {
  await using redis = await TestRedis.start();
  await using upstream = await startUpstream(ok());
  const storage = { connector: "redis.redis.v1", url: redis.url, prefix: crypto.randomUUID() };
  await using one = await startClientsProxy(clientsConfig(upstream, storage));
  await using other = await startClientsProxy(clientsConfig(upstream, storage));
  await test({ one, other, redis, storage });
}

async function made(proxy: ClientsProxy, facts: Record<string, unknown>): Promise<Required<ClientResponse>> {
  const { status, body } = await proxy.ask("POST ", facts);
  assertEquals(status, 201, JSON.stringify(body));
  return body as Required<ClientResponse>;
}

(hasRedis ? describe : describe.skip)("Proxies on a Redis", () => {
  it("list each other, and leave the list with their last word", async () => {
    await withProxies(async ({ one, other: { url }, storage }) => {
      const list = async (url: string) => {
        const response = await fetch(`${url}/mesh/processes`, { headers: { authorization: `Bearer ${adminToken}` } });
        return await response.json() as { current: string; data: { id: string }[] };
      };
      const { current } = await list(url);
      await until(async () => (await list(one.url)).data.some(({ id }) => id === current), "the other proxy is listed");
      await using upstream = await startUpstream(ok());
      const third = await startClientsProxy(clientsConfig(upstream, storage));
      const { current: last } = await list(third.url);
      await until(async () => (await list(url)).data.some(({ id }) => id === last), "the third proxy is listed");
      await third.running.stop();
      assertEquals((await list(url)).data.map(({ id }) => id).includes(last), false);
    });
  });
});

(hasRedis ? describe : describe.skip)("A client made at runtime, on a Redis", () => {
  it("is known to the other proxy, changed there, and revoked there; Redis has no token", async () => {
    await withProxies(async ({ one, other, storage: section }) => {
      const { id, token } = await made(one, { name: "app" });
      await until(async () => await other.chat(token) === 200, "the other proxy knows the client");
      const { body: { token: next = "" } } = await other.ask(`POST /${id}/rotate`);
      await until(async () => await one.chat(token) === 401, "the first proxy refuses the token before");
      assertEquals([await one.chat(next), await other.chat(token)], [200, 401]);
      await one.ask(`DELETE /${id}`);
      await until(async () => await other.chat(next) === 401, "the other proxy refuses what was revoked");
      const storage = await openStorage(section);
      for (const key of await storage.list()) {
        const text = new TextDecoder().decode(await storage.load(key));
        for (const secret of [token, next]) assertFalse(text.includes(secret.slice(3)), key);
      }
      await storage.close?.();
    });
  });

  it("is made and changed by administrators of both proxies at once, and nothing is lost; one of them gets a name", async () => {
    await withProxies(async ({ one, other }) => {
      const turn = (index: number) => index % 2 === 0 ? one : other;
      const names = Array.from({ length: 6 }, (_, index) => `app ${index}`);
      const clients = await Promise.all(names.map((name, index) => made(turn(index), { name })));
      await Promise.all(clients.flatMap(({ id }) => [
        one.ask(`PATCH /${id}`, { rpm: 7 }),
        other.ask(`PATCH /${id}`, { budget: { daily_limit: 3 } }),
      ]));
      const answers = await Promise.all([0, 1, 2, 3].map((index) => turn(index).ask("POST ", { name: "wanted" })));
      assertEquals(answers.map(({ status }) => status).sort(), [201, 400, 400, 400]);
      for (const proxy of [one, other]) {
        const { data } = (await proxy.ask<{ data: readonly ClientResponse[] }>("GET ")).body;
        assertEquals(data.map(({ name }) => name).sort(), [...names, "wanted"]);
        for (const { name, rpm, budget } of data.filter(({ name }) => name !== "wanted")) {
          assertEquals([rpm, budget], [7, { daily_limit: 3 }], name);
        }
      }
    });
  });

  it("spends its budget to the cent at both proxies together, also after it was raised", async () => {
    await using redis = await TestRedis.start();
    await using upstream = await startUpstream(ok());
    const { models } = clientsConfig(upstream, undefined);
    const options = { upstreams: { a: upstream.url }, config: { models }, pool: { retry: { max_attempts: 0 } } };
    const clock = fakeClock({ skipSleeps: true }); // it stands still but for sleeps: Redis is waited for
    await using proxies = await startSharedProxies({ redis, clock, ...options });
    const [one, other] = proxies.map(({ url }) => clientsProxy(url)) as [ClientsProxy, ClientsProxy];
    const { id, token } = await made(one, { name: "app", budget: { daily_limit: 3 } });
    const known = async () => (await proxies.clock.advance(400), await other.chat(token) === 200);
    await until(known, "the other proxy knows the client");
    const statuses = await Promise.all(Array.from({ length: 12 }, (_, at) => (at % 2 ? one : other).chat(token)));
    assertEquals(statuses.filter((status) => status === 200).length, 2);
    await one.ask(`PATCH /${id}`, { budget: { daily_limit: 4 } });
    assertEquals([await one.chat(token), await one.chat(token)], [200, 429]);
  });

  it("is known after an outage of Redis as it was before, and a change during it is a 503", async () => {
    await withProxies(async ({ one, other, redis }) => {
      const { token } = await made(one, { name: "app" });
      await until(async () => await other.chat(token) === 200);
      await redis.kill();
      const { status, body } = await one.ask<{ error: { code: string } }>("POST ", { name: "late" });
      assertEquals([status, body.error.code], [503, "storage_unavailable"]);
      assert((await Promise.all([one, other].map((proxy) => proxy.chat(token)))).every((status) => status === 200));
    });
  });

  it("is there again after a Redis without persistence was started anew; one that is revoked meanwhile is not", async () => {
    await withProxies(async ({ one, other, redis, storage: section }) => {
      const [app, gone] = [await made(one, { name: "app" }), await made(one, { name: "gone" })];
      for (const { token } of [app, gone]) await until(async () => await other.chat(token) === 200);
      await redis.kill();
      await redis.start();
      await until(async () => (await one.ask(`DELETE /${gone.id}`)).status === 200, "it is revoked");
      await until(async () => await other.chat(gone.token) === 401, "the other proxy refuses it");
      const storage = await openStorage(section);
      await until(() => storage.exists("clients"));
      await using upstream = await startUpstream(ok());
      await using next = await startClientsProxy(clientsConfig(upstream, section));
      await until(async () => await next.chat(app.token) === 200, "a new proxy knows the client");
      assertEquals([await next.chat(gone.token), await other.chat(gone.token)], [401, 401]);
      await storage.close?.();
    });
  });
});
