/**
 * The records that ModelMesh writes, as JSON lines with `type` first.
 * @module
 */
import type { ChatApi, Delivery, OperationName, ServedBy } from "./provider.ts";

/** Kinds of events. */
export type EventKind = "rotation" | "deactivation" | "recovery" | "health" | "budget" | "outage" | "batch" | "guard";

/** A change of state. */
export interface MeshEvent {
  /** Always `event`. */
  readonly type: "event";
  /** The kind of change. */
  readonly event: EventKind;
  /** Unique id of the event. */
  readonly id: string;
  /** Time of the event, ISO 8601. */
  readonly timestamp: string;
  /** The affected pool, if any. */
  readonly pool?: string;
  /** The affected model, if any. */
  readonly model?: string;
  /** The provider's entry id. */
  readonly provider: string;
  /** The previous value: a state, or the model that was replaced. */
  readonly from?: string;
  /** The new value. */
  readonly to?: string;
  /** The reason for the change. */
  readonly reason: string;
  /** Further details. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** All attempts of one model for a request. */
export interface FallbackStep {
  /** The model's name. */
  readonly model: string;
  /** Its provider's entry id. */
  readonly provider: string;
  /** The API through which a chat request was sent to it, if it supports several or declares one. */
  readonly api?: ChatApi;
  /**
   * `ok`, the kind of failure, or the limit that was exceeded (`first_token_timeout`, `min_rate`). Of a response that began:
   * `stream_interrupted` if the provider failed midway, `aborted` if the client left, `blocked` if a guard refused it. `hedge_lost`: of a hedged request, the
   * model whose response came later, and was cancelled.
   */
  readonly outcome: string;
  /** The last HTTP status that the model returned. */
  readonly status?: number;
  /** The provider's own message about the failure, redacted, at most 300 characters. */
  readonly error?: string;
  /** Time spent on the model, ms. */
  readonly ms: number;
}

/** One attempt of a model for a request. */
export interface ModelTry {
  /** The model's name. */
  readonly model: string;
  /** Its provider's entry id. */
  readonly provider: string;
  /** `ok`, `empty`, `aborted`, `stream_interrupted`, `hedge_lost`, or the kind of failure. */
  readonly outcome: string;
  /** The HTTP status of a failure, if a response arrived. */
  readonly status?: number | undefined;
  /** Name of the vendor in telemetry, such as `gcp.gemini`. */
  readonly vendor?: string;
  /** The vendor's id of the model. */
  readonly upstreamModel?: string;
  /** The model id in the response, such as a dated one; undefined if there was no response. */
  readonly responseModel?: string | undefined;
  /** The `traceparent` that the provider received, whose span is the attempt; undefined if no sink exports spans. */
  readonly traceparent?: string | undefined;
  /** Time the attempt was sent, ms since the Unix epoch. */
  readonly startedAt: number;
  /** Time to the complete response, or to the first content of a stream, ms. */
  readonly ms: number;
}

/** What a guard has done, without any part of the text. */
export interface GuardRecord {
  /** Name of the guard. */
  readonly guard: string;
  /** Whether it was in the request, or in the response. */
  readonly stage: "request" | "response";
  /** `block`, `replace`, or `error`: the guard could not check, and its `on_error` is `allow`. */
  readonly action: "block" | "replace" | "error";
  /** The place of the text, such as `messages[0].content`. */
  readonly path?: string;
  /** Name of the rule. */
  readonly rule?: string;
}

/**
 * A routing decision: why a request was routed as it was, and its result. Emitted when the request ends; for a stream,
 * when the stream ends.
 */
export interface RoutingRecord {
  /** Always `routing`. */
  readonly type: "routing";
  /** Time of the record, ISO 8601. */
  readonly timestamp: string;
  /** The request's id. */
  readonly request_id: string;
  /** The requested operation. */
  readonly operation?: OperationName;
  /**
   * The API dialect of the request, if it is not OpenAI's default for the operation, such as `messages` or
   * `completions`.
   */
  readonly dialect?: string;
  /** The pool's capability; null for a fixed list of models with none in common. */
  readonly capability: string | null;
  /** The pool's name. */
  readonly pool: string;
  /** The model that served the request, or the last one tried. */
  readonly model: string | null;
  /** The entry id of its provider. */
  readonly provider: string | null;
  /** The model that the provider selected, if it is a ModelMesh proxy, as for a page. */
  readonly served_by?: ServedBy;
  /** The API through which a chat request was sent to `model`, if it supports several or declares one. */
  readonly api?: ChatApi;
  /** What chose `model` in place of the pool's strategy: `affinity` to the prompt cache of the conversation. */
  readonly chosen_by?: "affinity";
  /** The delivery mode of the response. */
  readonly delivery: Delivery;
  /** The provider that was replaced, if the request was rotated. */
  readonly replaced_provider?: string;
  /** The reason for the rotation. */
  readonly rotation_reason?: string;
  /** Every model tried, in order. */
  readonly fallback_chain: readonly FallbackStep[];
  /** Routing overhead, ms: total time less provider calls, backoff and the wait in the queue. */
  readonly routing_latency_ms: number;
  /** Time that the request waited in the queue of its pool, ms; absent if it did not. */
  readonly queued_ms?: number;
  /** Number of upstream calls. */
  readonly attempts: number;
  /** Whether a second model was asked while the first had not responded. */
  readonly hedged?: boolean;
  /** Whether the second model's response was used; present if the request was hedged. */
  readonly hedge_won?: boolean;
  /** Whether a call may have been billed although its response never arrived. */
  readonly possibly_billed?: boolean;
  /** Whether the response was repeated from the cache: `model` and `provider` are those that it is of. */
  readonly cached?: boolean;
  /** What a repeated response cost when it was received, USD; absent if that is unknown. */
  readonly saved_usd?: number;
  /** Whether the caller's own key has authorized the request, who pays its cost. */
  readonly byok?: boolean;
  /** What guards have done, if anything: each of their rules and texts once, up to 100 replacements. */
  readonly guards?: readonly GuardRecord[];
  /** The client's name, if clients are named. */
  readonly client?: string;
  /** The client's id, if it was created at runtime. */
  readonly client_id?: string;
  /** The team of the client, if it has one. */
  readonly team?: string;
  /** The tags of the request; those of an object as `name=value`. */
  readonly tags?: readonly string[];
  /** The end user, as the client names it, up to 256 characters. */
  readonly user?: string;
  /** The caller's `traceparent` header (W3C Trace Context). */
  readonly traceparent?: string;
  /**
   * HTTP status of the response; in the library, the status that a proxy would return. A stream whose head was sent
   * with status 200 has the status of its end: 502 if the provider failed midway, 503 if the server stopped. 499: the
   * client closed or aborted the request, or left its stream.
   */
  readonly status?: number;
  /** The error code of a request that failed, such as `stream_interrupted`; absent if the client left. */
  readonly code?: string;
  /** Time from the arrival of the request to the first content of a stream, ms. */
  readonly ttft_ms?: number;
  /** Time from the arrival of the request to the end of the response, ms; absent while the request is in progress. */
  readonly duration_ms?: number;
  /** Input tokens, if known. */
  readonly tokens_in?: number;
  /** Output tokens, if known. */
  readonly tokens_out?: number;
  /** Cost in USD, if known. */
  readonly cost_usd?: number;
  /** Whether token counts are estimated, since the provider did not report all of them. */
  readonly estimated?: boolean;
}

/** Severity of a trace entry. */
export type Severity = "debug" | "info" | "warning" | "error" | "critical";

/** A trace entry of a component. */
export interface TraceEntry {
  /** Always `trace`. */
  readonly type: "trace";
  /** Time of the entry, ISO 8601. */
  readonly timestamp: string;
  /** Severity of the entry. */
  readonly severity: Severity;
  /** The component: `router`, `pool`, `mesh`, `proxy`, `provider`, `registry` or `process`. */
  readonly component: string;
  /** The message. */
  readonly message: string;
  /** Further details. */
  readonly [key: string]: unknown;
}

/** A log record of a request that was rejected before routing. */
export interface LogRecord {
  /** Always `log`. */
  readonly type: "log";
  /** Time of the record, ISO 8601. */
  readonly timestamp: string;
  /** Severity of the record. */
  readonly level: Severity;
  /** The request's id. */
  readonly request_id: string;
  /** The client's name, if clients are named. */
  readonly client?: string;
  /** The client's id, if it was created at runtime. */
  readonly client_id?: string;
  /** HTTP method. */
  readonly method: string;
  /** Path of the URL, without the query. */
  readonly path: string;
  /** HTTP status of the response. */
  readonly status: number;
  /** The error code. */
  readonly code: string;
  /**
   * Number of rejected requests since the last record which were not logged themselves: logging is limited to 10
   * records a second.
   */
  readonly suppressed?: number;
}

/** A log record about something other than a request, such as a model that its provider no longer lists. */
export interface NoticeRecord {
  /** Always `log`. */
  readonly type: "log";
  /** Time of the record, ISO 8601. */
  readonly timestamp: string;
  /** Severity of the record. */
  readonly level: Severity;
  /** The component: `registry` or `pricing`. */
  readonly component: string;
  /** The message. */
  readonly message: string;
  /** The provider's entry id. */
  readonly provider: string;
  /** The upstream model id. */
  readonly model: string;
}

/** How much of a request is logged: metadata only, also 200 characters of each payload, or complete payloads. */
export type LogLevel = "metadata" | "summary" | "full";

/** A record of the request log about a routed request, written when the request ends. */
export interface RequestLogRecord {
  /** Always `log`. */
  readonly type: "log";
  /** Time of the record, ISO 8601. */
  readonly timestamp: string;
  /** How much of the request the record contains. */
  readonly level: LogLevel;
  /** The request's id. */
  readonly request_id: string;
  /** The client's name, if clients are named. */
  readonly client?: string;
  /** The client's id, if it was created at runtime. */
  readonly client_id?: string;
  /** The team of the client, if it has one. */
  readonly team?: string;
  /** The end user, as the client names it, up to 256 characters. */
  readonly user?: string;
  /** The tags of the request. */
  readonly tags?: Readonly<Record<string, string>> | readonly string[];
  /** The pool's name. */
  readonly pool: string;
  /** The model that served the request, or the last one tried. */
  readonly model: string | null;
  /** The entry id of its provider. */
  readonly provider: string | null;
  /** HTTP status of the response, as in the {@linkcode RoutingRecord}. */
  readonly status: number;
  /** The error code of a request that failed, as in the {@linkcode RoutingRecord}. */
  readonly code?: string;
  /** Time from the arrival of the request to the end of the response, ms. */
  readonly latency_ms: number;
  /** Time from the arrival of the request to the first content of a stream, ms. */
  readonly ttft_ms?: number;
  /** Input tokens; null if unknown. */
  readonly tokens_in: number | null;
  /** Output tokens; null if unknown. */
  readonly tokens_out: number | null;
  /** Input tokens that the provider read from its prompt cache, if reported. */
  readonly tokens_cached?: number;
  /** Cost in USD; null if unknown. */
  readonly cost: number | null;
  /** Whether the caller pays it, whose own key has authorized the request. */
  readonly byok?: boolean;
  /** The request body, truncated. */
  readonly request?: string;
  /** The response body, or the events of the stream, truncated. */
  readonly response?: string;
}

/** The subject of a {@linkcode StatsRecord}. A model's figures cover all of its pools. */
export type StatsScope = "model" | "provider" | "pool";

/** Statistics of a model, provider or pool. All figures count from the start of the record's window. */
export interface StatsMetrics {
  /**
   * Completed requests that were routed to it. A stream completes when it ends. A request counts once, however many
   * attempts it took.
   */
  readonly requests_total: number;
  /** Requests that it served. */
  readonly requests_success: number;
  /**
   * Requests that it failed to serve or to complete; for a model or provider also those that another one served
   * afterwards. Neither success nor failure: requests that the client aborted, and empty responses after which another
   * model was tried.
   */
  readonly requests_failed: number;
  /** Input tokens as providers reported them, otherwise estimated. */
  readonly tokens_in: number;
  /** Output tokens as providers reported them, otherwise estimated. */
  readonly tokens_out: number;
  /** Cost in USD, as far as prices are known. The sum of integer nano-dollars, exact up to 9 million USD. */
  readonly cost_total: number;
  /**
   * Mean time to a complete response, or to the first content of a stream, ms. For a pool it is measured from the
   * arrival of the request; for a model or provider it is the time spent on the model that served it. Null before the
   * first response.
   */
  readonly latency_avg: number | null;
  /** 95th percentile of the same times by nearest rank, ms. Error at most 4.5 %; below 1 ms, at most 0.5 ms. */
  readonly latency_p95: number | null;
  /** Time without an active model, ms. For a model: time in standby in all of its pools at once. */
  readonly downtime_total: number;
  /**
   * Transitions of it, or of its models, to standby. A provider's transition counts once for the provider, for each of
   * its models, and for each of their pools.
   */
  readonly standby_events: number;
  /** Standbys that ended because a quota, limit or budget window restarted, counted the same way. */
  readonly quota_resets: number;
  /** Requests that rotated from it, or from one of its models, to another model. */
  readonly rotation_events: number;
}

/** The statistics of one model, provider or pool. */
export interface StatsRecord extends StatsMetrics {
  /** Always `stats`. */
  readonly type: "stats";
  /** End of the window, ISO 8601. */
  readonly timestamp: string;
  /** The kind of subject. */
  readonly scope: StatsScope;
  /** The model's or pool's name, or the provider's entry id. */
  readonly id: string;
  /** The window: from the start of the process until the record was created. */
  readonly window: {
    /** Start, ISO 8601. */
    readonly from: string;
    /** End, ISO 8601. */
    readonly to: string;
  };
}
