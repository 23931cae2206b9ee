/**
 * The interface of what saves the state of a mesh.
 * @module
 */
import type { TraceEntry } from "../../contracts/events.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { Storage } from "../../contracts/storage.ts";
import type { MeshState } from "../mesh_state.ts";

/** Takes trace entries. */
export interface Tracer {
  /**
   * Emits a trace entry.
   *
   * @param entry All but its time.
   */
  trace(entry: Omit<TraceEntry, "type" | "timestamp">): void;
}

/** Keeps one mesh's state beyond its process. */
export interface StateStore {
  /** Where that is, once it is open, for what else is kept there. */
  readonly storage?: Storage | undefined;
  /** Gives a state what was kept, and keeps it from now on. Throws when it cannot be kept at all. */
  load(state: MeshState): Promise<void>;
  /** The state has changed. Returns at once. */
  mark(): void;
  /** Keeps it a last time. Throws when the state is lost. */
  close(): Promise<void>;
}

/** Where states are kept: what `create` takes as `storage`, and `stateIn` makes. */
export interface StatePersistence {
  /** What it keeps. */
  readonly keeps: "states";
}

/** Common to all copies of this package in a program; programs do not see it. */
const makeKey = /* @__PURE__ */ Symbol.for("modelmesh.stateStore");

/** Makes the store of one mesh. */
type MakeStore = (parts: { readonly clock: Clock; readonly hub: Tracer }) => StateStore;

/** Where states are kept, as programs pass it on. */
export function statePersistence(make: MakeStore): StatePersistence {
  const persistence = { keeps: "states", [makeKey]: make } as const;
  return persistence;
}

/** What makes the stores; undefined where nothing of {@linkcode statePersistence} is given. */
export function storeMakerOf(persistence: StatePersistence | undefined): MakeStore | undefined {
  return (persistence as { readonly [makeKey]?: MakeStore } | undefined)?.[makeKey];
}
