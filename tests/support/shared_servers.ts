/**
 * The servers through which proxies share state, for suites that hold for each of them.
 * @module
 */
import { describe } from "@std/testing/bdd";
import { hasPostgres, TestPostgres } from "./postgres.ts";
import { hasRedis, TestRedis } from "./redis.ts";

/** A running server. */
export interface SharedServer extends AsyncDisposable {
  /** Attributes of a storage on it. */
  readonly storage: Readonly<Record<string, unknown>>;
}

/** A kind of server. */
interface SharedServerKind {
  readonly title: string;
  readonly isInstalled: boolean;
  readonly start: () => Promise<SharedServer>;
}

const kinds: readonly SharedServerKind[] = [
  {
    title: "Redis",
    isInstalled: hasRedis,
    start: async () => {
      const redis = await TestRedis.start();
      const storage = { connector: "redis.redis.v1", url: redis.url };
      return { storage, [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose]() };
    },
  },
  { title: "PostgreSQL", isInstalled: hasPostgres, start: () => TestPostgres.start() },
];

/**
 * Describes what holds on each kind of server.
 *
 * @param title What it is about; the kind follows.
 * @param body Declares the tests of one kind, of which it can start a server.
 */
export function describeOnServers(title: string, body: (start: () => Promise<SharedServer>) => void): void {
  for (const { title: kind, isInstalled, start } of kinds) {
    (isInstalled ? describe : describe.skip)(`${title} ${kind}`, () => body(start));
  }
}
