/**
 * Creates stores of states in a storage. Imported when a state is loaded from one.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import type { Shared, Storage } from "../contracts/storage.ts";
import { defaultStorage } from "../config/settings/defaults.ts";
import { CodedStorage } from "../storage/coded_storage.ts";
import { withTimeouts } from "../storage/timed_shared.ts";
import { TimedStorage } from "../storage/timed_storage.ts";
import { ReplicatedStore } from "./sharing/replicated_store.ts";
import { SnapshotStore } from "./persistence/snapshot_store.ts";
import type { StateStore, Tracer } from "./persistence/state_store.ts";

/** Options of `stateIn`. */
export interface StateInOptions {
  /**
   * Behavior while a storage shared by several processes is unavailable. `open` continues with the state known to each
   * process; `closed` rejects startup, and requests under a budget. Defaults to `open`.
   */
  readonly onUnavailable?: "open" | "closed";
}

/** Dependencies of a store besides its storage. */
interface StoreOptions extends Required<StateInOptions> {
  readonly clock: Clock;
  readonly hub: Tracer;
}

/** Persists a state in a storage, and shares it if the storage supports that. */
export function storeIn(storage: Storage, options: StoreOptions): StateStore {
  const { clock, hub } = options;
  const title = "The storage of stateIn()";
  const coded = storage instanceof CodedStorage ? storage : new CodedStorage(
    new TimedStorage(storage, { title, clock }),
    { title, format: defaultStorage.format, isCompressed: false },
  );
  return storage.shared === undefined
    ? new SnapshotStore({ clock, hub, storage: coded, settings: defaultStorage })
    : replicatedStore(storage.shared, coded, { ...options, title: coded.title });
}

/** Dependencies of a shared state besides its storage. */
interface ReplicatedStoreOptions extends StoreOptions {
  /** Whether the shared state is in another process of this machine. @default false */
  readonly isLocal?: boolean;
  /** Name of the storage in error messages. */
  readonly title: string;
}

/**
 * Creates the store of a state shared by several processes.
 *
 * @param shared The shared state.
 * @param records The storage that persists it; undefined if it exists only as long as the processes.
 */
export function replicatedStore(
  shared: Shared,
  records: CodedStorage | undefined,
  { clock, hub, onUnavailable, title, isLocal = false }: ReplicatedStoreOptions,
): StateStore {
  const timed = isLocal ? shared : withTimeouts(shared, { title, clock }); // a process ends with the owner of its counters
  const parts = { clock, hub, settings: defaultStorage, replicated: { onUnavailable } };
  const store = records && new SnapshotStore({ ...parts, storage: records });
  return new ReplicatedStore({ shared: timed, store, onUnavailable, clock, hub, isLocal, id: crypto.randomUUID() });
}
