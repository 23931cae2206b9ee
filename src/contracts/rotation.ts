/**
 * How models are selected, deactivated and recovered.
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

/** What a limit of the vendor leaves. */
export interface Headroom {
  /** What one window allows. */
  readonly limit: number;
  /** How long the window is, ms; one minute by default. Makes limits by the minute and by the day comparable. */
  readonly windowMs?: number;
  /** What is left of it, requests under way counted as used. */
  readonly left: number;
}

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
  /** Its circuit breaker is half-open: the next request is a trial. */
  readonly isHalfOpen: boolean;
  /** Why it is in standby. */
  readonly reason?: StandbyReason | undefined;
  /** When it will be reconsidered; undefined: not by itself. */
  readonly retryAt?: number | undefined;
  /** Requests that it failed to serve, in a row. */
  readonly consecutiveFailures: number;
  /** HTTP status of the last of them, where one came. */
  readonly lastStatus?: number | undefined;
  /** Requests it is working on. */
  readonly inFlight: number;
  /** Time to a response, an average that weights recent ones most, ms; undefined until measured. */
  readonly latencyMs?: number | undefined;
  /** Requests it may still take in the window, where a limit is known. */
  readonly requests?: Headroom | undefined;
  /** Tokens likewise. */
  readonly tokens?: Headroom | undefined;
}

/** How load-balanced shares requests out: evenly by headroom, or in proportion to each model's limit. */
export type BalanceMode = "absolute" | "relative";

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
  /** Share of a limit at which rate-limit-aware takes another model. @default {0.8} */
  readonly threshold?: number | undefined;
  /** How load-balanced shares out. @default {"absolute"} */
  readonly balanceMode?: BalanceMode | undefined;
  /**
   * What this request would cost at a model by estimate, nano-dollars (10⁻⁹ USD); undefined where no price is known.
   */
  readonly costOf: (model: ModelView) => number | undefined;
  /** The session of this request, where known. */
  readonly session?: string;
  /** The request has routing constraints of its own: the choice for it does not apply to other requests. */
  readonly isConstrained: boolean;
  /** Models this request has already been to. */
  readonly tried: ReadonlySet<string>;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** The outcome of a request so far. */
export interface SelectionOutcome {
  /** Names of the models that did not serve it. */
  readonly failed: ReadonlySet<string>;
  /** The model that answered instead; undefined: none has. */
  readonly served?: ModelView | undefined;
}

/**
 * Spec: Rotation. One instance serves one pool; what it remembers is its own. `select` and `score` are required; what
 * else it brings of the interface replaces the built-in policy for its pools: `shouldDeactivate` and `getReason` decide
 * on failures, `shouldRecover` and `getRecoverySchedule` on the cooldown. Limits, budgets and vendors' own limits apply
 * all the same.
 */
export interface SelectionStrategy extends Partial<DeactivationPolicy>, Partial<RecoveryPolicy> {
  /** The candidate to ask; undefined leaves the choice to the fallback strategy. Candidates are never empty. */
  select(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined;
  /** The score of a candidate, the highest is best: `explain` shows it. */
  score(candidate: ModelView, context: SelectionContext): number;
  /** Name of the model it stays with, for strategies that stay with one: each change is a `rotation` event. */
  readonly current?: string | undefined;
  /**
   * Called after every attempt that failed, and when another model has served the request; for strategies that stay
   * with a model. Not called for requests that choose among the models themselves, nor for those at fault themselves.
   */
  observe?(outcome: SelectionOutcome): void;
}

/** Spec: Rotation, Deactivation. */
export interface DeactivationPolicy {
  /** Whether the model is put into standby; asked after each of its requests. */
  shouldDeactivate(model: ModelView): boolean;
  /** Why: a word of lower case letters. */
  getReason(model: ModelView): StandbyReason | undefined;
}

/** Spec: Rotation, Recovery. */
export interface RecoveryPolicy {
  /**
   * Whether a model in standby is reconsidered; asked with each request, and when its time is over. `now` is monotonic
   * ms.
   */
  shouldRecover(model: ModelView, now: number): boolean;
  /** When it will be, monotonic ms; undefined: not by itself. Asked when it is put into standby. */
  getRecoverySchedule(model: ModelView): number | undefined;
}
