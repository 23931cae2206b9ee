/**
 * Where states are kept on a server, and shared.
 * @module
 */
import type { Storage } from "../contracts/storage.ts";
import { ConnectorError } from "../errors.ts";
import type { Hub } from "../observe/hub.ts";
import { SharedState } from "./shared_state.ts";
import type { StateKeeping } from "./state_keeper.ts";
import { StateSync } from "./state_sync.ts";

/** Options of {@linkcode stateIn}. */
export interface StateInOptions {
  /**
   * What happens while a storage that several processes share is away: `open` goes on with what each process knows,
   * `closed` refuses to start and refuses requests under a budget. `open` unless given.
   */
  readonly onUnavailable?: "open" | "closed";
}

/**
 * Keeps states in a storage. Processes on one storage that has the facet `Shared`, such as `redisStorage()`, also share
 * budgets, limits, rates, and who is set aside.
 *
 * @param storage Where.
 * @param options What happens while it is away.
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
export function stateIn(storage: Storage, { onUnavailable = "open" }: StateInOptions = {}): StateKeeping {
  const { shared } = storage;
  return {
    keeperOf({ clock, hub }) {
      if (shared === undefined) return new StateSync({ clock, hub, storage });
      const keeper = new StateSync({ clock, hub, storage: recordsIn(storage, onUnavailable, hub) });
      return new SharedState({ shared, keeper, onUnavailable, clock, hub, id: crypto.randomUUID() });
    },
  };
}

/**
 * A storage's records for one of several processes. They are read once: later on what others set aside is heard from
 * themselves, and their records would bring back what somebody has ended since.
 */
function recordsIn(storage: Storage, onUnavailable: "open" | "closed", hub: Hub): Pick<Storage, "load" | "save"> {
  let isRead = false;
  let isTold = false;
  return {
    async load(key) {
      if (isRead) return undefined;
      try {
        const record = await storage.load(key);
        isRead = true;
        return record;
      } catch (error) {
        const isAway = ConnectorError.isInstance(error) && error.problem === "unavailable";
        if (!isAway || onUnavailable === "closed") throw error;
        if (!isTold) hub.trace({ severity: "warning", component: "storage", message: error.message });
        isTold = true;
        return undefined;
      }
    },
    save: (key, data) => storage.save(key, data),
  };
}
