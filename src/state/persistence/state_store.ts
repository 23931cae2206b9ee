/**
 * State persistence: the interface of stores, and stores that are opened on demand.
 * @module
 */
import type { TraceEntry } from "../../contracts/events.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { Storage } from "../../contracts/storage.ts";
import type { MeshState } from "../model/mesh_state.ts";

/** Emits trace entries. */
export interface Tracer {
  /**
   * Emits a trace entry.
   *
   * @param entry The entry without its time.
   */
  trace(entry: Omit<TraceEntry, "type" | "timestamp">): void;
}

/** Persists the state of one mesh. */
export interface StateStore {
  /** The storage, once it is open. */
  readonly storage?: Storage | undefined;
  /** Restores a state, and persists it from now on. Throws when it cannot be persisted at all. */
  load(state: MeshState): Promise<void>;
  /** Schedules a write after a change of state. Returns immediately. */
  mark(): void;
  /** Persists the state a last time. Throws when it is lost. */
  close(): Promise<void>;
}

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
