/** Sums and messages in a real Redis, with many clients at once. */
import { assertEquals, assertRejects } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { redisAddress } from "../../connectors/storage/_redis_address.ts";
import { RedisStorage } from "../../connectors/storage/redis.ts";
import type { Shared } from "../../src/contracts/storage.ts";
import { ConnectorError } from "../../src/errors.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { happens, until } from "../support/patience.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";

const { clock } = serverRuntime();
const expiresAt = clock.now() + 86_400_000; // modules are loaded minutes before the last test of a run
let server: TestRedis;
let made = 0;
const open: RedisStorage[] = [];

/** Clients with connections of their own. */
function clients(count: number, prefix = `shared-${made++}`): Shared[] {
  return Array.from({ length: count }, () => {
    const storage = new RedisStorage(clock, { address: redisAddress({ url: server.url }), prefix });
    open.push(storage);
    return storage.shared;
  });
}

const times = (count: number) => Array.from({ length: count }, (_, index) => index);

(hasRedis ? describe : describe.skip)("what several share in a Redis", () => {
  beforeAll(async () => void (server = await TestRedis.start()));
  afterAll(async () => {
    for (const storage of open) await storage.close();
    await server[Symbol.asyncDispose]();
  });

  it("loses no addition of eight clients, and each sees every sum once", async () => {
    const sums = await Promise.all(
      clients(8).flatMap((shared) => times(100).map(() => shared.add([{ key: "sum", by: 1, expiresAt }]))),
    );
    assertEquals(sums.flat().sort((one, other) => one - other), times(800).map((index) => index + 1));
  });

  it("grants eight clients a limit exactly, never more", async () => {
    const all = clients(8);
    const claims = all.flatMap((shared) =>
      times(50).map(() => shared.reserve([{ key: "money", amount: 7, limit: 1000, expiresAt }]))
    );
    const granted = (await Promise.all(claims)).filter(({ isGranted }) => isGranted);
    assertEquals(granted.length, Math.floor(1000 / 7));
    assertEquals(await all[0]!.add([{ key: "money", by: 0, expiresAt }]), [994]);
  });

  it("grants several changes together or none, and returns the sums either way", async () => {
    const [shared] = clients(1);
    const claim = (key: string, amount: number, limit: number) => ({ key, amount, limit, expiresAt });
    assertEquals(await shared!.reserve([claim("day", 6, 10), claim("month", 6, 100)]), {
      isGranted: true,
      sums: [6, 6],
    });
    assertEquals(await shared!.reserve([claim("month", 6, 100), claim("day", 6, 10)]), {
      isGranted: false,
      sums: [6, 6],
    });
    assertEquals((await shared!.reserve([claim("day", 4, 10)])).isGranted, true);
  });

  it("takes a sum for no less than it is known to have reached", async () => {
    const [shared] = clients(1);
    assertEquals(await shared!.add([{ key: "sum", by: 2, expiresAt, atLeast: 40 }]), [42]);
    assertEquals(await shared!.add([{ key: "sum", by: 1, expiresAt, atLeast: 40 }]), [43]);
    const claim = { key: "other", amount: 5, limit: 44, expiresAt, atLeast: 40 };
    assertEquals((await shared!.reserve([claim])).isGranted, false);
  });

  it("keeps sums of nano-dollars exact, and goes below zero where it is asked to", async () => {
    const [shared] = clients(1);
    const much = 9_000_000_000_000_001;
    assertEquals(await shared!.add([{ key: "sum", by: much, expiresAt }]), [much]);
    assertEquals(await shared!.add([{ key: "sum", by: -much - 3, expiresAt }]), [-3]);
  });

  it("forgets a sum when its time has come", async () => {
    const [shared] = clients(1);
    const soon = () => clock.now() + 80;
    await shared!.add([{ key: "sum", by: 5, expiresAt: soon() }]);
    await clock.sleep(120);
    assertEquals(await shared!.add([{ key: "sum", by: 1, expiresAt: soon() }]), [1]);
  });

  it("reading writes nothing", async () => {
    const [shared] = clients(1);
    await shared!.add([{ key: "sum", by: 5, expiresAt: clock.now() + 80 }]);
    await shared!.add([{ key: "sum", by: 0, expiresAt }]);
    await clock.sleep(120);
    assertEquals(await shared!.add([{ key: "sum", by: 0, expiresAt }]), [0]);
  });

  describe("a lease", () => {
    const leaseMs = 200;
    const taken = { key: "taken", expiresAt };
    const party = (prefix: string) => {
      const storage = new RedisStorage(clock, { address: redisAddress({ url: server.url }), prefix, leaseMs });
      open.push(storage);
      const { shared } = storage;
      const reserve = (amount: number) => shared.reserve([{ ...taken, amount, limit: 100, isLeased: true }]);
      const settle = (by: number, leased: number) => shared.add([{ ...taken, by, leased }]);
      const read = async () => (await shared.add([{ ...taken, by: 0 }]))[0];
      return { storage, reserve, settle, read };
    };
    const keys = async (prefix: string) => {
      const found = await server.command("KEYS", `${prefix}:leases*`);
      return found.split("\n").filter((line) => line.includes(prefix)).length;
    };

    it("ends with its process, when that is not heard of any more; what was settled stays", async () => {
      const [one, other] = [party("ended"), party("ended")];
      await one.reserve(60);
      await one.reserve(30);
      await one.settle(-10, -30); // 20 of the 30 were spent
      assertEquals([await other.read(), (await other.reserve(30)).isGranted], [80, false]);
      await until(async () => await other.read() === 20, "the lease has ended");
      assertEquals((await other.reserve(80)).isGranted, true);
    });

    it("is back with its process, when that was only suspended, and is settled exactly", async () => {
      const [one, other] = [party("suspended"), party("suspended")];
      await one.reserve(60);
      await until(async () => await other.read() === 0, "the lease has ended");
      assertEquals((await other.reserve(50)).isGranted, true);
      assertEquals(await one.read(), 110); // it has sent what it reserved
      await one.settle(-15, -60);
      await other.settle(0, -50);
      assertEquals(await other.read(), 95);
      await until(async () => await other.read() === 95 && await keys("suspended") <= 3);
      assertEquals(await one.read(), 95);
    });

    it("is as long as its process, which renews it with every call", async () => {
      const [one, other] = [party("renewed"), party("renewed")];
      await one.reserve(60);
      for (let time = 0; time < 3 * leaseMs; time += leaseMs / 4) {
        await one.read();
        assertEquals(await other.read(), 60);
        await new Promise((resolve) => setTimeout(resolve, leaseMs / 4)); // Redis's clock is real
      }
    });

    it("is released by a process that closes its storage, which leaves nothing behind", async () => {
      const [one, other] = [party("closed"), party("closed")];
      await one.reserve(60);
      await one.storage.close();
      assertEquals(await other.read(), 0);
      await other.storage.close();
      assertEquals(await keys("closed"), 0);
    });

    it("that a Redis has lost takes nothing from what comes after", async () => {
      const one = party("lost");
      await one.reserve(60);
      await server.command("FLUSHALL");
      await one.settle(40, -60); // what it was known to have is more
      assertEquals(await one.read(), 40);
      await one.reserve(10);
      await one.settle(0, -10);
      await one.storage.close();
      const other = party("lost");
      assertEquals(await other.read(), 50);
    });
  });

  it("sends to all listeners, in order, until they unsubscribe", async () => {
    const [one, other] = clients(2);
    const heard: string[][] = [[], []];
    const ends = [
      await one!.subscribe("news", (message) => heard[0]!.push(message)),
      await other!.subscribe("news", (message) => heard[1]!.push(message)),
    ];
    for (const message of ["a", "b", "ж"]) await one!.publish("news", message);
    await until(() => heard.every((list) => list.length === 3));
    assertEquals(heard, [["a", "b", "ж"], ["a", "b", "ж"]]);
    await ends[1]!();
    await one!.publish("news", "c");
    await until(() => heard[0]!.length === 4);
    assertEquals(heard[1]!.length, 3);
  });

  it("fails at once while Redis is away, and listens again when it is back", async () => {
    await using own = await TestRedis.start();
    const standing = fakeClock(); // no time limit is what ends a call
    const storage = new RedisStorage(standing, { address: redisAddress({ url: own.url }) });
    const heard: string[] = [];
    await storage.shared.subscribe("news", (message) => heard.push(message));
    await own.kill();
    await until(() => storage.exists("key").then(() => false, () => true));
    const added = storage.shared.add([{ key: "sum", by: 1, expiresAt }]);
    await happens("it fails before Redis is back", assertRejects(() => added, ConnectorError));
    await own.start();
    await standing.advance(500); // the next try to connect
    await until(() => storage.shared.publish("news", "back").then(() => true, () => false));
    await until(() => heard.length > 0);
    assertEquals(heard[0], "back");
    await storage.close();
  });
});
