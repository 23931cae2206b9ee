/**
 * The breakers of one model in one pool, and the pool's rotation policy that opens and closes the pool's breaker.
 * @module
 */
import type { ModelView, StandbyReason } from "../../contracts/rotation.ts";
import type { RotationPolicy } from "../../rotation/policy.ts";
import type { CircuitBreaker, Standby, Transition } from "./circuit_breaker.ts";
import type { EndDate } from "./end_date.ts";

/** A decision to put a model or its provider in standby. */
export interface DeactivationDecision {
  readonly reason: StandbyReason;
  /** `model`: the model in its pool; `provider`: all models of its provider. */
  readonly scope: "model" | "provider";
  /**
   * Duration of the standby, ms: until the window ends whose limit is exhausted; Infinity when it does not end by itself;
   * undefined for the pool's cooldown.
   */
  readonly standbyMs?: number;
  /** Whether the cooldown doubles with each consecutive trip, as it does after failures. */
  readonly doubles?: true;
  /** Additional metadata of the event. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A request in flight. */
export interface InFlightRequest {
  /** Breakers that were half-open when the request was admitted, which makes it their trial request. */
  readonly halfOpen: readonly CircuitBreaker[];
}

/** The limits of the model. */
interface ModelLimits {
  /** Returns the standby that an exhausted limit still requires. */
  limitInForce(): DeactivationDecision | undefined;
  /** Returns the end of a standby with a duration: the end of a window is a date. */
  findEnd(decision: DeactivationDecision): number | EndDate;
}

/** Dependencies of {@linkcode ModelBreakers}. */
export interface ModelBreakersParts {
  /** The breaker of the model in its pool. */
  readonly poolBreaker: CircuitBreaker;
  /** The breaker of the model across all pools. */
  readonly modelBreaker: CircuitBreaker;
  /** The breaker of its provider. */
  readonly providerBreaker: CircuitBreaker;
  /** Base cooldown after a deactivation, ms. */
  readonly cooldownMs: number;
  /** The pool's rotation policy. */
  readonly policy: RotationPolicy;
  readonly onTransition: (transition: Transition) => void;
}

const noTrialRequest: InFlightRequest = { halfOpen: [] };

/** The breakers of one model in one pool. The model is active while none of them is open. Times are monotonic ms. */
export class ModelBreakers {
  /** All breakers: of the pool, across pools, of the provider, and manual overrides. */
  readonly all: CircuitBreaker[];
  readonly #parts: ModelBreakersParts;
  readonly #model: ModelView;
  readonly #limits: ModelLimits;
  #open: CircuitBreaker | undefined;

  /** @param model The view of the model that the policy receives. */
  constructor(parts: ModelBreakersParts, model: ModelView, limits: ModelLimits) {
    this.all = [parts.poolBreaker, parts.modelBreaker, parts.providerBreaker];
    this.#parts = parts;
    this.#model = model;
    this.#limits = limits;
  }

  /** The standby with the latest end, as of the last refresh; undefined when no breaker is open. */
  get standby(): Standby | undefined {
    return this.#open?.standby;
  }

  /** Whether a breaker is half-open. */
  get isHalfOpen(): boolean {
    for (const { isHalfOpen } of this.all) if (isHalfOpen) return true;
    return false;
  }

  /** Whether a breaker is half-open and its trial request is in flight. */
  get hasTrialRequest(): boolean {
    for (const { isHalfOpen, trialRequests } of this.all) if (isHalfOpen && trialRequests.size > 0) return true;
    return false;
  }

  /** How many times the breakers have opened. */
  get openCount(): number {
    let count = 0;
    for (const breaker of this.all) count += breaker.openCount;
    return count;
  }

  /** Extends a standby that is due while a limit is still exhausted. */
  extendDue(now: number): void {
    const { poolBreaker, providerBreaker } = this.#parts;
    for (const breaker of [poolBreaker, providerBreaker]) {
      if (breaker.standby === undefined || breaker.standby.until > now) continue;
      const decision = this.#limits.limitInForce();
      if (decision?.standbyMs && breaker === this.#selectBreaker(decision)) this.apply(decision, now);
    }
  }

  /** Makes breakers half-open whose standby has ended. */
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

  /** Registers an admitted request, as the trial request of half-open breakers. */
  begin(): InFlightRequest {
    if (!this.isHalfOpen) return noTrialRequest;
    const request: InFlightRequest = { halfOpen: this.all.filter((breaker) => breaker.isHalfOpen) };
    for (const breaker of request.halfOpen) breaker.trialRequests.add(request);
    return request;
  }

  /**
   * Unregisters a request.
   *
   * @returns Breakers whose trial request it still is. A breaker may have opened and half-opened again in the meantime.
   */
  end(request: InFlightRequest): readonly CircuitBreaker[] {
    return request.halfOpen.filter((breaker) => breaker.trialRequests.delete(request));
  }

  /**
   * Opens the pool's breaker after a request, if the policy decides so or a trial request has failed.
   *
   * @param trials Breakers whose trial request it was.
   * @param isFailure Whether the request failed.
   * @param now Monotonic ms.
   * @returns Whether the breaker was opened.
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

  /** Applies a deactivation decision. */
  apply(decision: DeactivationDecision, now: number): void {
    const { reason, standbyMs, doubles, metadata } = decision;
    const { poolBreaker, cooldownMs } = this.#parts;
    const breaker = this.#selectBreaker(decision);
    if (standbyMs === undefined && breaker.standby !== undefined) return; // concurrent failures count as one trip
    const transition = breaker === poolBreaker && standbyMs === undefined
      ? this.#openForPool(reason, now, doubles === true)
      : doubles
      ? breaker.openForCooldown(reason, now, cooldownMs)
      : breaker.open(reason, now, standbyMs === undefined ? cooldownMs : this.#limits.findEnd(decision));
    this.#report(transition && metadata ? { ...transition, metadata } : transition);
  }

  /** Opens the model's breaker across all pools, for conditions at the vendor. */
  openModel(reason: StandbyReason, now: number, end: number | EndDate): void {
    this.#report(this.#parts.modelBreaker.open(reason, now, end));
  }

  /** Opens the model's breaker across all pools for the cooldown, doubled for each consecutive trip. */
  openModelForCooldown(reason: StandbyReason, now: number): void {
    const { modelBreaker, cooldownMs } = this.#parts;
    if (modelBreaker.standby?.reason === reason) return; // concurrent failures count as one trip
    this.#report(modelBreaker.openForCooldown(reason, now, cooldownMs));
  }

  /** Opens the provider's breaker. */
  openProvider(reason: StandbyReason, now: number, end: number | EndDate): void {
    this.#report(this.#parts.providerBreaker.open(reason, now, end));
  }

  /** Closes breakers whose reason for standby no longer applies. Returns whether there was one. */
  closeWhere(isOver: (standby: Standby) => boolean): boolean {
    const { poolBreaker, providerBreaker } = this.#parts;
    const over = [poolBreaker, providerBreaker].filter(({ standby }) => standby !== undefined && isOver(standby));
    for (const breaker of over) breaker.close();
    return over.length > 0;
  }

  /** Opens the pool's breaker for the cooldown, or until the time the pool's policy schedules. */
  #openForPool(reason: StandbyReason, now: number, doubles: boolean): Transition | undefined {
    const { poolBreaker, policy, cooldownMs } = this.#parts;
    const transition = doubles
      ? poolBreaker.openForCooldown(reason, now, cooldownMs)
      : poolBreaker.open(reason, now, cooldownMs);
    if (transition === undefined || policy.recoverAt === undefined) return transition;
    this.#open = poolBreaker; // the policy sees the model with the breaker open
    const until = policy.recoverAt(this.#model);
    if (until === undefined) return transition;
    poolBreaker.setEnd(until, now);
    const { standbyMs: _, ...rest } = transition;
    return until < Infinity ? { ...rest, standbyMs: poolBreaker.standby!.until - now } : rest;
  }

  /** Lets the pool's policy decide whether a standby that is due ends. If not, it is extended. */
  #reconsider(now: number): Transition | undefined {
    const { poolBreaker, policy, cooldownMs } = this.#parts;
    this.#open = poolBreaker;
    const limit = this.#limits.limitInForce();
    const isLimited = limit?.standbyMs !== undefined && limit.standbyMs > 0 && limit.scope === "model";
    if (!isLimited && policy.shouldRecover!(this.#model, now)) return poolBreaker.close(undefined, true);
    if (poolBreaker.standby!.until > now) return undefined;
    const next = policy.recoverAt?.(this.#model) ?? 0;
    poolBreaker.setEnd(next > now ? next : now + cooldownMs, now);
    return undefined;
  }

  #selectBreaker({ scope }: DeactivationDecision): CircuitBreaker {
    return scope === "provider" ? this.#parts.providerBreaker : this.#parts.poolBreaker;
  }

  #report(transition: Transition | undefined): void {
    if (transition !== undefined) this.#parts.onTransition(transition);
  }
}
