/**
 * Several Redis servers that belong together: a cluster, or a master with a replica and a sentinel. They fail over
 * within a few seconds; sooner, busy machines would let them fail over by chance.
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./patience.ts";
import { portForRestarts } from "./ports.ts";
import { TestRedis } from "./redis.ts";

const masterName = "state";

/** Servers in one folder, which all end together. */
class RedisGroup implements AsyncDisposable {
  protected readonly folder: string = mkdtempSync(join(tmpdir(), "modelmesh-redis-"));
  readonly servers: TestRedis[] = [];

  protected async add(args: readonly string[] = []): Promise<TestRedis> {
    const server = await TestRedis.start(["--dir", this.folder, ...args]);
    this.servers.push(server);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A cluster of three masters, each with a replica if there are any. */
export class TestRedisCluster extends RedisGroup {
  readonly #busPorts: string[] = [];

  /**
   * Starts a cluster.
   *
   * @param options `replicas`: whether each master has one; `args`: further options of each server.
   */
  static async start(
    { replicas = false, args = [] }: { readonly replicas?: boolean; readonly args?: readonly string[] } = {},
  ): Promise<TestRedisCluster> {
    const cluster = new TestRedisCluster();
    await Promise.all(Array.from({ length: replicas ? 6 : 3 }, async (_, index) => {
      const bus = cluster.#busPorts[index] = String(await portForRestarts());
      const own = ["--cluster-enabled", "yes", "--cluster-config-file", `nodes-${index}.conf`, "--cluster-port", bus];
      cluster.servers[index] = await TestRedis.start([
        "--dir",
        cluster.folder,
        ...own,
        "--cluster-node-timeout",
        "1500",
        ...args,
      ]);
    }));
    await cluster.#join();
    if (replicas) await cluster.#replicate();
    return cluster;
  }

  /** Addresses of all nodes. */
  get nodes(): string[] {
    return this.servers.map(({ port }) => `127.0.0.1:${port}`);
  }

  /** Returns the master that has a key. */
  async findMaster(key: string): Promise<TestRedis> {
    for (const server of this.servers) {
      const answer = await server.command("GET", key).catch(() => "");
      const port = /MOVED \d+ \S+:(\d+)/.exec(answer)?.[1] ?? (/^[$_]/.test(answer) ? server.port : undefined);
      if (port !== undefined) return this.servers.find((one) => one.port === Number(port))!;
    }
    throw new Error(`no server has ${key}`);
  }

  async #join(): Promise<void> {
    const ranges = ["0 5460", "5461 10922", "10923 16383"];
    for (const [index, range] of ranges.entries()) {
      await this.servers[index]!.command(`CLUSTER ADDSLOTSRANGE ${range}`);
      await this.servers[index]!.command(`CLUSTER SET-CONFIG-EPOCH ${index + 1}`);
    }
    const [first, ...others] = this.servers;
    for (const [index, { port }] of others.entries()) {
      await first!.command(`CLUSTER MEET 127.0.0.1 ${port} ${this.#busPorts[index + 1]}`);
    }
    await until(async () => {
      const infos = await Promise.all(this.servers.map((server) => server.command("CLUSTER INFO")));
      return infos.every((info) =>
        info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${this.servers.length}`)
      );
    }, "the cluster is complete");
  }

  async #replicate(): Promise<void> {
    await Promise.all(
      this.servers.slice(3).map(async (server, index) => {
        const id = /[0-9a-f]{40}/.exec(await this.servers[index]!.command("CLUSTER MYID"))![0];
        await server.command(`CLUSTER REPLICATE ${id}`);
        await until(async () => (await server.command("INFO replication")).includes("master_link_status:up"));
      }),
    );
  }
}

/** A master, a replica, and a sentinel. */
export class TestRedisSentinel extends RedisGroup {
  readonly sentinel!: TestRedis;

  /**
   * Starts them.
   *
   * @param options Further options of master and replica, and lines of the sentinel's configuration.
   */
  static async start(
    { args = [], lines = [] }: { readonly args?: readonly string[]; readonly lines?: readonly string[] } = {},
  ): Promise<TestRedisSentinel> {
    const group = new TestRedisSentinel();
    const master = await group.add(args);
    await group.add(["--replicaof", `127.0.0.1 ${master.port}`, ...args]);
    const path = join(group.folder, "sentinel.conf");
    const monitor = `sentinel monitor ${masterName} 127.0.0.1 ${master.port} 1`;
    const times = ["down-after-milliseconds", "failover-timeout"].map((name, index) =>
      `sentinel ${name} ${masterName} ${[1_000, 3_000][index]}`
    );
    writeFileSync(path, [monitor, ...times, ...lines, ""].join("\n"));
    return Object.assign(group, { sentinel: await TestRedis.start([path, "--sentinel"]) });
  }

  /** The value of `storage.sentinel`. */
  get setting(): { readonly master: string; readonly nodes: readonly string[] } {
    return { master: masterName, nodes: [`127.0.0.1:${this.sentinel.port}`] };
  }

  /** Returns the present master. */
  async findMaster(): Promise<TestRedis> {
    const answer = await this.sentinel.command(`SENTINEL GET-MASTER-ADDR-BY-NAME ${masterName}`).catch(() => "");
    const port = Number(/\r\n(\d+)\r\n/.exec(answer)?.[1]);
    return this.servers.find((server) => server.port === port)!;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.sentinel.kill();
    await super[Symbol.asyncDispose]();
  }
}
