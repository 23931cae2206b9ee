/**
 * The state of one model in one pool.
 * @module
 */
import type { Headroom, ModelView, StandbyReason } from "../../contracts/rotation.ts";
import type { CircuitBreaker } from "../breaker/circuit_breaker.ts";
import type { AdmittedCall } from "./admitted_call.ts";
import { type InFlightRequest, ModelBreakers, type ModelBreakersParts } from "../breaker/model_breakers.ts";
import { Permit, type PermittedModel } from "./permit.ts";
import type { Outcome, RequestEnd } from "../counters/usage.ts";
import type { Load } from "./usage.ts";
import type { UsageTracker } from "./usage_tracker.ts";

/** A model's state and the pool it belongs to. */
export interface MemberState {
  readonly pool: string;
  readonly state: ModelState;
}

/**
 * The state of one model in one pool. Other modules see it as a {@linkcode ModelView}; only `src/state` modifies it.
 * Times are monotonic ms.
 */
export class ModelState implements ModelView, PermittedModel {
  readonly name: string;
  readonly provider: string;
  readonly weight: number;
  /** The breaker of the model in this pool. */
  readonly breaker: CircuitBreaker;
  /** Counts requests, tokens and cost. */
  readonly tracker: UsageTracker;
  /** All breakers that apply to the model. */
  readonly breakers: ModelBreakers;
  /** Called whenever a counter has changed. */
  onCount?: () => void;
  #inFlight = 0;
  #failures = 0;
  #lastStatus: number | undefined;
  #wasOpen = false;
  #now = 0;

  constructor(
    parts: ModelBreakersParts & {
      readonly name: string;
      readonly provider: string;
      readonly weight: number;
      /** Counts requests, tokens and cost. */
      readonly tracker: UsageTracker;
    },
  ) {
    this.name = parts.name;
    this.provider = parts.provider;
    this.weight = parts.weight;
    this.breaker = parts.poolBreaker;
    this.tracker = parts.tracker;
    this.breakers = new ModelBreakers(parts, this, this.tracker);
  }

  get status(): "active" | "standby" {
    return this.breakers.standby === undefined ? "active" : "standby";
  }

  get isHalfOpen(): boolean {
    return this.breakers.isHalfOpen;
  }

  get reason(): StandbyReason | undefined {
    return this.breakers.standby?.reason;
  }

  /** When the standby began. */
  get since(): number | undefined {
    return this.breakers.standby?.since;
  }

  get retryAt(): number | undefined {
    const until = this.breakers.standby?.until;
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
    return this.tracker.shared.latency.value(this.#now);
  }

  get requests(): Headroom | undefined {
    return this.tracker.shared.rate.requests(this.#now);
  }

  get tokens(): Headroom | undefined {
    return this.tracker.shared.rate.tokens(this.#now);
  }

  /**
   * Admits a request. It counts from now on, even beyond a limit. Call `denial` of its tracker in the same turn
   * of the event loop, so that concurrent requests see each other's reservations.
   */
  admit(load: Load, now: number): Permit {
    return new Permit(this, load, now);
  }

  /** Reserves for a call about to be sent, even beyond a limit. */
  reserve(load: Load, now: number): AdmittedCall {
    const call = this.tracker.reserve(load, now);
    this.onCount?.();
    return call;
  }

  /** Restores the failure streak of an earlier process. */
  restore({ failures, lastStatus }: { readonly failures: number; readonly lastStatus?: number }): void {
    this.#failures = failures;
    this.#lastStatus = lastStatus;
  }

  /** Refreshes the view: breakers whose standby has ended become half-open, unless a limit is still exhausted. */
  refresh(now: number): void {
    this.#now = now;
    this.#detectRecovery(); // the standby of an earlier process may have ended
    this.breakers.extendDue(now);
    this.breakers.refresh(now);
    this.#detectRecovery();
  }

  /** Registers an admitted request. */
  begin(): InFlightRequest {
    this.#detectRecovery();
    this.#inFlight++;
    this.tracker.quota?.reserveRequest();
    this.onCount?.();
    return this.breakers.begin();
  }

  /** Records that an admitted request is sent. Reaching a limit deactivates the model. */
  sent(now: number): void {
    const { quota } = this.tracker;
    quota?.addRequest();
    const decision = quota?.decision();
    if (decision !== undefined) this.breakers.apply(decision, now);
    this.#detectRecovery();
  }

  /** Deactivates the model if a limit was reached in another pool or process. */
  review(now: number): void {
    const decision = this.tracker.limitReached();
    if (decision !== undefined) this.breakers.apply(decision, now);
    this.#detectRecovery();
  }

  /** Unregisters an admitted request that was not sent. */
  withdraw(request: InFlightRequest): void {
    this.#inFlight--;
    this.breakers.end(request);
    this.tracker.quota?.withdrawRequest();
    this.onCount?.();
  }

  /** Ends a request. A failed trial request opens the pool's breaker again. */
  finish(
    request: InFlightRequest,
    outcome: Outcome,
    { now, end = {} }: { readonly now: number; readonly end?: RequestEnd },
  ): void {
    this.#detectRecovery();
    const decision = this.tracker.requestFinished(outcome, end, now);
    const isProviders = outcome === "failure" && decision?.scope === "provider" && isProviderTrialRequest(request);
    const isFailure = outcome === "failure" && !isProviders; // else not one of the model
    const trials = this.breakers.end(request);
    this.#inFlight--;
    if (isFailure) {
      this.#failures++;
      this.#lastStatus = end.status;
    } else if (outcome === "success") {
      this.#failures = 0;
      for (const breaker of trials) breaker.recordSuccess(); // only requests admitted while half-open count
    }
    if (this.breakers.trip(trials, isFailure, now)) this.#failures = 0;
    if (decision !== undefined) this.breakers.apply(decision, now);
    this.#detectRecovery();
    this.onCount?.();
    if (outcome !== "success") this.tracker.shared.rate.onFreed?.(); // calls that fail do not notify themselves
  }

  /**
   * Whether a standby's budget is not exhausted by what is counted here: its limit has changed, or differs in another
   * process.
   */
  hasBudget(reason: StandbyReason): boolean {
    const { budgetScopes, quota } = this.tracker;
    const isForBudget = budgetScopes.some((scope) => scope.reason === reason) && !quota?.hasBudget;
    return isForBudget && this.tracker.limitInForce()?.reason !== reason;
  }

  /** Ends standbys for budgets that are not exhausted. */
  recheckBudgets(now: number): void {
    const isOver = this.breakers.closeWhere(({ reason }) => this.hasBudget(reason));
    if (isOver) this.breakers.refresh(now);
  }

  /** Resets counters between standbys when a standby has ended, whatever ended it. */
  #detectRecovery(): void {
    const isOpen = this.breaker.standby !== undefined;
    if (this.#wasOpen && !isOpen) this.tracker.recovered();
    this.#wasOpen = isOpen;
  }
}

/** Whether the request is only its provider's trial request. */
function isProviderTrialRequest({ halfOpen }: InFlightRequest): boolean {
  return halfOpen.length > 0 && halfOpen.every(({ owner }) => owner.model === undefined);
}
