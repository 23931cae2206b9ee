/**
 * Where states are kept on a server, and shared.
 * @module
 */
import type { Storage } from "../../contracts/storage.ts";
import { type StatePersistence, statePersistence } from "./state_store.ts";
import type { StateInOptions } from "./store_in.ts";
import { storeOnDemand } from "./store_on_demand.ts";

export type { StateInOptions };

/**
 * Keeps states in a storage, spent budgets and counts of limits included: read at the start, written at every change of
 * a state and at the end. Processes on one storage that has the facet `Shared`, such as `redisStorage()`, also share
 * budgets, limits, rates, and standbys.
 *
 * @param storage Where.
 * @param options What happens while it is unavailable.
 *
 * @example
 * ```ts ignore
 * const storage = redisStorage({ url: "redis://127.0.0.1" });
 * const client = create("chat-completion", { storage: stateIn(storage) });
 * // …
 * await client.close();
 * await storage.close?.();
 * ```
 */
export function stateIn(storage: Storage, { onUnavailable = "open" }: StateInOptions = {}): StatePersistence {
  return statePersistence((parts) =>
    storeOnDemand(async () => (await import("./store_in.ts")).storeIn(storage, { ...parts, onUnavailable }))
  );
}
