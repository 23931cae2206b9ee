/** Usage as rows in a real PostgreSQL: of two proxies, by hour, added once, and dropped by days. */
import { assertEquals, assertRejects } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { serve } from "../../proxy.ts";
import { readPostgresPlan } from "../../connectors/storage/_postgres_address.ts";
import { PostgresStorage } from "../../connectors/storage/postgres.ts";
import type { AddedUsage } from "../../src/contracts/storage.ts";
import { ConnectorError } from "../../src/errors.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { DailyUsage } from "../../src/proxy/usage/daily_usage.ts";
import { until } from "../support/patience.ts";
import { hasPostgres, TestPostgres } from "../support/postgres.ts";
import { adminToken, clientsConfig, startClientsProxy } from "../support/_runtime_clients.ts";
import { json, startUpstream } from "../support/upstream.ts";

const runtime = serverRuntime();
const open: PostgresStorage[] = [];
let server: TestPostgres;

function createStorage(schema: string): PostgresStorage {
  const storage = new PostgresStorage(runtime, { plan: readPostgresPlan({ url: server.url, schema }) });
  open.push(storage);
  return storage;
}

const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "a",
  service_tier: "priority",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
};

const row = (hour: string, more: Partial<AddedUsage> = {}): AddedUsage => ({
  hour,
  pool: "chat",
  tags: [],
  amounts: [1, 10, 20, 300],
  ...more,
});

const id = () => crypto.randomUUID();

(hasPostgres ? describe : describe.skip)("usage in a PostgreSQL", () => {
  beforeAll(async () => void (server = await TestPostgres.start()));
  afterAll(async () => {
    for (const storage of open) await storage.close();
    await server[Symbol.asyncDispose]();
  });

  it("of a client is the sum of all proxies, stored by hour, client, pool, model and tier", async () => {
    await using upstream = await startUpstream(json(completion));
    const config = clientsConfig(upstream, server.storage);
    await using one = await startClientsProxy(config);
    await using other = await startClientsProxy(config);
    const { body: { id, token = "" } } = await one.ask("POST ", { name: "app" });
    await until(async () => await other.chat(token) === 200, "the other proxy knows the client");
    await Promise.all([one, other, one].map((proxy) => proxy.chat(token)));
    const read = async (path: string) => {
      const response = await fetch(`${one.url}${path}`, { headers: { authorization: `Bearer ${adminToken}` } });
      return (await response.json()).data;
    };
    await until(
      async () => (await read(`/mesh/clients/${id}/usage`))[0]?.requests === 4,
      "all are known to one of them",
    );
    const [day] = await read(`/mesh/clients/${id}/usage`);
    assertEquals([day.pool, day.tokens_in, day.tokens_out, day.cost_usd], ["chat", 20, 8, 4]);
    assertEquals((await read("/mesh/usage?by=client,model")).at(-1), {
      client: "app",
      model: "a",
      requests: 4,
      tokens_in: 20,
      tokens_out: 8,
      cost_usd: 4,
    });
    const stored = server.sql(`SELECT client, client_id, pool, model, tier, sum(requests)
      FROM modelmesh.usage WHERE hour = date_trunc('hour', hour) GROUP BY 1, 2, 3, 4, 5`);
    assertEquals(stored, ["app", id, "chat", "a", "priority", 4].join("|"));
  });

  it("is added once, however often an addition is repeated, by processes that begin a day at once", async () => {
    const storages = Array.from({ length: 5 }, () => createStorage("once"));
    const ids = storages.map(id);
    await storages[0]!.load("key"); // the tables exist
    const add = () =>
      Promise.all(
        storages.flatMap(({ usage }, index) => [
          usage.add(ids[index]!, [row("2027-01-31T23"), row("2027-02-01T00"), row("2027-01-31T23")]),
        ]),
      );
    await add();
    await add();
    const { usage } = storages[0]!;
    const sums = (await usage.read("2027-01-31", "2027-02-01")).map(({ day, amounts }) => [day, ...amounts]);
    assertEquals(sums, [["2027-01-31", 10, 100, 200, 3000], ["2027-02-01", 5, 50, 100, 1500]]);
    assertEquals((await usage.read("2027-02-01", "2027-02-01")).length, 1);
  });

  it("has any names, tags and teams", async () => {
    const { usage } = createStorage("names");
    const odd = {
      client: 'a"\\',
      clientId: "",
      pool: "ж\0",
      model: "{}",
      tags: ['"a"', "b,c", "\0", "x".repeat(5000)],
      team: "{'",
    };
    await usage.add(id(), [row("2027-01-31T12", { ...odd, tier: "flex" }), row("2027-01-31T12", odd)]);
    await usage.add(id(), [row("2027-01-31T13", odd), row("2027-01-31T13")]);
    const rows = await usage.read("2027-01-31", "2027-01-31");
    const found = rows.find(({ pool }) => pool === odd.pool);
    assertEquals(found, { day: "2027-01-31", ...odd, amounts: [3, 30, 60, 900] });
    const other = rows.find(({ pool }) => pool === "chat");
    assertEquals([other?.client, other?.team], [undefined, undefined]);
  });

  it("has the cost that callers have paid apart", async () => {
    const { usage } = createStorage("callers");
    await usage.add(id(), [row("2027-01-31T12"), row("2027-01-31T12", { amounts: [1, 10, 20, 0, 500] })]);
    await usage.add(id(), [row("2027-01-31T13", { amounts: [1, 10, 20, 0, 500] })]);
    const [found] = await usage.read("2027-01-31", "2027-01-31");
    assertEquals(found?.amounts, [3, 30, 60, 300, 1000]);
  });

  it("is dropped by whole days", async () => {
    const { usage } = createStorage("dropped");
    const days = ["2027-01-29", "2027-01-30", "2027-01-31", "2027-02-01"];
    await usage.add(id(), days.map((day) => row(`${day}T05`)));
    await Promise.all([usage.drop("2027-01-31"), createStorage("dropped").usage.drop("2027-01-31")]);
    assertEquals((await usage.read("2027-01-01", "2027-12-31")).map(({ day }) => day), days.slice(2));
    assertEquals(
      server.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'dropped' AND tablename ~ '^usage_2'"),
      "2",
    );
    await usage.add(id(), [row("2027-01-29T05")]);
  });

  it("that may have been added is not added again, and what was counted meanwhile is not lost", async () => {
    const clock = fakeClock();
    const daily = new DailyUsage(clock, (text) => text);
    const storage = createStorage("unconfirmed");
    const count = () =>
      daily.add({
        // deno-lint-ignore no-explicit-any -- what a record has besides is not read
        record: { pool: "chat", model: "a", client: "web" } as any,
        outcome: "success",
        tries: [],
        tokensIn: 1,
        tokensOut: 1,
        costNanoUsd: 1,
      });
    const add = storage.usage.add.bind(storage.usage);
    count();
    storage.usage.add = () => Promise.reject(new ConnectorError("The statement was lost"));
    await assertRejects(() => daily.flush(storage), ConnectorError, "lost");
    count();
    storage.usage.add = async (...added) => {
      await add(...added);
      throw new ConnectorError("The reply was lost");
    };
    await assertRejects(() => daily.flush(storage), ConnectorError, "lost");
    count();
    await assertRejects(() => daily.flush(storage), ConnectorError, "lost");
    storage.usage.add = add;
    count();
    await daily.flush(storage);
    assertEquals(server.sql("SELECT sum(requests) FROM unconfirmed.usage"), "4");
  });

  it("and everything else of a newer version keeps a proxy from starting, which changes nothing", async () => {
    await createStorage("newer").load("key");
    server.sql("INSERT INTO newer.schema_version (version) VALUES (99)");
    const before = server.sql("SELECT count(*) FROM newer.records");
    const config = clientsConfig({ url: "http://127.0.0.1:1/v1" }, { ...server.storage, schema: "newer" });
    await assertRejects(() => serve({ config, port: 0 }), ConnectorError, "update this program");
    assertEquals(server.sql("SELECT count(*) FROM newer.records"), before);
  });
});
