/**
 * How models are chosen, set aside and taken back.
 * @module
 */

/** Why a model is in standby. */
export type StandbyReason =
  | "retry_limit"
  | "error_rate"
  | "error_code"
  | "request_limit"
  | "token_limit"
  | "budget_limit"
  | "quota_window"
  | "maintenance_window"
  | "provider_budget"
  | "provider_auth_failure"
  | "provider_outage"
  | "health_probe"
  | "rate_limited"
  | "quota_exhausted"
  | "model_not_found"
  | "no_price"
  | "manual";

/** A read-only look at one model in one pool. Times are monotonic ms. */
export interface ModelView {
  /** The model's name. */
  readonly name: string;
  /** Its provider's entry id. */
  readonly provider: string;
  /** Its share under strategies that weigh; 1 unless configured. */
  readonly weight: number;
  /** Whether requests may go to it. */
  readonly status: "active" | "standby";
  /** Back after a rest and not yet proven. */
  readonly onTrial: boolean;
  /** Why it rests. */
  readonly reason?: StandbyReason | undefined;
  /** When it will be reconsidered; undefined: not by itself. */
  readonly retryAt?: number | undefined;
  /** Requests that it failed to serve, in a row. */
  readonly consecutiveFailures: number;
  /** HTTP status of the last of them, where one came. */
  readonly lastStatus?: number | undefined;
  /** Requests it is working on. */
  readonly inFlight: number;
}

/** What a strategy may look at. */
export interface SelectionContext {
  /** The pool's name. */
  readonly pool: string;
  /** Monotonic ms. */
  readonly now: number;
  /** Ordered model preference. */
  readonly modelPriority: readonly string[];
  /** Ordered provider preference. */
  readonly providerPriority: readonly string[];
  /** Whom this request belongs to, where known. */
  readonly session?: string;
  /** Models this request has already been to. */
  readonly tried: ReadonlySet<string>;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Spec: Rotation, Selection. One instance serves one pool; what it remembers is its own. */
export interface SelectionStrategy {
  /** The candidate to ask; undefined leaves the choice to the fallback strategy. Candidates are never empty. */
  select(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined;
  /** How well a candidate fits, the highest first: what `explain` shows. */
  score(candidate: ModelView, context: SelectionContext): number;
}

/** Spec: Rotation, Deactivation. */
export interface DeactivationPolicy {
  /** Whether the model should rest. */
  shouldDeactivate(model: ModelView): boolean;
  /** Why. */
  getReason(model: ModelView): StandbyReason | undefined;
}

/** Spec: Rotation, Recovery. */
export interface RecoveryPolicy {
  /** Whether a resting model should be reconsidered. */
  shouldRecover(model: ModelView, now: number): boolean;
  /** When it will be; undefined: not by itself. */
  getRecoverySchedule(model: ModelView): number | undefined;
}
