/** Entries that expire in a real PostgreSQL. */
import { assertEquals, assertRejects } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { readPostgresPlan } from "../../connectors/storage/_postgres_address.ts";
import { PostgresStorage } from "../../connectors/storage/postgres.ts";
import { ConnectorError } from "../../src/errors.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import { entriesConformance } from "../contracts/entries.ts";
import { until } from "../support/patience.ts";
import { hasPostgres, TestPostgres } from "../support/postgres.ts";

const runtime = serverRuntime();
const { clock } = runtime;
let server: TestPostgres;
let made = 0;
const open: PostgresStorage[] = [];

function create(settings: Readonly<Record<string, unknown>> = {}, time = clock): PostgresStorage {
  const plan = readPostgresPlan({ url: server.url, schema: `test_${made++}`, ...settings });
  const storage = new PostgresStorage({ ...runtime, clock: time }, { plan });
  open.push(storage);
  return storage;
}

/** A fake ms is a second in PostgreSQL, so that what really passes meanwhile does not count. */
const scale = 1000;

/** Storages whose entries grow old by the fake clock: what that one lets pass is taken off their time. */
function createAging(time: FakeClock, schema: string): PostgresStorage[] {
  const { advance } = time;
  time.advance = async (ms) => {
    server.sql(`UPDATE "${schema}"."entries" SET expires_at = expires_at - ${ms * scale}`);
    await advance.call(time, ms);
  };
  return [1, 2].map(() => {
    const storage = create({ schema }, time);
    const { entries } = storage;
    const { set } = entries;
    entries.set = (key, data, expiresAt) => set.call(entries, key, data, time.now() + (expiresAt - time.now()) * scale);
    return storage;
  });
}

(hasPostgres ? describe : describe.skip)("the entries of mesh.postgres.v1", () => {
  beforeAll(async () => void (server = await TestPostgres.start()));
  afterAll(async () => {
    for (const storage of open) await storage.close();
    await server[Symbol.asyncDispose]();
  });

  for (const { name, run } of entriesConformance((time) => createAging(time, `entries_${made++}`))) it(name, run);

  it("expire by PostgreSQL's own clock, and are deleted with a later write", async () => {
    const standing = fakeClock({ now: clock.now() });
    const { entries } = create({ schema: "swept" }, standing);
    const count = () => Number(server.sql("SELECT count(*) FROM swept.entries"));
    for (let index = 0; index < 3; index++) await entries.set(`${index}`, Uint8Array.of(1), standing.now() + 30);
    await entries.set("endless", Uint8Array.of(1), Infinity);
    await until(async () => (await entries.stats()).entries === 1);
    await entries.set("next", Uint8Array.of(1), standing.now() + 1e6);
    assertEquals(count(), 5);
    await standing.advance(60_000);
    await entries.set("next", Uint8Array.of(1), standing.now() + 1e6);
    assertEquals([count(), await entries.get("endless")], [2, Uint8Array.of(1)]);
  });

  it("are all deleted, however many, and what had expired is not counted", async () => {
    const { entries } = create({ schema: "many" });
    await entries.stats();
    server.sql(`INSERT INTO many.entries SELECT 'key ' || n, '\\x01', 9e15::bigint FROM generate_series(1, 2500) AS n`);
    server.sql(`INSERT INTO many.entries SELECT 'old ' || n, '\\x01', 0 FROM generate_series(1, 1500) AS n`);
    assertEquals([await entries.clear(), server.sql("SELECT count(*) FROM many.entries")], [2500, "0"]);
  });

  it("fail at once while PostgreSQL is away, and are back with it", async () => {
    await using own = await TestPostgres.start();
    const standing = fakeClock(); // no time limit is what ends a call
    const { entries } = create({ url: own.url }, standing);
    await entries.set("key", Uint8Array.of(1), standing.now() + 1e6);
    await own.kill();
    for (
      const call of [
        () => entries.get("key"),
        () => entries.set("key", Uint8Array.of(1), Infinity),
        () => entries.delete("key"),
        () => entries.stats(),
        () => entries.clear(),
      ]
    ) await assertRejects(call, ConnectorError, "PostgreSQL at");
    await own.start();
    await until(async () => {
      await standing.advance(500); // the next attempt to connect
      return await entries.set("key", Uint8Array.of(2), standing.now() + 1e6).then(() => true, () => false);
    });
    assertEquals(await entries.get("key"), Uint8Array.of(2));
  });
});
