/**
 * The state of one model in one pool, and how requests change it.
 * @module
 */
import type { Headroom, ModelView, StandbyReason } from "../contracts/rotation.ts";
import type { CircuitBreaker } from "./breaker/circuit_breaker.ts";
import { type InFlightRequest, ModelBreakers, type ModelBreakersParts } from "./breaker/model_breakers.ts";
import type { CallReservation } from "./call_reservation.ts";
import type { AdmissionDenial } from "./limits/admission_denial.ts";
import type { ApiKeyPool } from "./limits/api_key_pool.ts";
import { Permit, type PermittedModel } from "./limits/permit.ts";
import type { OutputTokens } from "./metrics/output_tokens.ts";
import type { CounterReplicator } from "./replication/counter_replicator.ts";
import type { Load, Outcome, RequestEnd } from "./usage.ts";
import type { UsageTracker } from "./usage_tracker.ts";

/** What a {@linkcode ModelState} is made of. */
interface ModelStateParts extends ModelBreakersParts {
  readonly name: string;
  readonly provider: string;
  readonly weight: number;
  /** Counts its requests, tokens and costs. */
  readonly tracker: UsageTracker;
}

/** A model's state and the pool it belongs to. */
export interface MemberState {
  readonly pool: string;
  readonly state: ModelState;
}

/** Consecutive failed requests of a model. */
interface FailureStreak {
  /** How many. */
  readonly failures: number;
  /** HTTP status of the last of them, where one came. */
  readonly lastStatus?: number;
}

/** One model in one pool. Others see it as a {@linkcode ModelView}; only the state room changes it. Times are monotonic ms. */
export class ModelState implements ModelView, PermittedModel {
  readonly name: string;
  readonly provider: string;
  readonly weight: number;
  /** The breaker of this model in this pool. */
  readonly breaker: CircuitBreaker;
  /** Counts its requests, tokens and costs. */
  readonly tracker: UsageTracker;
  /** Called whenever something was counted. */
  onCount?: () => void;
  readonly #breakers: ModelBreakers;
  #inFlight = 0;
  #failures = 0;
  #lastStatus: number | undefined;
  #wasOpen = false;
  #now = 0;

  constructor(parts: ModelStateParts) {
    this.name = parts.name;
    this.provider = parts.provider;
    this.weight = parts.weight;
    this.breaker = parts.poolBreaker;
    this.tracker = parts.tracker;
    this.#breakers = new ModelBreakers(parts, this, () => this.tracker.limitInForce());
  }

  get status(): "active" | "standby" {
    return this.#breakers.standby === undefined ? "active" : "standby";
  }

  get isHalfOpen(): boolean {
    return this.#breakers.isHalfOpen;
  }

  /** Whether it is half-open with its trial request in flight. */
  get hasTrialRequest(): boolean {
    return this.#breakers.hasTrialRequest;
  }

  get reason(): StandbyReason | undefined {
    return this.#breakers.standby?.reason;
  }

  /** How often it was in standby: more than before means that it has recovered meanwhile. */
  get standbyCount(): number {
    return this.#breakers.openCount;
  }

  /** Since when it is in standby. */
  get since(): number | undefined {
    return this.#breakers.standby?.since;
  }

  get retryAt(): number | undefined {
    const until = this.#breakers.standby?.until;
    return until === undefined || until === Infinity ? undefined : until;
  }

  get consecutiveFailures(): number {
    return this.#failures;
  }

  get lastStatus(): number | undefined {
    return this.#lastStatus;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get latencyMs(): number | undefined {
    return this.tracker.latencyMs(this.#now);
  }

  get requests(): Headroom | undefined {
    return this.tracker.requests(this.#now);
  }

  get tokens(): Headroom | undefined {
    return this.tracker.tokens(this.#now);
  }

  /** All breakers that keep requests from it. */
  get breakers(): CircuitBreaker[] {
    return this.#breakers.all;
  }

  /** Its provider's API keys, where there are several. */
  get keys(): ApiKeyPool | undefined {
    return this.tracker.keys;
  }

  /** Counters shared with other processes. */
  get replicator(): CounterReplicator {
    return this.tracker.replicator;
  }

  /** Tokens written per response. */
  get outputTokens(): OutputTokens {
    return this.tracker.outputTokens;
  }

  /** What a request would cost by estimate, nano-dollars; undefined where no price is known. */
  costOf(load: Load): number | undefined {
    return this.tracker.costOf(load);
  }

  /** Why a request cannot be admitted now, although the model is active. */
  denial(load: Load, now: number): AdmissionDenial | undefined {
    return this.tracker.denial(load, now);
  }

  /**
   * Admits a request: it counts from now on, also beyond a limit. {@linkcode ModelState.denial} has to be asked in the
   * same turn of the event loop, so that of concurrent requests each one finds those before it counted.
   */
  admit(load: Load, now: number): Permit {
    return new Permit(this, load, now);
  }

  /** Reserves for a call that is about to be sent, also beyond a limit. */
  reserve(load: Load, now: number): CallReservation {
    const reservation = this.tracker.reserve(load, now);
    this.onCount?.();
    return reservation;
  }

  /** Restores the failure streak of an earlier process. */
  restore({ failures, lastStatus }: FailureStreak): void {
    this.#failures = failures;
    this.#lastStatus = lastStatus;
  }

  /** Updates the view: breakers whose standby is over become half-open, unless a limit still holds. */
  refresh(now: number): void {
    this.#now = now;
    this.#detectRecovery(); // the standby of an earlier process may be over by now
    this.#breakers.extendDue(now);
    this.#breakers.refresh(now);
    this.#detectRecovery();
  }

  /** A request is admitted. */
  begin(): InFlightRequest {
    this.#detectRecovery();
    this.#inFlight++;
    this.tracker.requestAdmitted();
    this.onCount?.();
    return this.#breakers.begin();
  }

  /** An admitted request is sent: a limit that it reaches deactivates the model. */
  sent(now: number): void {
    const decision = this.tracker.requestSent();
    if (decision !== undefined) this.#breakers.apply(decision, now);
    this.#detectRecovery();
  }

  /** Deactivates the model where a limit has been reached elsewhere. */
  review(now: number): void {
    const decision = this.tracker.limitReached();
    if (decision !== undefined) this.#breakers.apply(decision, now);
    this.#detectRecovery();
  }

  /** An admitted request was not sent. */
  withdraw(request: InFlightRequest): void {
    this.#inFlight--;
    this.#breakers.end(request);
    this.tracker.requestWithdrawn();
    this.onCount?.();
  }

  /** The request is over. A failed trial request opens the pool's breaker anew. */
  finish(request: InFlightRequest, outcome: Outcome, now: number, end: RequestEnd = {}): void {
    this.#detectRecovery();
    const decision = this.tracker.requestFinished(outcome, end, now);
    const isProviders = outcome === "failure" && decision?.scope === "provider" && isProviderTrialRequest(request);
    this.#record(request, isProviders ? "none" : outcome, now, end); // that says nothing of the model
    if (decision !== undefined) this.#breakers.apply(decision, now);
    this.#detectRecovery();
    this.onCount?.();
  }

  #record(request: InFlightRequest, outcome: Outcome, now: number, { status }: RequestEnd): void {
    this.#inFlight--;
    const trials = this.#breakers.end(request);
    if (outcome === "failure") {
      this.#failures++;
      this.#lastStatus = status;
    } else if (outcome === "success") {
      this.#failures = 0;
      for (const breaker of trials) breaker.recordSuccess(); // not by a request that began before the standby
    }
    if (this.#breakers.trip(trials, outcome === "failure", now)) this.#failures = 0;
  }

  /** Opens its breaker in every pool: a fact about its vendor. */
  openModelBreaker(reason: StandbyReason, now: number, standbyMs: number): void {
    this.#breakers.openModel(reason, now, standbyMs);
  }

  /** Opens its breaker in every pool for the cooldown, which doubles with each consecutive trip. */
  openModelBreakerForCooldown(reason: StandbyReason, now: number): void {
    this.#breakers.openModelForCooldown(reason, now);
  }

  /** Opens the breaker of its provider. */
  openProviderBreaker(reason: StandbyReason, now: number, standbyMs: number): void {
    this.#breakers.openProvider(reason, now, standbyMs);
  }

  /** Whether a standby is for a budget that is not spent by what is counted here: its limit has changed, or is another one elsewhere. */
  hasBudget(reason: StandbyReason): boolean {
    const { budgetScopes, quota } = this.tracker;
    const isForBudget = budgetScopes.some((scope) => scope.reason === reason) && !quota.hasBudget;
    return isForBudget && this.tracker.limitInForce()?.reason !== reason;
  }

  /** Ends a standby for a budget that is not spent. */
  recheckBudgets(now: number): void {
    const isOver = this.#breakers.closeWhere(({ reason }) => this.hasBudget(reason));
    if (isOver) this.#breakers.refresh(now);
  }

  /** What counts between two standbys begins anew after each of them, whatever has ended it. */
  #detectRecovery(): void {
    const isOpen = this.breaker.standby !== undefined;
    if (this.#wasOpen && !isOpen) this.tracker.recovered();
    this.#wasOpen = isOpen;
  }
}

/** Whether it is the trial request of its provider alone. */
function isProviderTrialRequest({ halfOpen }: InFlightRequest): boolean {
  return halfOpen.length > 0 && halfOpen.every(({ owner }) => owner.model === undefined);
}
