/**
 * Persists state in a storage, which several processes can share.
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
   * Behavior while a shared storage is unavailable: `open` continues with what each process knows; `closed` refuses to
   * start, and rejects requests under a budget.
   *
   * @default {"open"}
   */
  readonly onUnavailable?: "open" | "closed";
}

/**
 * Persists state in a storage, including budgets and counters of limits. State is read at the start, and written at
 * every change and at the end. Processes on a storage with the facet `Shared`, such as `redisStorage()`, also share
 * budgets, limits, rates and standbys.
 *
 * @param storage The storage. The program closes it, after the client.
 * @param options Behavior while the storage is unavailable.
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

/** Dependencies of a replicated store. */
interface ReplicatedStoreOptions extends Required<StateInOptions> {
  readonly clock: Clock;
  readonly hub: Tracer;
  /** Whether the shared storage is in another process of this machine. @default false */
  readonly isLocal?: boolean;
}

/**
 * Persists a state that several processes share.
 *
 * @param shared The facet that processes share.
 * @param records The storage that persists the state; undefined for none.
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
