/**
 * All breakers that keep requests from one model in one pool, and the pool's policy that opens and closes its own.
 * @module
 */
import type { ModelView, StandbyReason } from "../../contracts/rotation.ts";
import type { RotationPolicy } from "../../rotation/policy.ts";
import type { CircuitBreaker, Standby, Transition } from "./circuit_breaker.ts";

/** Puts a model or its provider into standby. */
export interface DeactivationDecision {
  /** Why. */
  readonly reason: StandbyReason;
  /** The model in its pool, or all of its provider. */
  readonly scope: "model" | "provider";
  /** How long, ms; undefined: the pool's cooldown. */
  readonly standbyMs?: number;
  /** It is for a failure: the cooldown doubles with each consecutive trip. */
  readonly doubles?: true;
  /** Further members of the event. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A request in flight. */
export interface InFlightRequest {
  /** Breakers that were half-open when it began: it is their trial request. */
  readonly halfOpen: readonly CircuitBreaker[];
}

/** What {@linkcode ModelBreakers} are made of. */
export interface ModelBreakersParts {
  /** The breaker of the model in its pool. */
  readonly poolBreaker: CircuitBreaker;
  /** The breaker of the model in every pool. */
  readonly modelBreaker: CircuitBreaker;
  /** The breaker of its provider. */
  readonly providerBreaker: CircuitBreaker;
  /** Cooldown after a deactivation, ms. */
  readonly cooldownMs: number;
  /** The pool's. */
  readonly policy: RotationPolicy;
  readonly onTransition: (transition: Transition) => void;
}

const noTrialRequest: InFlightRequest = { halfOpen: [] };

/** The breakers of one model in one pool. It may be asked while none of them is open. Times are monotonic ms. */
export class ModelBreakers {
  /** All of them: in this pool, in every pool, its provider's, and manual overrides. */
  readonly all: CircuitBreaker[];
  readonly #parts: ModelBreakersParts;
  readonly #model: ModelView;
  readonly #limitInForce: () => DeactivationDecision | undefined;
  #open: CircuitBreaker | undefined;

  /**
   * @param model What the policy is shown.
   * @param limitInForce The standby that a limit still asks for.
   */
  constructor(
    parts: ModelBreakersParts,
    model: ModelView,
    limitInForce: () => DeactivationDecision | undefined,
  ) {
    this.all = [parts.poolBreaker, parts.modelBreaker, parts.providerBreaker];
    this.#parts = parts;
    this.#model = model;
    this.#limitInForce = limitInForce;
  }

  /** The standby that ends last, as of the last refresh; undefined when all breakers are closed or half-open. */
  get standby(): Standby | undefined {
    return this.#open?.standby;
  }

  /** Whether one is half-open. */
  get isHalfOpen(): boolean {
    return this.all.some((breaker) => breaker.isHalfOpen);
  }

  /** Whether one is half-open with its trial request in flight. */
  get hasTrialRequest(): boolean {
    return this.all.some((breaker) => breaker.isHalfOpen && breaker.trialRequests.size > 0);
  }

  /** How often they have opened. */
  get openCount(): number {
    let count = 0;
    for (const breaker of this.all) count += breaker.openCount;
    return count;
  }

  /** Prolongs a standby that is over where a limit still holds. */
  extendDue(now: number): void {
    const { poolBreaker, providerBreaker } = this.#parts;
    for (const breaker of [poolBreaker, providerBreaker]) {
      if (breaker.standby === undefined || breaker.standby.until > now) continue;
      const decision = this.#limitInForce();
      if (decision?.standbyMs && breaker === this.#breakerOf(decision)) this.apply(decision, now);
    }
  }

  /** Half-opens breakers whose standby is over. */
  refresh(now: number): void {
    const { poolBreaker, policy, onTransition } = this.#parts;
    let longest: CircuitBreaker | undefined;
    for (const breaker of this.all) {
      if (breaker.standby === undefined) continue;
      const hasPolicy = breaker === poolBreaker && policy.shouldRecover !== undefined;
      const ended = hasPolicy ? this.#reconsider(now) : breaker.halfOpenIfDue(now);
      if (ended !== undefined) onTransition(ended);
      else if (longest === undefined || breaker.standby.until > longest.standby!.until) longest = breaker;
    }
    this.#open = longest;
  }

  /** A request is admitted: the trial request of those that are half-open. */
  begin(): InFlightRequest {
    if (!this.isHalfOpen) return noTrialRequest;
    const request: InFlightRequest = { halfOpen: this.all.filter((breaker) => breaker.isHalfOpen) };
    for (const breaker of request.halfOpen) breaker.trialRequests.add(request);
    return request;
  }

  /**
   * A request is over.
   *
   * @returns Breakers whose trial request it still is: one may have opened and half-opened again meanwhile.
   */
  end(request: InFlightRequest): readonly CircuitBreaker[] {
    return request.halfOpen.filter((breaker) => breaker.trialRequests.delete(request));
  }

  /**
   * Opens the pool's breaker after a request, where the policy wants it or a trial request failed.
   *
   * @param trials Breakers whose trial request it was.
   * @param isFailure Whether it failed.
   * @returns Whether it was opened.
   */
  trip(trials: readonly CircuitBreaker[], isFailure: boolean, now: number): boolean {
    const { poolBreaker, policy } = this.#parts;
    if (poolBreaker.standby !== undefined) return false;
    const isFailedTrial = isFailure && !policy.isOwn && trials.some((breaker) => breaker.isHalfOpen);
    const isJudged = isFailure || policy.isOwn;
    if (!isFailedTrial && !(isJudged && policy.shouldDeactivate(this.#model))) return false;
    for (const breaker of trials) breaker.endHalfOpen();
    this.#report(this.#openForPool(policy.getReason(this.#model) ?? "retry_limit", now, true));
    return true;
  }

  /** Carries out a decision. */
  apply(decision: DeactivationDecision, now: number): void {
    const { reason, standbyMs, doubles, metadata } = decision;
    const { poolBreaker, cooldownMs } = this.#parts;
    const breaker = this.#breakerOf(decision);
    if (standbyMs === undefined && breaker.standby !== undefined) return; // concurrent requests are one trip
    const transition = breaker === poolBreaker && standbyMs === undefined
      ? this.#openForPool(reason, now, doubles === true)
      : doubles
      ? breaker.openForCooldown(reason, now, cooldownMs)
      : breaker.open(reason, now, standbyMs ?? cooldownMs);
    this.#report(transition && metadata ? { ...transition, metadata } : transition);
  }

  /** Opens the model's breaker in every pool: a fact about its vendor. */
  openModel(reason: StandbyReason, now: number, standbyMs: number): void {
    this.#report(this.#parts.modelBreaker.open(reason, now, standbyMs));
  }

  /** Opens the model's breaker in every pool for the cooldown, which doubles with each consecutive trip. */
  openModelForCooldown(reason: StandbyReason, now: number): void {
    const { modelBreaker, cooldownMs } = this.#parts;
    if (modelBreaker.standby?.reason === reason) return; // concurrent requests are one trip
    this.#report(modelBreaker.openForCooldown(reason, now, cooldownMs));
  }

  /** Opens the breaker of the provider. */
  openProvider(reason: StandbyReason, now: number, standbyMs: number): void {
    this.#report(this.#parts.providerBreaker.open(reason, now, standbyMs));
  }

  /** Closes those in standby for a reason that holds no more; returns whether there was one. */
  closeWhere(isOver: (standby: Standby) => boolean): boolean {
    const { poolBreaker, providerBreaker } = this.#parts;
    const over = [poolBreaker, providerBreaker].filter(({ standby }) => standby !== undefined && isOver(standby));
    for (const breaker of over) breaker.close();
    return over.length > 0;
  }

  /** For the cooldown, or as the pool's policy schedules it. */
  #openForPool(reason: StandbyReason, now: number, doubles: boolean): Transition | undefined {
    const { poolBreaker, policy, cooldownMs } = this.#parts;
    const transition = doubles
      ? poolBreaker.openForCooldown(reason, now, cooldownMs)
      : poolBreaker.open(reason, now, cooldownMs);
    if (transition === undefined || policy.recoverAt === undefined) return transition;
    this.#open = poolBreaker; // the policy is shown the model as it is now
    const until = policy.recoverAt(this.#model);
    if (until === undefined) return transition;
    poolBreaker.setEnd(until, now);
    const { standbyMs: _, ...rest } = transition;
    return until < Infinity ? { ...rest, standbyMs: poolBreaker.standby!.until - now } : rest;
  }

  /** Has the pool's policy decide about a standby; one that goes on is reconsidered later. */
  #reconsider(now: number): Transition | undefined {
    const { poolBreaker, policy, cooldownMs } = this.#parts;
    this.#open = poolBreaker;
    const limit = this.#limitInForce();
    const isLimited = limit?.standbyMs !== undefined && limit.standbyMs > 0 && limit.scope === "model";
    if (!isLimited && policy.shouldRecover!(this.#model, now)) return poolBreaker.close(undefined, true);
    if (poolBreaker.standby!.until > now) return undefined;
    const next = policy.recoverAt?.(this.#model) ?? 0;
    poolBreaker.setEnd(next > now ? next : now + cooldownMs, now);
    return undefined;
  }

  #breakerOf({ scope }: DeactivationDecision): CircuitBreaker {
    return scope === "provider" ? this.#parts.providerBreaker : this.#parts.poolBreaker;
  }

  #report(transition: Transition | undefined): void {
    if (transition !== undefined) this.#parts.onTransition(transition);
  }
}
