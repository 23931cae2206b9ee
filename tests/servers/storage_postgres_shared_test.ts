/** Sums and messages in a real PostgreSQL, with many clients at once. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { readPostgresPlan } from "../../connectors/storage/_postgres_address.ts";
import { PostgresStorage } from "../../connectors/storage/postgres.ts";
import type { Shared } from "../../src/contracts/storage.ts";
import { ConnectorError } from "../../src/errors.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { happens, until } from "../support/patience.ts";
import { hasPostgres, TestPostgres } from "../support/postgres.ts";

const runtime = serverRuntime();
const { clock } = runtime;
const expiresAt = clock.now() + 86_400_000; // modules are loaded minutes before the last test of a run
let server: TestPostgres;
let made = 0;
const open: PostgresStorage[] = [];

function createStorage(schema: string, { leaseMs, time = clock, url = server.url, listenUrl = url }: {
  readonly leaseMs?: number;
  readonly time?: typeof clock;
  readonly url?: string;
  readonly listenUrl?: string;
} = {}): PostgresStorage {
  const plan = readPostgresPlan({ url, schema, listen_url: listenUrl });
  const storage = new PostgresStorage({ ...runtime, clock: time }, {
    plan,
    ...(leaseMs === undefined ? {} : { leaseMs }),
  });
  open.push(storage);
  return storage;
}

/** Clients with connections of their own. */
function createClients(count: number): Shared[] {
  const schema = `shared_${made++}`;
  return Array.from({ length: count }, () => createStorage(schema).shared);
}

const times = (count: number) => Array.from({ length: count }, (_, index) => index);

(hasPostgres ? describe : describe.skip)("what several share in a PostgreSQL", () => {
  beforeAll(async () => void (server = await TestPostgres.start()));
  afterAll(async () => {
    for (const storage of open) await storage.close();
    await server[Symbol.asyncDispose]();
  });

  it("loses no addition of eight clients, and each sees every sum once", async () => {
    const sums = await Promise.all(
      createClients(8).flatMap((shared) => times(100).map(() => shared.add([{ key: "sum", by: 1, expiresAt }]))),
    );
    assertEquals(sums.flat().sort((one, other) => one - other), times(800).map((index) => index + 1));
  });

  it("grants eight clients a limit exactly, never more", async () => {
    const all = createClients(8);
    const claims = all.flatMap((shared) =>
      times(50).map(() => shared.reserve([{ key: "money", amount: 7, limit: 1000, expiresAt }]))
    );
    const granted = (await Promise.all(claims)).filter(({ isGranted }) => isGranted);
    assertEquals(granted.length, Math.floor(1000 / 7));
    assertEquals(await all[0]!.add([{ key: "money", by: 0, expiresAt }]), [994]);
  });

  it("lets clients that want the same counters in opposite orders wait for each other, but never in a circle", async () => {
    const keys = times(20).map((index) => `key ${index}`);
    const clients = createClients(6);
    const calls = clients.flatMap((shared, client) =>
      times(40).map(async (index) => {
        const some = keys.filter((_, at) => (at * 7 + client + index) % 3 > 0);
        const ordered = (client + index) % 2 === 0 ? some : some.toReversed();
        await new Promise((resolve) => setTimeout(resolve, index));
        return await shared.add(ordered.map((key) => ({ key, by: 1, expiresAt })));
      })
    );
    const sums = (await Promise.all(calls)).flat();
    const totals = await clients[0]!.add(keys.map((key) => ({ key, by: 0, expiresAt })));
    assertEquals(totals.reduce((sum, value) => sum + value, 0), sums.length);
    assertEquals(server.sql("SELECT sum(deadlocks) FROM pg_stat_database"), "0");
  });

  it("grants several changes together or none, and returns the sums either way", async () => {
    const [shared] = createClients(1);
    const claim = (key: string, amount: number, limit: number) => ({ key, amount, limit, expiresAt });
    const granted = await shared!.reserve([claim("day", 6, 10), claim("month", 6, 100)]);
    assertEquals(granted, { isGranted: true, sums: [6, 6] });
    const denied = await shared!.reserve([claim("month", 6, 100), claim("day", 6, 10)]);
    assertEquals(denied, { isGranted: false, sums: [6, 6] });
    assertEquals((await shared!.reserve([claim("day", 4, 10)])).isGranted, true);
    assertEquals([await shared!.add([]), await shared!.reserve([])], [[], { isGranted: true, sums: [] }]);
  });

  it("decides calls of one turn in their order, as if each were alone", async () => {
    const [shared] = createClients(1);
    const claim = (amount: number) => shared!.reserve([{ key: "a", amount, limit: 10, expiresAt }]);
    const add = (by: number) => shared!.add([{ key: "a", by, expiresAt }, { key: "b", by: 1, expiresAt }]);
    const results = await Promise.all([claim(6), claim(6), add(-3), claim(6), add(0), claim(2)]);
    assertEquals(results, [
      { isGranted: true, sums: [6] },
      { isGranted: false, sums: [6] },
      [3, 1],
      { isGranted: true, sums: [9] },
      [9, 2],
      { isGranted: false, sums: [9] },
    ]);
  });

  it("takes a sum for no less than it is known to have reached", async () => {
    const [shared] = createClients(1);
    assertEquals(await shared!.add([{ key: "sum", by: 2, expiresAt, atLeast: 40 }]), [42]);
    assertEquals(await shared!.add([{ key: "sum", by: 1, expiresAt, atLeast: 40 }]), [43]);
    const claim = { key: "other", amount: 5, limit: 44, expiresAt, atLeast: 40 };
    assertEquals((await shared!.reserve([claim])).isGranted, false);
  });

  it("keeps sums of nano-dollars exact, and goes below zero where it is asked to", async () => {
    const [shared] = createClients(1);
    const much = 9_000_000_000_000_001;
    assertEquals(await shared!.add([{ key: "sum", by: much, expiresAt }]), [much]);
    assertEquals(await shared!.add([{ key: "sum", by: -much - 3, expiresAt }]), [-3]);
  });

  it("takes any string for a key", async () => {
    const [shared] = createClients(1);
    const keys = ["", '"{},\\', "a\0b", "a\\0b", "NULL", "ключ", "x".repeat(300)];
    const changes = keys.map((key, index) => ({ key, by: index + 1, expiresAt }));
    assertEquals(await shared!.add(changes), keys.map((_, index) => index + 1));
    assertEquals(await shared!.add(changes), keys.map((_, index) => 2 * (index + 1)));
  });

  it("forgets a sum when its time has come, and reading writes nothing", async () => {
    const [shared] = createClients(1);
    const soon = () => clock.now() + 80;
    await shared!.add([{ key: "sum", by: 5, expiresAt: soon() }]);
    await shared!.add([{ key: "sum", by: 0, expiresAt }]);
    await clock.sleep(120);
    assertEquals(await shared!.add([{ key: "sum", by: 0, expiresAt }]), [0]);
    assertEquals(await shared!.add([{ key: "sum", by: 1, expiresAt: soon() }]), [1]);
  });

  describe("a lease", () => {
    const leaseMs = 600_000;
    const taken = { key: "taken", expiresAt };
    const createParty = (schema: string) => {
      const storage = createStorage(schema, { leaseMs });
      const { shared } = storage;
      const reserve = (amount: number) => shared.reserve([{ ...taken, amount, limit: 100, isLeased: true }]);
      const settle = (by: number, leased: number) => shared.add([{ ...taken, by, leased }]);
      const read = async () => (await shared.add([{ ...taken, by: 0 }]))[0];
      return { storage, reserve, settle, read };
    };
    /** Lets leases grow old. */
    const age = (schema: string, part: number) =>
      server.sql(`UPDATE ${schema}.processes SET expires_at = expires_at - ${part * leaseMs}`);

    it("ends with its process, when that is not heard of any more; what was settled stays", async () => {
      const [one, other] = [createParty("ended"), createParty("ended")];
      await one.reserve(60);
      await one.reserve(30);
      await one.settle(-10, -30); // 20 of the 30 were spent
      assertEquals([await other.read(), (await other.reserve(30)).isGranted], [80, false]);
      age("ended", 1);
      assertEquals([await other.read(), (await other.reserve(80)).isGranted], [20, true]);
    });

    it("is back with its process, when that was only suspended, and is settled exactly", async () => {
      const [one, other] = [createParty("suspended"), createParty("suspended")];
      await one.reserve(60);
      age("suspended", 1);
      assertEquals([await other.read(), (await other.reserve(50)).isGranted], [0, true]);
      assertEquals([await one.read(), one.storage.shared.lostLeases], [110, 1]); // it has sent what it reserved
      await one.settle(-15, -60);
      await other.settle(0, -50);
      assertEquals([await other.read(), await one.read()], [95, 95]);
      assertEquals(server.sql("SELECT count(*) FROM suspended.leases"), "0");
    });

    it("is as long as its process, which renews it with every call", async () => {
      const [one, other] = [createParty("renewed"), createParty("renewed")];
      await one.reserve(60);
      for (let turn = 0; turn < 4; turn++) {
        await one.read();
        age("renewed", 0.8);
        assertEquals([await other.read(), one.storage.shared.lostLeases], [60, 0]);
      }
    });

    it("is released by a process that closes its storage, which leaves nothing behind", async () => {
      const [one, other] = [createParty("closed"), createParty("closed")];
      await one.reserve(60);
      await one.storage.close();
      assertEquals(await other.read(), 0);
      await other.storage.close();
      assertEquals(server.sql("SELECT count(*) FROM closed.processes"), "0");
    });

    it("that a PostgreSQL has lost takes nothing from what comes after", async () => {
      const one = createParty("lost");
      await one.reserve(60);
      server.sql("TRUNCATE lost.sums, lost.processes, lost.leases");
      await one.settle(40, -60); // what it was known to have is more
      assertEquals(await one.read(), 40);
      await one.reserve(10);
      await one.settle(0, -10);
      await one.storage.close();
      assertEquals(await createParty("lost").read(), 50);
    });
  });

  it("undoes calls whose answer was lost, so that what has failed has no effect", async () => {
    const schema = "unanswered";
    const [standing, reader] = [fakeClock(), createStorage(schema)];
    const key = (by: number) => [{ key: "sum", by, expiresAt, leased: by }];
    const storage = createStorage(schema, { time: standing, leaseMs: 1e9 });
    const later = { expiresAt: standing.now() + 1e9, key: "sum" };
    await storage.shared.add([{ ...later, by: 1 }]);
    const hold = server.sql(`
      CREATE TABLE ${schema}.released ();
      CREATE FUNCTION ${schema}.slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
        WHILE NOT EXISTS (SELECT FROM ${schema}.released) LOOP PERFORM pg_sleep(0.05); END LOOP; RETURN NULL; END';
      CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON ${schema}.sums DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION ${schema}.slow()`);
    assertEquals(hold, "");
    const lost = assertRejects(() => storage.shared.add([{ ...later, by: 10, leased: 4 }]), ConnectorError);
    await until(() => server.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") === "1");
    await standing.advance(6000); // its patience is over, and the statement goes on
    await lost;
    server.sql(`INSERT INTO ${schema}.released DEFAULT VALUES`);
    await until(() => server.sql(`SELECT value FROM ${schema}.sums`) === "11", "the server has executed it");
    server.sql(`DROP TRIGGER slow ON ${schema}.sums`);
    await until(async () => {
      await standing.advance(500);
      return await storage.shared.add([{ ...later, by: 100 }]).then(([sum]) => sum === 101, () => false);
    }, "it is undone with the next call");
    assertEquals(await reader.shared.add(key(0)), [101]);
    assertEquals(server.sql(`SELECT count(*) FROM ${schema}.leases WHERE amount > 0`), "0");
  });

  it("sends to all listeners, in order, until they unsubscribe, whatever the size of a message", async () => {
    const [one, other] = createClients(2);
    const heard: string[][] = [[], []];
    const ends = [
      await one!.subscribe("news", (message) => heard[0]!.push(message)),
      await other!.subscribe("news", (message) => heard[1]!.push(message)),
    ];
    await other!.subscribe("others", () => heard[1]!.push("of another channel"));
    const messages = ["a", "ж".repeat(8_000), "\0'\"", "x".repeat(7_950), "", "y".repeat(300_000), "b"];
    for (const message of messages) await one!.publish("news", message);
    await until(() => heard.every((list) => list.length === messages.length));
    assertEquals(heard, [messages, messages]);
    await ends[1]!();
    await one!.publish("news", "c");
    await until(() => heard[0]!.length === messages.length + 1);
    assertEquals(heard[1]!.length, messages.length);
  });

  it("has subscribed when it says so, however many subscribe in one turn", async () => {
    const [one, other] = createClients(2);
    const heard: number[] = [];
    for (const shared of [one!, other!]) await shared.add([{ key: "sum", by: 0, expiresAt }]); // they are connected
    await Promise.all(
      times(4).map(async (index) => {
        await one!.subscribe(`channel ${index}`, () => heard.push(index));
        await other!.publish(`channel ${index}`, "now");
      }),
    );
    await until(() => heard.length === 4);
    assertEquals(heard.toSorted(), times(4));
  });

  it("says when messages do not arrive, as through a pooler in transaction mode", async () => {
    const listenUrl = server.url.replace(/postgres$/, "template1"); // notifications stay in their database
    const { shared } = createStorage("unheard", { listenUrl });
    await assertRejects(() => shared.subscribe("news", () => {}), ConnectorError, 'set "listen_url"');
  });

  it("is not disturbed by notifications of other programs", async () => {
    const [one] = createClients(1);
    const schema = `shared_${made - 1}`;
    const heard: string[] = [];
    await one!.subscribe("news", (message) => heard.push(message));
    const odd = ["", "news", "null", "[]", '{"prefix":"","channel":"news","id":"x"}', '{"prefix":"","channel":"news"}'];
    for (const payload of odd) server.sql(`SELECT pg_notify('${schema}', '${payload}')`);
    await one!.publish("news", "ours");
    await until(() => heard.length > 0);
    assertEquals(heard, ["ours"]);
  });

  it("fails at once while PostgreSQL is away, and listens again when it is back", async () => {
    await using own = await TestPostgres.start();
    const standing = fakeClock(); // no time limit is what ends a call
    const { shared } = createStorage("mesh", { url: own.url, time: standing });
    const heard: string[] = [];
    await shared.subscribe("news", (message) => heard.push(message));
    await own.kill();
    await until(() => shared.add([{ key: "sum", by: 0, expiresAt }]).then(() => false, () => true));
    const added = shared.add([{ key: "sum", by: 1, expiresAt }]);
    await happens("it fails before PostgreSQL is back", assertRejects(() => added, ConnectorError));
    await own.start();
    await until(async () => {
      await standing.advance(500); // the next try to connect
      return await shared.publish("news", "back").then(() => true, () => false);
    });
    await until(() => heard.length > 0);
    assertEquals(heard[0], "back");
  });

  it("notices that its connection for messages has ended, as an outage, and listens again", async () => {
    const schema = "ended_listener";
    const standing = fakeClock(); // it stays away until time passes
    const { shared } = createStorage(schema, { time: standing });
    const heard: string[] = [];
    await shared.subscribe("news", (message) => heard.push(message));
    server.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN "${schema}"'`);
    await until(() => shared.add([{ key: "sum", by: 0, expiresAt }]).then(() => false, () => true), "a call fails");
    await until(async () => {
      await standing.advance(500);
      return await shared.publish("news", "again").then(() => true, () => false);
    });
    await until(() => heard.includes("again"));
  });

  it("deletes what has expired, and keeps the rest", async () => {
    const schema = "purged";
    const time = { ...clock, monotonic: () => clock.monotonic() + passed };
    let passed = 0;
    const storage = createStorage(schema, { time });
    await storage.shared.add([{ key: "kept", by: 1, expiresAt }]);
    server.sql(`INSERT INTO purged.sums VALUES ('gone', 1, 0); INSERT INTO purged.locks VALUES ('gone', '', 0);
      INSERT INTO purged.messages (message, sent_at) VALUES ('', 0);
      INSERT INTO purged.processes VALUES (gen_random_uuid(), 0)`);
    passed = 61_000;
    await storage.shared.add([{ key: "kept", by: 1, expiresAt }]);
    const count = (table: string) => server.sql(`SELECT count(*) FROM purged.${table}`);
    await until(() =>
      [..."lmps"].every((first) => {
        const tables = { l: "locks", m: "messages", p: "processes", s: "sums" } as const;
        return count(tables[first as keyof typeof tables]) === ("ps".includes(first) ? "1" : "0");
      })
    );
    assert(await storage.shared.add([{ key: "kept", by: 0, expiresAt }]).then(([sum]) => sum === 2));
  });
});
