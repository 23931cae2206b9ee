/** A Redis whose user may do what the documentation lists, and no more. */
import { assert, assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { readFileSync } from "node:fs";
import { redisAddress } from "../../connectors/storage/_redis_address.ts";
import { RedisStorage } from "../../connectors/storage/redis.ts";
import { ConnectorError } from "../../src/errors.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { makeFolder } from "../support/_library.ts";
import { until } from "../support/patience.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";

const page = readFileSync(new URL("../../docs/scaling.md", import.meta.url), "utf8");
const documented = /^ACL SETUSER modelmesh .*$/m.exec(page)![0];
const commands = [...documented.matchAll(/\+(\S+)/g)].map(([, name]) => name!);
const password = "password-of-modelmesh";
const { clock } = serverRuntime();
const bytes = new TextEncoder().encode("{}");
const leaseMs = 100;

let server: TestRedis;

function createRestrictedStorage(prefix = "modelmesh", db = 1): RedisStorage {
  const url = `redis://modelmesh:${password}@127.0.0.1:${server.port}/${db}`;
  return new RedisStorage(clock, { address: redisAddress({ url }), prefix, leaseMs });
}

/** Everything that a storage does; what was refused. */
async function useAll(open: () => RedisStorage = createRestrictedStorage): Promise<string[]> {
  const refused: string[] = [];
  const [one, other] = [open(), open()];
  const expiresAt = clock.now() + 1e6;
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      assert(ConnectorError.isInstance(error), String(error));
      assertEquals(error.problem, "forbidden", error.message);
      refused.push(error.message);
    }
  };
  const read = async () => (await other.shared.add([{ key: "sum", by: 0, expiresAt }]))[0];
  const works: (() => Promise<unknown>)[] = [
    () => one.save("state", bytes),
    () => one.load("state"),
    () => one.list(),
    () => one.stat("state"),
    () => one.exists("state"),
    () => one.delete("state"),
    async () => one.release(await one.acquire("state", { owner: "one", ttlMs: 1_000, timeoutMs: 0 })),
    () => one.acquire("again", { owner: "one", ttlMs: 1_000, timeoutMs: 0 }),
    () => one.acquire("again", { owner: "one", ttlMs: 1_000, timeoutMs: 0 }),
    () => one.isLocked("state"),
    () => one.entries.set("key", bytes, expiresAt),
    () => one.entries.get("key"),
    () => one.entries.stats(),
    () => one.entries.clear(),
    () => one.entries.delete("key"),
    () => one.shared.reserve([{ key: "sum", amount: 5, limit: 9, expiresAt, isLeased: true }]),
    () => one.shared.add([{ key: "sum", by: -1, leased: -1, expiresAt }]),
    async () => {
      for (let tries = 0; tries < 20 && await read() !== 0; tries++) await clock.sleep(20); // its lease is ended
    },
    () => one.shared.add([{ key: "sum", by: -4, leased: -4, expiresAt }]), // and is back
    () => one.shared.publish("news", "a"),
    async () => await (await one.shared.subscribe("news", () => {}))(),
    () => one.shared.end(),
    () => other.shared.end(),
  ];
  for (const work of works) await attempt(work);
  await one.close();
  await other.close();
  return refused;
}

(hasRedis ? describe : describe.skip)("A Redis with access control", () => {
  beforeAll(async () => {
    server = await TestRedis.start();
    await server.command(documented.replace(">PASSWORD", `>${password}`));
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it("serves with the documented permissions", async () => {
    assertEquals(await useAll(), []);
    assertEquals((await server.command("ACL LOG")).split("\r\n")[0], "*0");
  });

  for (const command of commands) {
    it(`names the command that is not allowed: ${command}`, async () => {
      await server.command("FLUSHALL"); // a script that is refused leaves what it has done
      await server.command(`ACL SETUSER modelmesh -${command}`);
      const refused = await useAll();
      await server.command(`ACL SETUSER modelmesh +${command}`);
      const named = refused.filter((message) => new RegExp(`command ${command} \\(NOPERM\\)`, "i").test(message));
      assert(named.length > 0, `${command} is not required`);
      assertEquals(refused, named);
    });
  }

  it("names the keys and channels that are not allowed", async () => {
    const storage = createRestrictedStorage("another");
    for (const work of [() => storage.load("state"), () => storage.shared.publish("news", "a")]) {
      const { message } = await work().then(() => new Error("allowed"), (error) => error as Error);
      assert(/no permission for its (keys|channels) \(NOPERM\)/.test(message), message);
    }
    await storage.close();
  });
});

/** The rights in addition, and keys and channels in place of those of one server. */
const inCluster = [
  .../In a cluster, the keys are[^.]*\./.exec(page.replaceAll("\n", " "))![0].matchAll(/`([~&+][^`]+)`/g),
];

(hasRedis ? describe : describe.skip)("A Redis Cluster with access control", () => {
  it("serves with the documented permissions", async () => {
    const folder = await makeFolder();
    await using node = await TestRedis.start(["--cluster-enabled", "yes", "--dir", folder.path]);
    await node.command("CLUSTER ADDSLOTSRANGE 0 16383");
    await until(async () => (await node.command("CLUSTER INFO")).includes("cluster_state:ok"));
    const rights = inCluster.map(([, right]) => right);
    const user = documented.replace(">PASSWORD", `>${password}`).replace(/[~&]modelmesh:\*/g, "");
    await node.command(`${user} ${rights.join(" ")}`);
    const login = { username: "modelmesh", password };
    const address = redisAddress({ cluster: [`127.0.0.1:${node.port}`], read_from: "replica", ...login });
    assertEquals(await useAll(() => new RedisStorage(clock, { address, leaseMs })), []);
    assertEquals((await node.command("ACL LOG")).split("\r\n")[0], "*0");
    await folder[Symbol.asyncDispose]();
  });
});
