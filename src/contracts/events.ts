/**
 * The records ModelMesh writes, as contract and spec lay them out: JSON lines, `type` first.
 * @module
 */
import type { Delivery, OperationName, ServedBy } from "./provider.ts";

/** Kinds of events. */
export type EventKind = "rotation" | "deactivation" | "recovery" | "health" | "budget" | "outage" | "batch";

/** Something changed. */
export interface MeshEvent {
  /** Always `event`. */
  readonly type: "event";
  /** What kind of change. */
  readonly event: EventKind;
  /** Unique id. */
  readonly id: string;
  /** ISO 8601. */
  readonly timestamp: string;
  /** The pool, where one is concerned. */
  readonly pool?: string;
  /** The model, where one is concerned. */
  readonly model?: string;
  /** The provider's entry id. */
  readonly provider: string;
  /** What it was before: a state, or the model left behind. */
  readonly from?: string;
  /** What it is now. */
  readonly to?: string;
  /** Why. */
  readonly reason: string;
  /** Further facts. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** One model's attempts for a request. */
export interface FallbackStep {
  /** The model's name. */
  readonly model: string;
  /** Its provider's entry id. */
  readonly provider: string;
  /** `ok`, or what failed. */
  readonly outcome: string;
  /** The last HTTP status it answered. */
  readonly status?: number;
  /** Time spent on it, ms. */
  readonly ms: number;
}

/** One try of a model for a request. */
export interface ModelTry {
  /** The model's name. */
  readonly model: string;
  /** Its provider's entry id. */
  readonly provider: string;
  /** `ok`, `empty`, `aborted`, or what failed. */
  readonly outcome: string;
  /** The HTTP status of a failure, where one came. */
  readonly status?: number | undefined;
  /** When it was sent, wall clock, ms since 1970. */
  readonly startedAt: number;
  /** Up to the response, or to a stream's first content, ms. */
  readonly ms: number;
}

/** Why a request went where it went, and what came of it; emitted when it is over, a stream's with its end. */
export interface RoutingRecord {
  /** Always `routing`. */
  readonly type: "routing";
  /** ISO 8601. */
  readonly timestamp: string;
  /** The request's id. */
  readonly request_id: string;
  /** What kind of endpoint was asked. */
  readonly operation?: OperationName;
  /** In whose words, where not OpenAI's for the operation: the endpoint, such as `messages` or `completions`. */
  readonly dialect?: string;
  /** The pool's capability; null for a fixed list with nothing in common. */
  readonly capability: string | null;
  /** The pool. */
  readonly pool: string;
  /** The model that answered, or was tried last. */
  readonly model: string | null;
  /** Its provider's entry id. */
  readonly provider: string | null;
  /** The model that served it behind the provider, where that is a ModelMesh proxy, as in a page. */
  readonly served_by?: ServedBy;
  /** How the answer was delivered. */
  readonly delivery: Delivery;
  /** The provider left behind, when the request was rotated. */
  readonly replaced_provider?: string;
  /** Why it was left. */
  readonly rotation_reason?: string;
  /** Every model tried, in order. */
  readonly fallback_chain: readonly FallbackStep[];
  /** Overhead: time without providers and back-off, ms. */
  readonly routing_latency_ms: number;
  /** Upstream calls sent. */
  readonly attempts: number;
  /** A call may have been billed although its response never arrived. */
  readonly possibly_billed?: boolean;
  /** The client that sent it, where clients have names. */
  readonly client?: string;
  /** The caller's trace, as its header of this name has it (W3C Trace Context). */
  readonly traceparent?: string;
  /** HTTP status of the response, in a library the one that a proxy would send; 499: the client left or gave it up. */
  readonly status?: number;
  /** From the request's arrival to a stream's first content, ms. */
  readonly ttft_ms?: number;
  /** From the request's arrival to the end of its response, ms; absent while it is under way. */
  readonly duration_ms?: number;
  /** Tokens read, where that is known. */
  readonly tokens_in?: number;
  /** Tokens written, where that is known. */
  readonly tokens_out?: number;
  /** What it cost, USD, where that is known. */
  readonly cost_usd?: number;
  /** The provider did not report all token counts. */
  readonly estimated?: boolean;
}

/** Severity of a trace entry. */
export type Severity = "debug" | "info" | "warning" | "error" | "critical";

/** A log entry of a component. */
export interface TraceEntry {
  /** Always `trace`. */
  readonly type: "trace";
  /** ISO 8601. */
  readonly timestamp: string;
  /** How bad. */
  readonly severity: Severity;
  /** The component: `router`, `pool`, `mesh`, `proxy`, `provider`, `registry`. */
  readonly component: string;
  /** What. */
  readonly message: string;
  /** Further facts. */
  readonly [key: string]: unknown;
}

/** A line about a request that was refused before it was routed. */
export interface LogRecord {
  /** Always `log`. */
  readonly type: "log";
  /** ISO 8601. */
  readonly timestamp: string;
  /** How bad. */
  readonly level: Severity;
  /** The request's id. */
  readonly request_id: string;
  /** The client that sent it, where clients have names. */
  readonly client?: string;
  /** Of HTTP. */
  readonly method: string;
  /** Of the URL, without its query. */
  readonly path: string;
  /** Of HTTP. */
  readonly status: number;
  /** A word of the error table. */
  readonly code: string;
  /** Refused requests since the last line that got none of their own: there are at most 10 lines a second. */
  readonly suppressed?: number;
}

/** A line about something else than a request, such as a model that a provider does not list any more. */
export interface NoticeRecord {
  /** Always `log`. */
  readonly type: "log";
  /** ISO 8601. */
  readonly timestamp: string;
  /** How bad. */
  readonly level: Severity;
  /** The component: `registry`. */
  readonly component: string;
  /** What. */
  readonly message: string;
  /** Its provider's entry id. */
  readonly provider: string;
  /** The model, by its upstream id. */
  readonly model: string;
}

/** How much of a request is logged: its facts, 200 characters of its payloads too, or all of them. */
export type LogLevel = "metadata" | "summary" | "full";

/** A line of the request log, about a request that was routed; written when it is over. */
export interface RequestLogRecord {
  /** Always `log`. */
  readonly type: "log";
  /** ISO 8601. */
  readonly timestamp: string;
  /** How much of the request is in it. */
  readonly level: LogLevel;
  /** The request's id. */
  readonly request_id: string;
  /** The client that sent it, where clients have names. */
  readonly client?: string;
  /** The request's own `user`. */
  readonly user?: string;
  /** The request's own `mesh.tags`. */
  readonly tags?: Readonly<Record<string, string>> | readonly string[];
  /** The pool. */
  readonly pool: string;
  /** The model that answered, or was tried last. */
  readonly model: string | null;
  /** Its provider's entry id. */
  readonly provider: string | null;
  /** HTTP status of the response. */
  readonly status: number;
  /** From the request's arrival to the end of its response, ms. */
  readonly latency_ms: number;
  /** From the request's arrival to a stream's first content, ms. */
  readonly ttft_ms?: number;
  /** Tokens read; null when unknown. */
  readonly tokens_in: number | null;
  /** Tokens written; null when unknown. */
  readonly tokens_out: number | null;
  /** Tokens read from the provider's cache, where it said so. */
  readonly tokens_cached?: number;
  /** USD; null when unknown. */
  readonly cost: number | null;
  /** The request's body, shortened. */
  readonly request?: string;
  /** The response's body, or the events of its stream, shortened. */
  readonly response?: string;
}

/** What a {@linkcode StatsRecord} is about. A model's numbers are those of all its pools together. */
export type StatsScope = "model" | "provider" | "pool";

/** Spec: Statistics metrics. All count since the start of the record's window. */
export interface StatsMetrics {
  /** Requests that came to it and are over, a stream with its end; each once, however often it was asked. */
  readonly requests_total: number;
  /** Those it answered. */
  readonly requests_success: number;
  /**
   * Those it did not answer, or broke off; for a model or provider also those that another one answered after it. What
   * the client gave up, and what it answered with nothing while another was asked, is neither success nor failure.
   */
  readonly requests_failed: number;
  /** Tokens read, as providers reported them, else estimated. */
  readonly tokens_in: number;
  /** Tokens written, likewise. */
  readonly tokens_out: number;
  /** USD, as far as prices are known; a sum of whole nano-dollars, exact up to 9 million. */
  readonly cost_total: number;
  /**
   * Mean time to a response, or to a stream's first content, ms: of a pool from a request's arrival on, of a model or
   * provider the time spent on the model that answered. Null before the first response.
   */
  readonly latency_avg: number | null;
  /** The 95th percentile of the same times by nearest rank, ms, within 4.5 % (below 1 ms: within 0.5 ms). */
  readonly latency_p95: number | null;
  /** Time it had no active model, ms; of a model: the time it was in standby in every pool it is in. */
  readonly downtime_total: number;
  /**
   * Times it, or some of its models, moved to standby. A provider's move counts once for itself, each of its models and
   * each of their pools.
   */
  readonly standby_events: number;
  /** Standbys that ended because a quota, a limit or a budget began anew, counted alike. */
  readonly quota_resets: number;
  /** Times a request left it, or a model of it, for another model. */
  readonly rotation_events: number;
}

/** The numbers of one model, provider or pool. */
export interface StatsRecord extends StatsMetrics {
  /** Always `stats`. */
  readonly type: "stats";
  /** ISO 8601; the end of the window. */
  readonly timestamp: string;
  /** What it is about. */
  readonly scope: StatsScope;
  /** The model's or pool's name, or the provider's entry id. */
  readonly id: string;
  /** What was counted: from the start of the process until the record was made. */
  readonly window: {
    /** ISO 8601. */
    readonly from: string;
    /** ISO 8601. */
    readonly to: string;
  };
}
