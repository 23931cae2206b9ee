/**
 * Observability: sinks that receive records.
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

/** The headers of a trace context (W3C Trace Context). */
export interface TraceContext {
  /** The `traceparent` header. */
  readonly traceparent: string;
  /** The `tracestate` header, unchanged. */
  readonly tracestate?: string | undefined;
}

/** A statistics report, for sinks that take statistics. A mesh provides all members. */
export interface StatisticsReport {
  /** Statistics of the configured scopes. */
  readonly records: readonly StatsRecord[];
  /** Labelled metrics, as `/metrics` exports them. Each call computes them. */
  readonly families: () => readonly MetricFamily[];
  /** Start of the counters, ms since the Unix epoch. */
  readonly since?: number;
  /** Names of vendors in telemetry, such as `gcp.gemini`, by the entry id of a provider. */
  readonly vendors?: ReadonlyMap<string, string>;
}

/** A sink, which receives records. An exception or a hanging call in it does not affect requests. */
export interface Observability {
  /** Minimum severity of trace entries, in addition to the configured one. */
  readonly minSeverity?: Severity | undefined;
  /** Whether it writes to the storage of the mesh: if so, it is flushed before the storage closes. */
  readonly usesStorage?: boolean;
  /**
   * Returns the trace context of a new span. With it, providers receive the span of the attempt as their parent. Only a
   * sink that exports spans has this method.
   *
   * @param parent The context above it; without one, a trace begins.
   */
  beginSpan?(parent?: TraceContext): TraceContext;
  /** Number of accepted records that it failed to deliver. Records rejected by an exception are counted separately. */
  readonly lost?: number;
  /**
   * Accepts an event or a routing decision.
   *
   * @param record The event or routing decision.
   * @param tries For a routing decision: every attempt.
   */
  emit(record: MeshEvent | RoutingRecord, tries?: readonly ModelTry[]): void;
  /** Accepts a record of the request log. A sink without this method receives none. */
  log?(record: LogRecord | RequestLogRecord | NoticeRecord): void;
  /** Accepts a trace entry. */
  trace(entry: TraceEntry): void;
  /**
   * Resolves when all accepted records are written.
   *
   * @param report The current statistics; passed when the flush interval of a sink in `observability.statistics`
   * elapses.
   */
  flush(report?: StatisticsReport): Promise<void>;
}
