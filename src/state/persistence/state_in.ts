/**
 * Where states are kept on a server, and shared.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { Shared, Storage } from "../../contracts/storage.ts";
import { defaultStorage } from "../../config/settings/defaults.ts";
import { CodedStorage } from "../../storage/coded_storage.ts";
import { SnapshotStore } from "./snapshot_store.ts";
import { ReplicatedStore } from "../replication/replicated_store.ts";
import { type StatePersistence, statePersistence, type StateStore, type Tracer } from "./state_store.ts";

/** Options of {@linkcode stateIn}. */
export interface StateInOptions {
  /**
   * What happens while a storage that several processes share is unavailable: `open` goes on with what each process knows,
   * `closed` refuses to start and refuses requests under a budget. `open` unless given.
   */
  readonly onUnavailable?: "open" | "closed";
}

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
  const coded = storage instanceof CodedStorage
    ? storage
    : new CodedStorage(storage, { format: defaultStorage.format, isCompressed: false });
  const { shared } = storage;
  return statePersistence((parts) =>
    shared === undefined
      ? new SnapshotStore({ ...parts, storage: coded, settings: defaultStorage })
      : replicatedStore(shared, coded, { ...parts, onUnavailable })
  );
}

/** What a shared state needs beside its storage. */
interface ReplicatedStoreOptions extends Required<StateInOptions> {
  readonly clock: Clock;
  readonly hub: Tracer;
  /** What is shared is in another process of this machine. @default false */
  readonly isLocal?: boolean;
}

/**
 * Keeps a state that several processes share.
 *
 * @param shared What they agree on.
 * @param records Where the state is kept beyond all of them; undefined: nowhere.
 */
export function replicatedStore(
  shared: Shared,
  records: CodedStorage | undefined,
  { clock, hub, onUnavailable, isLocal = false }: ReplicatedStoreOptions,
): StateStore {
  const parts = { clock, hub, settings: defaultStorage, replicated: { onUnavailable } };
  const store = records && new SnapshotStore({ ...parts, storage: records });
  return new ReplicatedStore({ shared, store, onUnavailable, clock, hub, isLocal, id: crypto.randomUUID() });
}
