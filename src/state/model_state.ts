/**
 * What is known of one model in one pool, and how a request's outcome changes it.
 * @module
 */
import type { ModelView, StandbyReason } from "../contracts/rotation.ts";
import type { RotationPolicy } from "../rotation/policy.ts";
import type { AdmissionDenial } from "./limits/admission_denial.ts";
import type { ApiKeyPool } from "./limits/api_key_pool.ts";
import type { CallReservation, Load, RequestEnd } from "./usage.ts";
import type { OutputTokens } from "./metrics/output_tokens.ts";
import { Permit } from "./limits/permit.ts";
import type { CircuitBreaker, Transition } from "./breaker/circuit_breaker.ts";
import type { CounterReplicator } from "./replication/counter_replicator.ts";

/** What a request meant for a model that worked on it: its one vote. */
export type Outcome = "success" | "failure" | "none";

/** A request under way, from {@linkcode ModelState.begin} to {@linkcode ModelState.finish}. */
export interface Ticket {
  /** Rests that were on trial when it began. */
  readonly halfOpen: readonly CircuitBreaker[];
}

const noTrials: Ticket = { halfOpen: [] };

/** The facts a {@linkcode ModelState} is made of. */
export interface ModelStateFacts {
  readonly name: string;
  readonly provider: string;
  readonly weight: number;
  /** The rest of this model in this pool. */
  readonly poolBreaker: CircuitBreaker;
  /** The rest of this model in every pool. */
  readonly modelBreaker: CircuitBreaker;
  /** The rest of its provider. */
  readonly providerBreaker: CircuitBreaker;
  /** Cooldown after a deactivation, ms. */
  readonly cooldownMs: number;
  readonly policy: RotationPolicy;
  readonly onTransition: (transition: Transition) => void;
}

/** A model's row of failed requests. */
export interface FailureStreak {
  /** How many in a row. */
  readonly failures: number;
  /** HTTP status of the last of them, where one came. */
  readonly lastStatus?: number;
}

/**
 * One model in one pool. Others see it as a {@linkcode ModelView}; only the state room changes it. What counts beside
 * failures is for a {@linkcode MeteredState}; where nothing does, what has to be asked for is left out.
 */
export class ModelState implements ModelView {
  readonly name: string;
  readonly provider: string;
  readonly weight: number;
  /** The rest of this model in this pool. */
  readonly breaker: CircuitBreaker;
  /** Its provider's keys, where there are several. */
  declare readonly keys?: ApiKeyPool | undefined;
  readonly #facts: ModelStateFacts;
  /** What keeps it from being asked: three rests, and holds. */
  readonly breakers: CircuitBreaker[];
  #open: CircuitBreaker | undefined;
  #inFlight = 0;
  #failures = 0;
  #lastStatus: number | undefined;

  constructor(facts: ModelStateFacts) {
    this.name = facts.name;
    this.provider = facts.provider;
    this.weight = facts.weight;
    this.breaker = facts.poolBreaker;
    this.#facts = facts;
    this.breakers = [facts.poolBreaker, facts.modelBreaker, facts.providerBreaker];
  }

  get status(): "active" | "standby" {
    return this.#open === undefined ? "active" : "standby";
  }

  get isHalfOpen(): boolean {
    return this.breakers.some((rest) => rest.isHalfOpen);
  }

  /** On trial, with a request under way that will tell. */
  get hasTrialRequest(): boolean {
    return this.breakers.some((rest) => rest.isHalfOpen && rest.trialRequests.size > 0);
  }

  get reason(): StandbyReason | undefined {
    return this.#open?.standby?.reason;
  }

  /** How often it was in standby: more than before says that it has recovered meanwhile. */
  get standbyCount(): number {
    let count = 0;
    for (const rest of this.breakers) count += rest.openCount;
    return count;
  }

  /** Since when it rests, monotonic ms. */
  get since(): number | undefined {
    return this.#open?.standby?.since;
  }

  get retryAt(): number | undefined {
    const until = this.#open?.standby?.until;
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

  /** Takes up a row of failures of an earlier process. */
  restore({ failures, lastStatus }: FailureStreak): void {
    this.#failures = failures;
    this.#lastStatus = lastStatus;
  }

  /** Brings the view up to date: rests that are over end now, the one that lasts longest is what it rests by. */
  refresh(now: number): void {
    let longest: CircuitBreaker | undefined;
    for (const rest of this.breakers) {
      if (rest.standby === undefined) continue;
      const isPolicys = rest === this.breaker && this.#facts.policy.shouldRecover !== undefined;
      const ended = isPolicys ? this.#reconsider(now) : rest.halfOpenIfDue(now);
      if (ended !== undefined) this.#facts.onTransition(ended);
      else if (longest === undefined || rest.standby.until > longest.standby!.until) longest = rest;
    }
    this.#open = longest;
  }

  /** Tokens written per answer, where they are counted. */
  get outputTokens(): OutputTokens | undefined {
    return undefined;
  }

  /** What a request would cost, nano-dollars; undefined where no price is known. */
  costOf?(load: Load): number | undefined;

  /** Why a request cannot go there now, although it is active. */
  denial?(load: Load, now: number): AdmissionDenial | undefined;

  /** What other processes count, too. */
  declare readonly replicator?: CounterReplicator;

  /** Counts a call that is about to be sent, whether there is room for it or not. */
  spend?(load: Load, now: number): CallReservation;

  /**
   * Admits a request: it counts from now on, also beyond a limit. Whether it may be sent is asked in the same turn of the
   * event loop, so that of requests at once each one finds those before it counted.
   *
   * @param load What it will take, by estimate.
   * @param now Monotonic ms.
   */
  admit(load: Load, now: number): Permit {
    return new Permit(this, load, now);
  }

  /**
   * An admitted request is sent: what it was the last one for ends with it.
   *
   * @param now Monotonic ms.
   */
  sent?(now: number): void;

  /**
   * Goes into standby where a limit has been reached elsewhere.
   *
   * @param now Monotonic ms.
   */
  review?(now: number): void;

  /**
   * A request is admitted.
   *
   * @param _now Monotonic ms.
   */
  begin(_now: number): Ticket {
    this.#inFlight++;
    if (!this.isHalfOpen) return noTrials;
    const ticket: Ticket = { halfOpen: this.breakers.filter((rest) => rest.isHalfOpen) };
    for (const rest of ticket.halfOpen) rest.trialRequests.add(ticket);
    return ticket;
  }

  /**
   * The request was not sent after all.
   *
   * @param ticket Its ticket.
   * @param _now Monotonic ms.
   */
  withdraw(ticket: Ticket, _now: number): void {
    this.#inFlight--;
    for (const rest of ticket.halfOpen) rest.trialRequests.delete(ticket);
  }

  /** The request is over. A failed trial sends the model back, whatever it was that rested. */
  finish(ticket: Ticket, vote: Outcome, now: number, { status }: RequestEnd = {}): void {
    this.#inFlight--;
    // a trial that has ended meanwhile is none of this request's any more, though another may be under way
    const trials = ticket.halfOpen.filter((rest) => rest.trialRequests.delete(ticket));
    if (vote === "failure") {
      this.#failures++;
      this.#lastStatus = status;
    } else if (vote === "success") {
      this.#failures = 0;
      for (const rest of trials) rest.recordSuccess(); // only a request of the trial itself passes it, none begun before the rest
    }
    if (this.breaker.standby === undefined && this.#isToGo(trials, vote)) {
      for (const rest of trials) rest.endHalfOpen();
      const reason = this.#facts.policy.getReason(this) ?? "retry_limit";
      this.#report(this.deactivate(reason, now, true));
      this.#failures = 0;
    }
  }

  #isToGo(trials: readonly CircuitBreaker[], vote: Outcome): boolean {
    const { policy } = this.#facts;
    if (policy.isOwn) return policy.shouldDeactivate(this);
    return vote === "failure" && (trials.some((rest) => rest.isHalfOpen) || policy.shouldDeactivate(this));
  }

  /**
   * Puts it into standby in its pool, for the cooldown or as the pool's policy schedules it.
   *
   * @param reason Why.
   * @param now Monotonic ms.
   * @param doubles Whether each failed trial doubles the cooldown.
   */
  protected deactivate(reason: StandbyReason, now: number, doubles: boolean): Transition | undefined {
    const { poolBreaker, policy, cooldownMs } = this.#facts;
    const transition = doubles
      ? poolBreaker.openForCooldown(reason, now, cooldownMs)
      : poolBreaker.open(reason, now, cooldownMs);
    if (transition === undefined || policy.recoverAt === undefined) return transition;
    this.#open = poolBreaker; // the policy sees it as it is now
    const until = policy.recoverAt(this);
    if (until === undefined) return transition;
    poolBreaker.setEnd(until, now);
    const { standbyMs: _, ...rest } = transition;
    return until < Infinity ? { ...rest, standbyMs: poolBreaker.standby!.until - now } : rest;
  }

  /**
   * Whether nothing but the pool's policy keeps it in standby.
   *
   * @param _now Monotonic ms.
   */
  protected mayRecover(_now: number): boolean {
    return true;
  }

  /** Has the pool's policy decide about a standby; one that goes on is looked at again. */
  #reconsider(now: number): Transition | undefined {
    const { poolBreaker, policy, cooldownMs } = this.#facts;
    this.#open = poolBreaker;
    if (this.mayRecover(now) && policy.shouldRecover!(this, now)) return poolBreaker.close(undefined, true);
    if (poolBreaker.standby!.until > now) return undefined;
    const next = policy.recoverAt?.(this) ?? 0;
    poolBreaker.setEnd(next > now ? next : now + cooldownMs, now);
    return undefined;
  }

  /** Sets the model aside in every pool: a fact about its vendor. */
  openModelBreaker(reason: StandbyReason, now: number, standbyMs: number): void {
    this.#report(this.#facts.modelBreaker.open(reason, now, standbyMs));
  }

  /** The same for the cooldown, doubling. */
  openModelBreakerForCooldown(reason: StandbyReason, now: number): void {
    if (this.#facts.modelBreaker.standby?.reason === reason) return; // several requests learn it at once: it doubles per trial
    this.#report(this.#facts.modelBreaker.openForCooldown(reason, now, this.#facts.cooldownMs));
  }

  /** Sets all models of the provider aside. */
  openProviderBreaker(reason: StandbyReason, now: number, standbyMs: number): void {
    this.#report(this.#facts.providerBreaker.open(reason, now, standbyMs));
  }

  #report(transition: Transition | undefined): void {
    if (transition !== undefined) this.#facts.onTransition(transition);
  }
}
