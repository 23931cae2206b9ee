/**
 * Opens stores of states: from a configuration, or from a storage that a program has made. Imported when there is one.
 * @module
 */
import { defaultStorage } from "../config/settings/defaults.ts";
import type { StorageSettings } from "../config/settings/storage.ts";
import type { Clock } from "../contracts/runtime.ts";
import type { Shared, Storage } from "../contracts/storage.ts";
import { CodedStorage } from "../storage/coded_storage.ts";
import { withSharedTimeouts } from "../storage/timed_shared.ts";
import { TimedStorage } from "../storage/timed_storage.ts";
import type { MeshState } from "./model/mesh_state.ts";
import { SnapshotStore } from "./persistence/snapshot_store.ts";
import type { StateStore, Tracer } from "./persistence/state_store.ts";
import { SharedStore } from "./sharing/shared_store.ts";
import { withSavedSums } from "./sharing/saved_sums.ts";
import type { LocalShared } from "./sharing/shared_sums.ts";

/** Interval at which shared counters are persisted under the policy `immediate`, ms. */
const immediateMs = 1_000;

/** The mesh of a state. */
interface StoreUser {
  readonly clock: Clock;
  /** Receives traces of failures. */
  readonly hub: Tracer;
}

/** A storage and its settings. */
interface ConfiguredStorage {
  readonly storage: CodedStorage;
  readonly settings: StorageSettings;
}

/**
 * Opens the store of a configured mesh; undefined if nothing is persisted or shared. State shared by several processes
 * is shared under every policy.
 *
 * @param plan State shared with other processes of its proxy, if the storage shares none; and the configured storage.
 */
export function openStore(
  { shared, persisted }: {
    readonly shared: LocalShared | undefined;
    readonly persisted: ConfiguredStorage | undefined;
  },
  user: StoreUser,
): StateStore | undefined {
  if (persisted === undefined) return shared && openBesideOthers(shared, undefined, user);
  const { storage, settings: { connector, onUnavailable, policy } } = persisted;
  const isPersisted = policy !== "in-memory";
  if (storage.shared !== undefined) {
    const records = isPersisted ? storage : undefined;
    return openReplicated(storage.shared, records, { ...user, onUnavailable, title: storage.title });
  }
  if (shared !== undefined) return openBesideOthers(shared, isPersisted ? persisted : undefined, user);
  if (onUnavailable === "closed") {
    const message = `storage.on_unavailable: "${connector}" is not shared by several processes: no effect`;
    user.hub.trace({ severity: "warning", component: "storage", message });
  }
  return isPersisted ? new SnapshotStore({ ...persisted, ...user }) : undefined;
}

/** State shared with other processes of this proxy exists as long as the owning process, unless it is persisted. */
function openBesideOthers(
  shared: LocalShared,
  persisted: ConfiguredStorage | undefined,
  user: StoreUser,
): StateStore {
  const title = "The supervisor of the worker processes";
  const options = { ...user, onUnavailable: "closed", isLocal: true, title } as const;
  const store = openReplicated(shared, persisted?.storage, options);
  if (persisted === undefined) return store;
  const { storage, settings: { policy, intervalMs } } = persisted;
  const sums = { ...user, storage, shared, intervalMs: policy === "immediate" ? immediateMs : intervalMs };
  return withSavedSums(store, sums);
}

/** Opens the store of a state in a program's storage, which shares it if it supports that. */
export function openStoreIn(
  storage: Storage,
  { clock, hub, onUnavailable }: StoreUser & { readonly onUnavailable: "open" | "closed" },
): StateStore {
  const title = "The storage of stateIn()";
  const coded = storage instanceof CodedStorage ? storage : new CodedStorage(
    new TimedStorage(storage, { title, clock }),
    { title, format: defaultStorage.format, isCompressed: false },
  );
  return storage.shared === undefined
    ? new SnapshotStore({ clock, hub, storage: coded, settings: defaultStorage })
    : openReplicated(storage.shared, coded, { clock, hub, onUnavailable, title: coded.title });
}

/**
 * Opens the store of a state shared by several processes.
 *
 * @param records The storage that persists it; undefined if it exists only as long as the processes.
 */
function openReplicated(
  shared: Shared,
  records: CodedStorage | undefined,
  { clock, hub, onUnavailable, title, isLocal = false }: StoreUser & {
    readonly onUnavailable: "open" | "closed";
    /** Name of the storage in error messages. */
    readonly title: string;
    /** Whether the shared state is in another process of this machine. @default false */
    readonly isLocal?: boolean;
  },
): StateStore {
  const timed = isLocal ? shared : withSharedTimeouts(shared, { title, clock }); // a process ends with the owner of its counters
  const parts = { clock, hub, settings: defaultStorage, replicated: { onUnavailable } };
  const store = records && new SnapshotStore({ ...parts, storage: records });
  return new SharedStore({ shared: timed, store, onUnavailable, clock, hub, isLocal, id: crypto.randomUUID() });
}

/**
 * Replaces the store of a state.
 *
 * @param stores The previous store, the next one, and whether both use the same storage.
 */
export async function handOverState(
  state: MeshState,
  { before, next, isSame }: { before: StateStore | undefined; next: StateStore | undefined; isSame: boolean },
): Promise<void> {
  const snapshot = before instanceof SnapshotStore ? await before.release() : undefined;
  await (isSame && next instanceof SnapshotStore ? next.adopt(state, snapshot) : next?.load(state));
}
