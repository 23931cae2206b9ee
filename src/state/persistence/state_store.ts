/**
 * What persists the state of a mesh.
 * @module
 */
import type { TraceEntry } from "../../contracts/events.ts";
import type { Shared, Storage } from "../../contracts/storage.ts";
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
  /** Messages among the worker processes of one proxy; undefined with one process. */
  readonly siblings?: Pick<Shared, "publish" | "subscribe"> | undefined;
  /** Restores a state, and persists it from now on. Throws when it cannot be persisted at all. */
  load(state: MeshState): Promise<void>;
  /** Schedules a write after a change of state. Returns immediately. */
  mark(): void;
  /** Persists the state a last time. Throws when it is lost. */
  close(): Promise<void>;
}
