/** Calls whose reply is lost, and replies that a new master lacks: each call counts once. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { afterAll, describe, it } from "@std/testing/bdd";
import { connect, createServer, type Socket } from "node:net";
import { ConnectorError, openStorage } from "../../mod.ts";
import { until } from "../support/patience.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";

const expiresAt = Date.now() + 1e7;

/** An address that leads to a Redis, and loses replies. */
class LossyAddress implements AsyncDisposable {
  target: TestRedis;
  /** Whether the next reply is lost, with its connection. */
  losesReply = false;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => {
    const onward = connect(this.target.port, "127.0.0.1");
    for (const one of [socket, onward]) {
      this.#sockets.add(one);
      one.on("error", () => {});
    }
    socket.on("close", () => onward.destroy()).on("data", (data) => onward.write(data));
    onward.on("close", () => socket.destroy()).on("data", (data) => {
      if (!this.losesReply) return socket.write(data);
      this.losesReply = false;
      socket.destroy();
    });
  });

  private constructor(target: TestRedis) {
    this.target = target;
  }

  static async start(target: TestRedis): Promise<LossyAddress> {
    const address = new LossyAddress(target);
    await new Promise<void>((resolve) => address.#server.listen(0, "127.0.0.1", resolve));
    return address;
  }

  /** Leads to another server from now on. */
  leadTo(target: TestRedis): void {
    this.target = target;
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  open() {
    const { port } = this.#server.address() as { port: number };
    return openStorage({ connector: "redis.redis.v1", url: `redis://127.0.0.1:${port}` });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.leadTo(this.target);
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

type Store = Awaited<ReturnType<LossyAddress["open"]>>;

const add = async (storage: Store, by: number, more = {}) =>
  (await storage.shared!.add([{ key: "sum", by, expiresAt, ...more }]))[0]!;

/** Reads the counter as soon as Redis can be reached again. */
async function read(storage: Store, more = {}): Promise<number> {
  let sum: number | undefined;
  await until(async () => {
    sum = await add(storage, 0, more).catch(() => undefined);
    return sum !== undefined;
  }, "it is reached again");
  return sum!;
}

(hasRedis ? describe : describe.skip)("A call of a Redis", () => {
  afterAll(() => new Promise((resolve) => setTimeout(resolve, 600))); // a client closed between two tries ends later

  it("counts once, when it is made again because its reply was lost", async () => {
    await using redis = await TestRedis.start();
    await using address = await LossyAddress.start(redis);
    const storage = await address.open();
    const reserve = () => storage.shared!.reserve([{ key: "sum", amount: 20, limit: 30, expiresAt, isLeased: true }]);
    for (const call of [() => add(storage, 5), reserve]) {
      await read(storage);
      address.losesReply = true;
      await assertRejects(call, ConnectorError);
    }
    assertEquals(await read(storage), 0);
    assertEquals(await add(storage, 5), 5);
    assertEquals((await reserve()).isGranted, true);
    await storage.close!();
    const other = await address.open();
    assertEquals(await add(other, 0), 5); // the lease has ended with its process
    await other.close!();
  });

  it("counts on a new master that had not received it, whatever other processes know of it", async () => {
    await using old = await TestRedis.start();
    await using next = await TestRedis.start();
    await next.command(`REPLICAOF 127.0.0.1 ${old.port}`);
    await using address = await LossyAddress.start(old);
    const [one, other] = [await address.open(), await address.open()];
    await add(one, 5);
    await add(other, 1);
    await until(async () => (await next.command(`GET "modelmesh:sum:sum"`)).includes("6"));
    await next.command("REPLICAOF NO ONE");
    await add(one, 3);
    await add(other, 2);
    const lease = { key: "sum", amount: 4, limit: 100, expiresAt, isLeased: true };
    assertEquals((await one.shared!.reserve([lease])).sums, [15]);
    address.leadTo(next);
    const known = { atLeast: 11 };
    for (const storage of [other, one, other]) await read(storage, known);
    assertEquals(await add(one, 0, known), 15);
    assertEquals(await add(one, -1, { leased: -4 }), 14);
    await one.close!();
    assertEquals(await add(other, 0), 14); // nothing is leased any more
    await other.close!();
  });

  it("raises a counter to what it has reached, where Redis has lost all", async () => {
    await using redis = await TestRedis.start();
    await using address = await LossyAddress.start(redis);
    const storage = await address.open();
    await add(storage, 5);
    await redis.kill();
    await redis.start();
    assertEquals(await read(storage, { atLeast: 5 }), 5);
    assertEquals(await add(storage, 2, { atLeast: 5 }), 7);
    await storage.close!();
    assert((await redis.command("KEYS", "*")).includes("modelmesh:sum:sum"));
  });
});
