/**
 * What the proxy reports: the records of `/mesh/events`, and `/mesh/status`.
 * @module
 */
import type {
  FallbackStep,
  LogRecord,
  MeshEvent,
  NoticeRecord,
  RoutingRecord,
  TraceEntry,
} from "../src/contracts/events.ts";
import type { PoolStatus } from "../src/registry/status.ts";

/** A record as it arrives. */
export type MeshRecord = RoutingRecord | MeshEvent | LogRecord | NoticeRecord | TraceEntry;

/** A provider's state. */
export interface ProviderStatus {
  readonly id: string;
  readonly status: "active" | "standby";
  readonly reason?: string;
  readonly retry_at?: string;
  /** The failure of its last call. */
  readonly last_error?: { readonly kind: string; readonly status?: number };
  readonly active: number;
  readonly total: number;
}

/** How much of a budget is spent. */
export interface BudgetStatus {
  readonly scope: string;
  readonly id: string;
  /** The name of a client, unless it is the id. */
  readonly name?: string;
  readonly window: string;
  readonly timezone?: string;
  readonly spent_usd: number;
  readonly limit_usd: number;
  readonly resets_at: string;
}

/** What a client has sent and spent. */
export interface ClientTotals {
  readonly name: string;
  /** Present unless it is the name. */
  readonly id?: string;
  readonly requests: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly cost_usd: number;
}

/** The response of `/mesh/status`. */
export interface MeshStatus {
  readonly version: string;
  /** What the token may do. */
  readonly role: "administrator" | "viewer" | "client";
  /** The id of the process that answered, if several share the storage. */
  readonly process?: string;
  readonly uptime_seconds: number;
  readonly pools: Readonly<Record<string, PoolStatus>>;
  readonly providers: readonly ProviderStatus[];
  readonly budgets: readonly BudgetStatus[];
  readonly clients?: readonly ClientTotals[];
  /** Whether `/mesh/cache` has counts of a cache. */
  readonly cache?: boolean;
  /** Whether teams are configured. */
  readonly teams?: boolean;
  /** Whether `/mesh/usage` has the usage of days. */
  readonly daily_usage?: boolean;
}

/** The status that is recorded when the client leaves. */
const clientLeft = 499;

/** Whether a request failed; a client that left is not a failure. */
export function isFailed({ status = 200 }: Pick<RoutingRecord, "status">): boolean {
  return status >= 400 && status !== clientLeft;
}

/** Whether a request succeeded after a failover. */
export function isSaved(record: Pick<RoutingRecord, "status" | "fallback_chain">): boolean {
  const left = record.fallback_chain.filter(({ outcome }) => outcome !== "hedge_lost");
  return !isFailed(record) && left.length > 1;
}

/** Whether a model that was asked did not serve the request; one that was not waited for is not a failure. */
export function isFailedStep({ outcome }: Pick<FallbackStep, "outcome">): boolean {
  return outcome !== "ok" && outcome !== "aborted" && outcome !== "hedge_lost";
}
