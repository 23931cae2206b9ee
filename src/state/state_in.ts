/**
 * Persistence and sharing of states on servers.
 * @module
 */
import type { Storage } from "../contracts/storage.ts";
import { type StatePersistence, statePersistence, storeOnDemand } from "./persistence/state_store.ts";
import type { StateInOptions } from "./open.ts";

export type { StateInOptions };

/**
 * Persists states in a storage, including spent budgets and counters of limits. They are read at startup, and written
 * after each change and at the end. Processes on a storage with the facet `Shared`, such as `redisStorage()`, also
 * share budgets, limits, rates, and standbys.
 *
 * @param options The behavior while it is unavailable.
 *
 * @example
 * ```ts
 * import { create, redisStorage, stateIn } from "@modelmesh/core";
 *
 * const storage = redisStorage({ url: "redis://127.0.0.1" });
 * const client = create("chat-completion", { storage: stateIn(storage) });
 * // …
 * await client.close();
 * await storage.close?.();
 * ```
 */
export function stateIn(storage: Storage, { onUnavailable = "open" }: StateInOptions = {}): StatePersistence {
  return statePersistence((parts) =>
    storeOnDemand(async () => (await import("./open.ts")).storeIn(storage, { ...parts, onUnavailable }))
  );
}
