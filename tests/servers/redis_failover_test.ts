/** Redis fails over, or refuses: proxies find the new master by themselves, and warnings name the cause. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { afterAll, describe, it } from "@std/testing/bdd";
import { connect, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { redisAddress } from "../../connectors/storage/_redis_address.ts";
import { RedisStorage } from "../../connectors/storage/redis.ts";
import { openStorage } from "../../mod.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { until } from "../support/patience.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import { type SharedProxies, startSharedProxies } from "../support/shared_proxies.ts";
import { keyPair } from "../support/_tls.ts";
import { tally } from "../support/_tuned.ts";
import { ok, startUpstream } from "../support/upstream.ts";

const answer = ok({ text: "hello", usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } });
const pricing = { input: 0, output: 0, per_request: 1 };
const times = (count: number) => Array.from({ length: count }, (_, index) => index);

/** An address that leads to one server after the other: connections stay where they are. */
class Address implements AsyncDisposable {
  target: TestRedis;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => {
    const onward = connect(this.target.port, "127.0.0.1");
    for (const [from, to] of [[socket, onward], [onward, socket]] as const) {
      this.#sockets.add(from);
      from.pipe(to);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
  });

  private constructor(target: TestRedis) {
    this.target = target;
  }

  static async of(target: TestRedis): Promise<Address> {
    const address = new Address(target);
    await new Promise<void>((resolve) => address.#server.listen(0, "127.0.0.1", resolve));
    return address;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as { port: number }).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function start(redis: Pick<TestRedis, "url">, upstream: { url: string }, dollars: number) {
  const models = { a: { provider: "a", capabilities: ["chat-completion"], pricing } };
  const config = { models, budget: { daily_limit: dollars } };
  return startSharedProxies({
    redis: redis as TestRedis,
    upstreams: { a: upstream.url },
    config,
    prefix: "failover",
    onUnavailable: "closed",
  });
}

const lastOf = (traces: readonly string[]) => traces.findLast((trace) => trace.includes("storage is")) ?? "";

/** Lets time pass until all say so of the store. */
async function notice(proxies: SharedProxies, what: string): Promise<void> {
  await until(async () => {
    if (proxies.every(({ traces }) => lastOf(traces).includes(what))) return true;
    await proxies.hear();
    return false;
  }, () => `all say ${what}: ${JSON.stringify(proxies.map(({ traces }) => traces))}`);
}

const warnings = (proxies: SharedProxies) =>
  proxies.flatMap(({ traces }) => traces).filter((trace) => trace.startsWith("warning")).join("\n");

(hasRedis ? describe : describe.skip)("Proxies whose Redis fails over", () => {
  afterAll(() => new Promise((resolve) => setTimeout(resolve, 600))); // a client closed between two tries ends later

  it("leave the old master as soon as it is a replica, and count on with the new one, exactly", async () => {
    await using old = await TestRedis.start();
    await using next = await TestRedis.start();
    await next.command(`REPLICAOF 127.0.0.1 ${old.port}`);
    await using address = await Address.of(old);
    await using upstream = await startUpstream(answer);
    await using proxies = await start(address, upstream, 10);
    for (const index of times(4)) assertEquals((await proxies[index % 2]!.chat()).status, 200);
    await proxies.hear();
    await until(async () =>
      (await next.command(`GET "failover:sum:budget all day 2026-01-01 spent"`)).includes("4000000000")
    );
    await next.command("REPLICAOF NO ONE");
    await old.command(`REPLICAOF 127.0.0.1 ${next.port}`);
    address.target = next;
    await notice(proxies, "unavailable");
    assertMatch(warnings(proxies), /it is a read-only replica \(READONLY\)/);
    await notice(proxies, "available again");
    const all = await Promise.all(times(20).map((index) => proxies[index % 2]!.chat()));
    assertEquals(tally(all.map(({ status, code }) => code ?? status)), { 200: 6, budget_exceeded: 14 });
    assertEquals(upstream.calls, 10);
    proxies[0]!.mesh.deactivate("a"); // messages arrive by the new one, too
    await until(async () => {
      await proxies.hear();
      return proxies[1]!.mesh.listModels()[0]!.status === "standby";
    });
  });

  it("come back from a replica that has lost its master", async () => {
    await using old = await TestRedis.start();
    await using next = await TestRedis.start();
    await using address = await Address.of(next);
    await next.command(`REPLICAOF 127.0.0.1 ${old.port}`);
    await next.command("CONFIG SET replica-serve-stale-data no");
    await old.kill();
    await until(async () => (await next.command("GET a")).includes("MASTERDOWN"));
    const storage = new RedisStorage(serverRuntime().clock, { address: redisAddress({ url: address.url }) });
    const failed = await storage.load("state").then(() => undefined, (error) => error);
    assertMatch(String(failed?.message), /it is a replica without its master \(MASTERDOWN\)/);
    assertEquals(failed.problem, "unavailable");
    await next.command("REPLICAOF NO ONE");
    await until(() => storage.save("state", new Uint8Array()).then(() => true, () => false));
    await storage.close();
  });

  const causes: Readonly<Record<string, { do: readonly string[]; undo: readonly string[]; named: RegExp }>> = {
    "a user without a permission": {
      do: ["ACL SETUSER default -zadd"],
      undo: ["ACL SETUSER default +zadd"],
      named: /no permission for the command ZADD \(NOPERM\)/,
    },
    "a memory that is used up": {
      do: ["CONFIG SET maxmemory 1mb"],
      undo: ["CONFIG SET maxmemory 0"],
      named: /its memory is used up \(OOM\)/,
    },
    "another password": {
      do: ["ACL SETUSER default resetpass >other", "CLIENT KILL TYPE normal", "CLIENT KILL TYPE pubsub"],
      undo: ["AUTH other", "ACL SETUSER default nopass"],
      named: /wrong username or password \(WRONGPASS\)|it requires a password \(NOAUTH\)/,
    },
    "too few replicas": {
      do: ["CONFIG SET min-replicas-to-write 3"],
      undo: ["CONFIG SET min-replicas-to-write 0"],
      named: /it has too few replicas to write \(NOREPLICAS\)/,
    },
  };
  for (const [cause, { do: begin, undo, named }] of Object.entries(causes)) {
    it(`name the cause in their warning, and go on after it: ${cause}`, async () => {
      await using redis = await TestRedis.start();
      await using upstream = await startUpstream(answer);
      await using proxies = await start(redis, upstream, 100);
      assertEquals((await proxies[0]!.chat()).status, 200);
      await redis.command(begin.join("\r\n"));
      await notice(proxies, "unavailable");
      await until(async () => {
        await proxies.hear();
        return proxies.every(({ traces }) => traces.some((trace) => named.test(trace)));
      }, () => `all name the cause: ${warnings(proxies)}`);
      const count = () => proxies.flatMap(({ traces }) => traces).length;
      const before = count();
      for (const _ of times(5)) await proxies.hear();
      assert(count() <= before + 1, "warnings do not repeat");
      await redis.command(undo.join("\r\n"));
      await notice(proxies, "available again");
      assertEquals((await proxies[0]!.chat()).status, 200);
    });
  }

  it("name a certificate that is not accepted", async () => {
    const server = createTlsServer(keyPair("other_server.pem", "other_server.key"), (socket) => socket.destroy());
    server.on("tlsClientError", () => {});
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `rediss://127.0.0.1:${(server.address() as { port: number }).port}`;
    const storage = await openStorage({ connector: "redis.redis.v1", url });
    const failed = await storage.load("state").then(() => undefined, (error) => error);
    assertMatch(String(failed?.message), /its certificate is not accepted: \S/);
    await storage.close?.();
    await new Promise((resolve) => server.close(resolve));
  });
});
