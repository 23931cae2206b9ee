/**
 * Where records go.
 * @module
 */
import type { LogRecord, MeshEvent, RoutingRecord, TraceEntry } from "./events.ts";

/** Spec: Observability. A sink; it may throw, a request never notices. */
export interface Observability {
  /** Takes an event or a routing decision. */
  emit(record: MeshEvent | RoutingRecord): void;
  /** Takes a line of the request log; a sink without it gets none. */
  log?(record: LogRecord): void;
  /** Takes a trace entry. */
  trace(entry: TraceEntry): void;
  /** Resolves when all that was taken is written. */
  flush(): Promise<void>;
}
