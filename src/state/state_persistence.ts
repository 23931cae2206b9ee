/**
 * The `storage` option of `create`: persistence of states that is opened with the first state.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import type { Storage } from "../contracts/storage.ts";
import type { StateStore, Tracer } from "./persistence/state_store.ts";

/** Where state is persisted: the `storage` option of `create`. Made by `stateIn`. */
export interface StatePersistence {
  /** Distinguishes it from other values. */
  readonly persists: "states";
}

/** Shared by all copies of this package in a program; not visible to programs. */
const makeKey = /* @__PURE__ */ Symbol.for("modelmesh.stateStore");

/** Creates the store of one mesh. */
type MakeStore = (parts: { readonly clock: Clock; readonly hub: Tracer }) => StateStore;

/** Wraps a store factory as the value that programs pass to `create`. */
export function statePersistence(make: MakeStore): StatePersistence {
  const persistence = { persists: "states", [makeKey]: make } as const;
  return persistence;
}

/** Returns the store factory; undefined for any value not made by {@linkcode statePersistence}. */
export function findStoreMaker(persistence: StatePersistence | undefined): MakeStore | undefined {
  return (persistence as { readonly [makeKey]?: MakeStore } | undefined)?.[makeKey];
}

/**
 * Creates a store that is opened with the first load.
 *
 * @param open Opens it; undefined while there is none.
 */
export function storeOnDemand(open: () => Promise<StateStore | undefined>): StateStore {
  let store: StateStore | undefined;
  return {
    get storage() {
      return store?.storage;
    },
    load: async (state) => await (store ??= await open())?.load(state),
    mark: () => store?.mark(),
    close: async () => await store?.close(),
  };
}

/** Options of `stateIn`. */
export interface StateInOptions {
  /**
   * Behavior while a storage shared by several processes is unavailable. `open` continues with the state known to each
   * process; `closed` rejects startup, and requests under a budget. Defaults to `open`.
   */
  readonly onUnavailable?: "open" | "closed";
}

/**
 * Persists states in a storage, including spent budgets and counters of limits. They are read at startup, and written
 * after each change and at the end. Processes on a storage with the facet `Shared`, such as Redis and PostgreSQL, also
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
    storeOnDemand(async () => (await import("./open.ts")).openStoreIn(storage, { ...parts, onUnavailable }))
  );
}
