/** The storage of a real PostgreSQL: what every storage does, and what is its own. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { readPostgresPlan } from "../../connectors/storage/_postgres_address.ts";
import { createNames } from "../../connectors/storage/_postgres_names.ts";
import { migrationScript, schemaVersion } from "../../connectors/storage/_postgres_schema.ts";
import { PostgresStorage } from "../../connectors/storage/postgres.ts";
import { ConfigError, ConnectorError } from "../../src/errors.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import { inspect } from "node:util";
import { storageConformance } from "../contracts/storage.ts";
import { until } from "../support/patience.ts";
import { tlsFile, tlsText } from "../support/_tls.ts";
import { hasPostgres, postgresPassword, TestPostgres } from "../support/postgres.ts";

const runtime = serverRuntime();
const { clock } = runtime;
let server: TestPostgres;
let made = 0;
const open: PostgresStorage[] = [];

function createStorage(settings: Readonly<Record<string, unknown>> = {}, time = clock): PostgresStorage {
  const plan = readPostgresPlan({ url: server.url, schema: `test_${made++}`, ...settings });
  const storage = new PostgresStorage({ ...runtime, clock: time }, { plan });
  open.push(storage);
  return storage;
}

/** A fake ms is a second in PostgreSQL, so that what really passes meanwhile does not count. */
const scale = 1000;

/** A storage whose locks also grow old by the fake clock: what that one lets pass is taken off their time. */
function createAging(time: FakeClock): PostgresStorage {
  const schema = `aging_${made++}`;
  const storage = createStorage({ schema }, time);
  const age = async (ms: number) => {
    await storage.isLocked("key"); // the tables exist
    server.sql(`UPDATE "${schema}"."locks" SET expires_at = expires_at - ${ms * scale}`);
  };
  const { advance, sleep } = time;
  time.advance = async (ms) => {
    await age(ms);
    await advance.call(time, ms);
  };
  time.sleep = async (ms, signal) => {
    await age(ms);
    await sleep.call(time, ms, signal);
  };
  const { acquire } = storage;
  storage.acquire = async (key, options) => {
    const { ttlMs } = options;
    const lock = await acquire.call(storage, key, { ...options, ttlMs: ttlMs * scale });
    return { ...lock, expiresAt: lock.expiresAt - ttlMs * (scale - 1) };
  };
  return storage;
}

(hasPostgres ? describe : describe.skip)("the storage mesh.postgres.v1", () => {
  beforeAll(async () => void (server = await TestPostgres.start()));
  afterAll(async () => {
    for (const storage of open) await storage.close();
    await server[Symbol.asyncDispose]();
  });

  for (const { name, run } of storageConformance((time) => createAging(time as FakeClock))) it(name, run);

  it("frees the lock of an owner that is gone by PostgreSQL's own clock", async () => {
    const storage = createStorage();
    await storage.acquire("key", { owner: "gone", ttlMs: 100 });
    const lock = await storage.acquire("key", { owner: "next", ttlMs: 60_000, retryIntervalMs: 10 });
    assertEquals([lock.owner, await storage.isLocked("key")], ["next", true]);
  });

  it("keeps what has another prefix apart, in one schema", async () => {
    const [one, other] = ["one_", "other-"].map((prefix) => createStorage({ schema: "same", prefix }));
    await one!.save("state", Uint8Array.of(1));
    assertEquals([await other!.load("state"), await other!.list()], [undefined, []]);
  });

  it("creates its tables once, when ten processes start at once", async () => {
    const storages = Array.from({ length: 10 }, () => createStorage({ schema: "at_once" }));
    await Promise.all(storages.map((storage, index) => storage.save(`key ${index}`, Uint8Array.of(index))));
    assertEquals((await storages[0]!.list()).length, 10);
    assertEquals(server.sql("SELECT count(*) FROM at_once.schema_version"), String(schemaVersion));
  });

  it("brings the tables of each older version up to date, and keeps what they contain", async () => {
    for (let version = 1; version < schemaVersion; version++) {
      const schema = `older_${version}`;
      server.sql(migrationScript(createNames(schema, ""), version));
      server.sql(`INSERT INTO ${schema}.records VALUES ('kept', '\\x01', 1)`);
      const storage = createStorage({ schema });
      assertEquals(await storage.load("kept"), Uint8Array.of(1));
      await storage.shared.add([{ key: "sum", by: 1, expiresAt: clock.now() + 1e6 }]);
      assertEquals(server.sql(`SELECT max(version) FROM ${schema}.schema_version`), String(schemaVersion));
    }
  });

  it("refuses tables of a newer version, and changes nothing in them", async () => {
    const schema = "newer";
    server.sql(migrationScript(createNames(schema, "")));
    server.sql(`INSERT INTO newer.schema_version (version) VALUES (99); INSERT INTO newer.records VALUES ('a', '', 1)`);
    const storage = createStorage({ schema });
    const error = await assertRejects(() => storage.save("b", Uint8Array.of(1)), ConnectorError);
    for (const part of ["version is 99", `up to ${schemaVersion}`, "update this program"]) {
      assert(error.message.includes(part), error.message);
    }
    assertEquals(server.sql("SELECT key FROM newer.records"), "a");
  });

  it("refuses tables of another program, and leaves them as they are", async () => {
    server.sql(
      "CREATE SCHEMA foreign_1; CREATE TABLE foreign_1.records (id int); INSERT INTO foreign_1.records VALUES (1)",
    );
    server.sql("CREATE SCHEMA foreign_2; CREATE TABLE foreign_2.schema_version (version text)");
    for (const schema of ["foreign_1", "foreign_2"]) {
      const storage = createStorage({ schema });
      await assertRejects(() => storage.load("key"), ConnectorError, "another program");
    }
    assertEquals(server.sql("SELECT id FROM foreign_1.records"), "1");
    assertEquals(server.sql("SELECT count(*) FROM pg_tables WHERE schemaname LIKE 'foreign%'"), "2");
    const beside = createStorage({ schema: "foreign_1", prefix: "mesh_" });
    await beside.save("key", Uint8Array.of(1));
  });

  it("says which permission a user lacks, and works with those that are documented", async () => {
    server.sql(`CREATE USER limited PASSWORD '${postgresPassword}'; CREATE SCHEMA granted AUTHORIZATION limited`);
    const login = { url: server.url.replace("postgres:hush", "limited:hush") };
    const denied = createStorage({ ...login, schema: "denied" });
    const error = await assertRejects(() => denied.load("key"), ConnectorError, "permission denied");
    assertEquals([error.problem, error.message.includes(postgresPassword)], ["forbidden", false]);
    const granted = createStorage({ ...login, schema: "granted" });
    await granted.save("key", Uint8Array.of(1));
    assertEquals(await granted.load("key"), Uint8Array.of(1));
  });

  it("says where it cannot reach a PostgreSQL, and nothing of the password", async () => {
    const storage = createStorage({ url: `postgres://me:${postgresPassword}@127.0.0.1:1` });
    const error = await assertRejects(() => storage.load("state"), ConnectorError);
    assertEquals([error.problem, error.message.includes("127.0.0.1:1"), inspect(error).includes("hush")], [
      "unavailable",
      true,
      false,
    ]);
  });

  it("says that PostgreSQL does not take the password, or has no such database", async () => {
    const wrong = createStorage({ url: server.url.replace("hush-hush", "hush-wrong") });
    const error = await assertRejects(() => wrong.load("state"), ConnectorError, "check username and password");
    assertEquals([error.problem, inspect(error).includes("hush")], ["forbidden", false]);
    const absent = createStorage({ url: server.url.replace(/postgres$/, "absent") });
    await assertRejects(() => absent.load("state"), ConnectorError, 'the database "absent" does not exist');
  });

  it("encrypts connections, for authorities of its own, and says when a certificate is not theirs", async () => {
    const tls = { cert: tlsText("server.pem"), key: tlsText("server.key") };
    await using own = await TestPostgres.start({ tls });
    const [ca, other] = [tlsFile("ca.pem"), tlsText("other_ca.pem")];
    for (const settings of [{ tls: { ca } }, { tls: { ca: tlsText("ca.pem"), servername: "provider.test" } }]) {
      const storage = createStorage({ url: own.url, ...settings });
      await storage.save("key", Uint8Array.of(1));
      assertEquals(await storage.load("key"), Uint8Array.of(1));
    }
    assertEquals(
      own.sql(
        "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'modelmesh'",
      ),
      "t",
    );
    for (const settings of [{ tls: { ca: other } }, { tls: true }, { tls: { ca, servername: "elsewhere.test" } }]) {
      const storage = createStorage({ url: own.url, ...settings });
      await assertRejects(() => storage.load("key"), ConnectorError, "its certificate is not accepted");
    }
    const plain = createStorage({ tls: true });
    await assertRejects(() => plain.load("key"), ConnectorError, "cannot reach");
    const absent = createStorage({ url: own.url, tls: { ca: "./absent.pem" } });
    await assertRejects(() => absent.load("key"), ConfigError, "storage.tls.ca");
  });

  it("names the package that is missing", async () => {
    const importClient = () => Promise.reject(new TypeError("Cannot find module"));
    const storage = new PostgresStorage(runtime, { plan: readPostgresPlan({}), importClient });
    await assertRejects(() => storage.load("state"), ConnectorError, '"postgres", which is not installed');
  });

  it("serves again by itself after PostgreSQL was away, and has lost nothing", async () => {
    await using own = await TestPostgres.start();
    const standing = fakeClock(); // no time limit is what ends a call
    const storage = createStorage({ url: own.url }, standing);
    await storage.save("key", Uint8Array.of(1));
    await own.kill();
    await assertRejects(() => storage.load("key"), ConnectorError, "PostgreSQL at");
    await assertRejects(() => storage.load("key"), ConnectorError, "PostgreSQL at");
    await own.start();
    await until(async () => {
      await standing.advance(500); // the next attempt to connect
      return await storage.exists("key").catch(() => false);
    });
    assertEquals(await storage.load("key"), Uint8Array.of(1));
  });

  it("gives up a statement that PostgreSQL does not answer, and uses another connection", async () => {
    const standing = fakeClock();
    const storage = createStorage({}, standing);
    await storage.save("key", Uint8Array.of(1));
    server.signal("SIGSTOP");
    let isOver = false;
    const late = assertRejects(() => storage.load("key"), ConnectorError, "cannot reach").finally(() => isOver = true);
    await until(async () => {
      await standing.advance(1000);
      return isOver;
    });
    await late;
    server.signal("SIGCONT");
    await until(async () => {
      await standing.advance(500);
      return await storage.exists("key").catch(() => false);
    });
  });
});

describe("the address of a PostgreSQL", () => {
  const rest = { tls: {}, schema: "modelmesh", prefix: "", poolSize: 4, isPrepared: true };
  const address = { host: "db", port: 5432, database: "postgres", username: "postgres", isTls: false };

  it("is read from a url or from parts", () => {
    assertEquals(readPostgresPlan({ url: "postgres://db" }), { address, listenAddress: address, ...rest });
    assertEquals(readPostgresPlan({ host: "db" }), { address, listenAddress: address, ...rest });
    const full = { host: "db", port: 6432, database: "mesh", username: "a", password: "p@ss", isTls: true };
    assertEquals(readPostgresPlan({ url: "postgresql://a:p%40ss@db:6432/mesh?sslmode=verify-full" }).address, full);
    const { isTls, ...parts } = full;
    assertEquals(readPostgresPlan({ ...parts, tls: isTls }).address, full);
    assertEquals(readPostgresPlan({ url: "postgres://pooler", listen_url: "postgres://db" }).listenAddress, address);
  });

  it("is refused with everything that does not hold, the password unquoted", () => {
    const bad: [Record<string, unknown>, string[]][] = [
      [{ url: "http://db" }, ["storage.url"]],
      [{ url: "postgres://db?sslmode=maybe" }, ["storage.url"]],
      [{ url: "postgres://a:%ff@db" }, ["storage.url"]],
      [{ url: "postgres://db", port: 1 }, ["storage.port"]],
      [{ port: 0, host: "" }, ["storage.host", "storage.port"]],
      [{ schema: 'a"b', prefix: "x".repeat(41) }, ["storage.schema", "storage.prefix"]],
      [{ pool_size: 0, prepared_statements: 1 }, ["storage.pool_size", "storage.prepared_statements"]],
      [{ listen_url: "db" }, ["storage.listen_url"]],
      [{ url: "postgres://db?sslmode=disable", tls: true }, ["storage.tls"]],
      [{ tls: { ca: 1, cert: "a", mode: "b" } }, ["storage.tls.ca", "storage.tls.mode", "storage.tls"]],
    ];
    for (const [settings, paths] of bad) {
      const error = assertThrows(() => readPostgresPlan(settings), ConfigError);
      assertEquals(error.problems.map(({ path }) => path), paths);
    }
    const error = assertThrows(() => readPostgresPlan({ url: "nope://me:hush@db" }), ConfigError);
    assertEquals(error.message.includes("hush"), false);
  });
});
