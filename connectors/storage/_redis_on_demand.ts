/**
 * A storage in Redis whose code is imported with its first call, for programs that may not use it.
 * @module
 */
import type { Runtime } from "../../src/contracts/runtime.ts";
import type { Shared, Storage } from "../../src/contracts/storage.ts";
import { onceResolved } from "../../src/util/once.ts";
import { checkPrefix, leaseMs, redisAddress, type RedisOptions } from "./_redis_address.ts";

/**
 * Creates the storage.
 *
 * @throws {ConfigError} If an option is invalid; reports all errors at once.
 */
export function redisOnDemand(
  { clock, files, random, requireConnection }: Pick<Runtime, "clock" | "files" | "random" | "requireConnection">,
  { prefix = "modelmesh", readFrom, ...others }: RedisOptions,
): Storage {
  const address = redisAddress({ ...others, read_from: readFrom });
  checkPrefix(prefix);
  let shared: Shared | undefined;
  const open = onceResolved(async () => {
    const { RedisStorage } = await import("./redis.ts");
    const readText = files && ((path: string) => files.readText(path));
    const storage = new RedisStorage(clock, { address, prefix, random, requireConnection, readText });
    shared = storage.shared;
    return storage;
  });
  return {
    load: async (key) => (await open()).load(key),
    save: async (key, data) => (await open()).save(key, data),
    list: async (prefix) => (await open()).list(prefix),
    delete: async (key) => (await open()).delete(key),
    stat: async (key) => (await open()).stat(key),
    exists: async (key) => (await open()).exists(key),
    acquire: async (key, options) => (await open()).acquire(key, options),
    release: async (lock) => (await open()).release(lock),
    isLocked: async (key) => (await open()).isLocked(key),
    close: async () => (await open()).close(),
    entries: {
      get: async (key) => (await open()).entries.get(key),
      set: async (key, data, expiresAt) => (await open()).entries.set(key, data, expiresAt),
      delete: async (key) => (await open()).entries.delete(key),
      stats: async () => (await open()).entries.stats(),
      clear: async () => (await open()).entries.clear(),
    },
    shared: {
      leaseMs,
      get lostLeases() {
        return shared?.lostLeases ?? 0;
      },
      add: async (changes) => (await open()).shared.add(changes),
      reserve: async (reservations) => (await open()).shared.reserve(reservations),
      publish: async (channel, message) => (await open()).shared.publish(channel, message),
      subscribe: async (channel, receive) => (await open()).shared.subscribe(channel, receive),
    },
  };
}
