/**
 * Where records go.
 * @module
 */
import type {
  LogRecord,
  MeshEvent,
  ModelTry,
  NoticeRecord,
  RequestLogRecord,
  RoutingRecord,
  Severity,
  StatsRecord,
  TraceEntry,
} from "./events.ts";
import type { MetricFamily } from "./metrics.ts";

/** The numbers of a mesh, for a sink that takes statistics. */
export interface StatisticsReport {
  /** Of the configured scopes. */
  readonly records: readonly StatsRecord[];
  /** Labelled metrics, as `/metrics` prints them; computed by the call. */
  readonly families: () => readonly MetricFamily[];
}

/** Spec: Observability. A sink; it may throw or hang, a request never notices. */
export interface Observability {
  /** The least severe trace it takes, over what is configured. */
  readonly minSeverity?: Severity | undefined;
  /** Whether it writes to the storage of the mesh: it is flushed before that is closed. */
  readonly usesStorage?: boolean;
  /** Records it took and could not deliver. What it throws is counted beside this. */
  readonly lost?: number;
  /**
   * Takes an event or a routing decision.
   *
   * @param record What happened.
   * @param tries Every try of a model, of a routing decision.
   */
  emit(record: MeshEvent | RoutingRecord, tries?: readonly ModelTry[]): void;
  /** Takes a line of the request log; a sink without it gets none. */
  log?(record: LogRecord | RequestLogRecord | NoticeRecord): void;
  /** Takes a trace entry. */
  trace(entry: TraceEntry): void;
  /**
   * Resolves when all that was taken is written.
   *
   * @param report The present numbers, each time the interval of a sink of `observability.statistics` is over.
   */
  flush(report?: StatisticsReport): Promise<void>;
}
