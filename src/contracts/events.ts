/**
 * The records ModelMesh writes, as contract and spec lay them out: JSON lines, `type` first.
 * @module
 */
import type { Delivery } from "./provider.ts";

/** Kinds of events. */
export type EventKind = "rotation" | "deactivation" | "recovery" | "health";

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

/** One model's part in answering a request. */
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

/** Why a request went where it went. */
export interface RoutingRecord {
  /** Always `routing`. */
  readonly type: "routing";
  /** ISO 8601. */
  readonly timestamp: string;
  /** The request's id. */
  readonly request_id: string;
  /** The pool's capability; null for a fixed list with nothing in common. */
  readonly capability: string | null;
  /** The pool. */
  readonly pool: string;
  /** Who answered, or was tried last. */
  readonly model: string | null;
  /** Its provider's entry id. */
  readonly provider: string | null;
  /** How the answer was delivered. */
  readonly delivery: Delivery;
  /** The provider left behind, when the request was rotated. */
  readonly replaced_provider?: string;
  /** Why it was left. */
  readonly rotation_reason?: string;
  /** Every model tried, in order. */
  readonly fallback_chain: readonly FallbackStep[];
  /** Time of ours: without providers and back-off, ms. */
  readonly routing_latency_ms: number;
  /** Upstream calls sent. */
  readonly attempts: number;
  /** A call may have been billed although its answer never came. */
  readonly possibly_billed?: boolean;
}

/** Severity of a trace entry. */
export type Severity = "debug" | "info" | "warning" | "error" | "critical";

/** A note of a component. */
export interface TraceEntry {
  /** Always `trace`. */
  readonly type: "trace";
  /** ISO 8601. */
  readonly timestamp: string;
  /** How bad. */
  readonly severity: Severity;
  /** Who says it: `router`, `pool`, `mesh`, `proxy`, `provider`. */
  readonly component: string;
  /** What. */
  readonly message: string;
  /** Further facts. */
  readonly [key: string]: unknown;
}
