/**
 * Where records go.
 * @module
 */
import type { MeshEvent, RoutingRecord, TraceEntry } from "./events.ts";

/** Spec: Observability. A sink; it may throw, a request never notices. */
export interface Observability {
  /** Takes an event or a routing decision. */
  emit(record: MeshEvent | RoutingRecord): void;
  /** Takes a trace entry. */
  trace(entry: TraceEntry): void;
  /** Resolves when all that was taken is written. */
  flush(): Promise<void>;
}
