/**
 * The engines that a fleet of proxies can share its state on, each with the failure that it is built to survive.
 * @module
 */
import { hasPostgres, TestPostgres } from "./postgres.ts";
import { hasRedis, TestRedis } from "./redis.ts";
import { TestRedisCluster, TestRedisSentinel } from "./redis_groups.ts";

/** A running engine. */
export interface FleetEngine extends AsyncDisposable {
  /** Attributes of a storage on it. */
  readonly storage: Readonly<Record<string, unknown>>;
  /** Lets it fail and return: it hangs, restarts, or a replica takes over. */
  failOver(): Promise<void>;
}

/** A kind of engine. */
export interface FleetEngineKind {
  readonly title: string;
  readonly isInstalled: boolean;
  /** @param prefix Prefix of all keys. */
  readonly start: (prefix: string) => Promise<FleetEngine>;
}

/** How long an engine hangs or is down, ms: longer than the 0.5 s after which it counts as unavailable. */
const downMs = 1_500;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** All kinds. */
export const fleetEngines: readonly FleetEngineKind[] = [
  {
    title: "a Redis, which hangs",
    isInstalled: hasRedis,
    start: async (prefix) => {
      const redis = await TestRedis.start();
      return {
        storage: { connector: "redis.redis.v1", url: redis.url, prefix },
        async failOver() {
          redis.freeze();
          await pause(downMs);
          redis.thaw();
        },
        [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
      };
    },
  },
  {
    title: "a Redis Cluster, of which a master is killed",
    isInstalled: hasRedis,
    start: async (prefix) => {
      const cluster = await TestRedisCluster.start({ replicas: true });
      return {
        storage: { connector: "redis.redis.v1", cluster: cluster.nodes, prefix },
        failOver: async () => await (await cluster.findMaster(`{${prefix}}`)).kill(),
        [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
      };
    },
  },
  {
    title: "a Redis behind sentinels, whose master is killed",
    isInstalled: hasRedis,
    start: async (prefix) => {
      const group = await TestRedisSentinel.start();
      return {
        storage: { connector: "redis.redis.v1", sentinel: group.setting, prefix },
        failOver: async () => await (await group.findMaster()).kill(),
        [Symbol.asyncDispose]: () => group[Symbol.asyncDispose](),
      };
    },
  },
  {
    title: "a PostgreSQL, which crashes and returns",
    isInstalled: hasPostgres,
    start: async () => {
      const postgres = await TestPostgres.start();
      return {
        storage: postgres.storage,
        async failOver() {
          await postgres.kill();
          await pause(downMs);
          await postgres.start();
        },
        [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
      };
    },
  },
];
