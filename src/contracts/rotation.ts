/**
 * Rotation: selection, deactivation and recovery of models.
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

/** Remaining capacity under a rate limit of the vendor. */
export interface Headroom {
  /** The limit of one window. */
  readonly limit: number;
  /** Length of the window, ms; one minute by default. Makes limits per minute and per day comparable. */
  readonly windowMs?: number;
  /** Remaining capacity in the window; requests in flight count as used. */
  readonly left: number;
}

/** A read-only view of one model in one pool. Times are monotonic, ms. */
export interface ModelView {
  /** The model's name. */
  readonly name: string;
  /** Its provider's entry id. */
  readonly provider: string;
  /** Its weight under weighted strategies; 1 by default. */
  readonly weight: number;
  /** Whether it accepts requests. */
  readonly status: "active" | "standby";
  /** Whether its circuit breaker is half-open: the next request is a trial request. */
  readonly isHalfOpen: boolean;
  /** Why it is in standby. */
  readonly reason?: StandbyReason | undefined;
  /** Time at which recovery is attempted; undefined if none is scheduled. */
  readonly retryAt?: number | undefined;
  /** Number of consecutive failed requests. */
  readonly consecutiveFailures: number;
  /** HTTP status of the last failed request, if a response arrived. */
  readonly lastStatus?: number | undefined;
  /** Number of requests in flight. */
  readonly inFlight: number;
  /** Moving average of the response time, weighted towards recent requests, ms; undefined until measured. */
  readonly latencyMs?: number | undefined;
  /** Remaining requests in the window, if a limit is known. */
  readonly requests?: Headroom | undefined;
  /** Remaining tokens in the window, if a limit is known. */
  readonly tokens?: Headroom | undefined;
}

/** How the load-balanced strategy distributes requests: evenly by headroom, or in proportion to each model's limit. */
export type BalanceMode = "absolute" | "relative";

/** The input of a selection strategy. */
export interface SelectionContext {
  /** The pool's name. */
  readonly pool: string;
  /** Current time, monotonic, ms. */
  readonly now: number;
  /** Model names in order of preference. */
  readonly modelPriority: readonly string[];
  /** Provider entry ids in order of preference. */
  readonly providerPriority: readonly string[];
  /**
   * Used fraction of a limit, 0 to 1, at which the rate-limit-aware strategy switches to another model. @default {0.8}
   */
  readonly threshold?: number | undefined;
  /** How the load-balanced strategy distributes requests. @default {"absolute"} */
  readonly balanceMode?: BalanceMode | undefined;
  /** Estimated cost of this request at a model, nano-dollars (10⁻⁹ USD); undefined if no price is known. */
  readonly costOf: (model: ModelView) => number | undefined;
  /** The session id of this request, if known. */
  readonly session?: string;
  /** Whether the request has routing constraints of its own. A choice made for it must not apply to other requests. */
  readonly isConstrained: boolean;
  /** Names of the models that this request has already tried. */
  readonly tried: ReadonlySet<string>;
  /** Returns a uniform random number in [0, 1). */
  readonly random: () => number;
}

/** The outcome of a request so far. */
export interface SelectionOutcome {
  /** Names of the models that failed to serve it. */
  readonly failed: ReadonlySet<string>;
  /** The model that served it; undefined if none has yet. */
  readonly served?: ModelView | undefined;
}

/**
 * Selects a model for each request. One instance serves one pool and keeps its own state. `select` and `score` are required. Further
 * members replace the built-in policies of its pools: `shouldDeactivate` and `getReason` the deactivation on failures,
 * `shouldRecover` and `getRecoverySchedule` the cooldown. Configured limits, budgets and the vendors' own limits always
 * apply.
 */
export interface SelectionStrategy extends Partial<DeactivationPolicy>, Partial<RecoveryPolicy> {
  /**
   * Selects a candidate. Candidates are never empty.
   *
   * @returns The selected candidate; undefined delegates to the fallback strategy.
   */
  select(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined;
  /** Scores a candidate; the highest score is the best. `explain()` reports it. */
  score(candidate: ModelView, context: SelectionContext): number;
  /** Name of the model that a sticky strategy currently uses; each change emits a `rotation` event. */
  readonly current?: string | undefined;
  /**
   * Called after every failed attempt, and when another model has served the request, for sticky strategies. Not called
   * for requests with routing constraints of their own, nor for invalid requests.
   */
  observe?(outcome: SelectionOutcome): void;
}

/** Determines when a model is deactivated. */
export interface DeactivationPolicy {
  /** Whether to deactivate the model; called after each of its requests. */
  shouldDeactivate(model: ModelView): boolean;
  /** The reason for the deactivation: one lower-case word. */
  getReason(model: ModelView): StandbyReason | undefined;
}

/** Determines when a model in standby recovers. */
export interface RecoveryPolicy {
  /**
   * Whether to recover a model in standby; called with each request, and at the scheduled recovery time. `now` is
   * monotonic ms.
   */
  shouldRecover(model: ModelView, now: number): boolean;
  /** Scheduled recovery time, monotonic ms; undefined if none. Called when the model is deactivated. */
  getRecoverySchedule(model: ModelView): number | undefined;
}
