/**
 * What keeps states in a storage. Imported when a state is loaded from one.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { Shared, Storage } from "../../contracts/storage.ts";
import { defaultStorage } from "../../config/settings/defaults.ts";
import { CodedStorage } from "../../storage/coded_storage.ts";
import { ReplicatedStore } from "../replication/replicated_store.ts";
import { SnapshotStore } from "./snapshot_store.ts";
import type { StateStore, Tracer } from "./state_store.ts";

/** Options of `stateIn`. */
export interface StateInOptions {
  /**
   * What happens while a storage that several processes share is unavailable: `open` goes on with what each process knows,
   * `closed` refuses to start and refuses requests under a budget. `open` unless given.
   */
  readonly onUnavailable?: "open" | "closed";
}

/** What a store needs beside its storage. */
interface StoreOptions extends Required<StateInOptions> {
  readonly clock: Clock;
  readonly hub: Tracer;
}

/**
 * Keeps a state in a storage, and shares it where the storage can.
 *
 * @param storage Where.
 */
export function storeIn(storage: Storage, options: StoreOptions): StateStore {
  const coded = storage instanceof CodedStorage
    ? storage
    : new CodedStorage(storage, { format: defaultStorage.format, isCompressed: false });
  const { clock, hub } = options;
  return storage.shared === undefined
    ? new SnapshotStore({ clock, hub, storage: coded, settings: defaultStorage })
    : replicatedStore(storage.shared, coded, options);
}

/** What a shared state needs beside its storage. */
interface ReplicatedStoreOptions extends StoreOptions {
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
