/**
 * A circuit breaker: closed, open (in standby) or half-open. There is one for a model in a pool, one for a model in
 * every pool, one for a provider, and manual overrides beside them; a model may be asked while none of its breakers is
 * open.
 * @module
 */
import type { StandbyReason } from "../../contracts/rotation.ts";

/** Longest standby that a provider can ask for, ms. */
export const maxHintMs: number = 24 * 60 * 60 * 1000;

/** The cooldown never grows beyond this unless it was configured longer, ms. */
export const maxCooldownMs: number = 10 * 60 * 1000;

/** No standby that ends by itself lasts longer, whatever a provider says of its quota: a month, ms. */
export const maxStandbyMs: number = 31 * 24 * 60 * 60 * 1000;

/** The owner of a breaker: a model in a pool, a model or a provider. */
export interface BreakerOwner {
  /** The pool; undefined when it holds in all of them. */
  readonly pool?: string;
  /** The model; undefined for a whole provider. */
  readonly model?: string;
  /** The provider's entry id. */
  readonly provider: string;
}

/** What opens a manual override: the health monitor, the calendar, the registry sync, an operator. */
export type OverrideCause = "health_probe" | "maintenance_window" | "model_not_found" | "manual";

/** What distinguishes a breaker from all others. */
export interface BreakerNames extends BreakerOwner {
  /** The cause of a manual override; left out for other breakers. */
  readonly cause?: OverrideCause;
}

/**
 * The key of what belongs to an owner.
 *
 * @param names A model in a pool, a model or a provider; an override has a cause.
 */
export function recordKey({ pool, model, provider, cause }: BreakerNames): string {
  return JSON.stringify([pool, model, provider, cause]);
}

/** A change of state, on its way to becoming an event. */
export interface Transition {
  /** Whose state changed. */
  readonly owner: BreakerOwner;
  /** The new state. */
  readonly to: "active" | "standby";
  /** Why. */
  readonly reason: StandbyReason;
  /** How long the standby will last, ms; undefined: until it is ended by hand. */
  readonly standbyMs?: number;
  /** Further members of the event. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Why and until when it is open. Monotonic ms. */
export interface Standby {
  readonly reason: StandbyReason;
  readonly since: number;
  readonly until: number;
}

/** What is saved of a breaker. */
export interface BreakerFacts {
  /** Why it is open; undefined when it is not. */
  readonly standby?: Standby;
  /** Its standby is over, and no trial request has succeeded yet. */
  readonly isHalfOpen: boolean;
  /** Trips since the last success. */
  readonly consecutiveTrips: number;
}

/** More of them would not make a standby longer. */
const maxConsecutiveTrips = 32;

/** Closed or open; after a standby it is half-open until a trial request succeeds. */
export class CircuitBreaker {
  /** Its owner. */
  readonly owner: BreakerOwner;
  /** What opens it, if it is a manual override. */
  readonly cause: OverrideCause | undefined;
  #standby: Standby | undefined;
  #isHalfOpen = false;
  #consecutiveTrips = 0;
  #openCount = 0;
  /** Trial requests in flight. */
  trialRequests: Set<object> = new Set();

  constructor({ pool, model, provider, cause }: BreakerNames) {
    this.owner = { ...(pool !== undefined && { pool }), ...(model !== undefined && { model }), provider };
    this.cause = cause;
  }

  /** Its owner, and the cause of a manual override. */
  get names(): BreakerNames {
    return this.cause === undefined ? this.owner : { ...this.owner, cause: this.cause };
  }

  /** The key of its names. */
  get key(): string {
    return recordKey(this.names);
  }

  /** Why it is open; undefined when it is not. */
  get standby(): Standby | undefined {
    return this.#standby;
  }

  /** Its standby is over, and no trial request has succeeded yet. */
  get isHalfOpen(): boolean {
    return this.#isHalfOpen;
  }

  /** How often it has opened. */
  get openCount(): number {
    return this.#openCount;
  }

  /** Trips since the last success: each one doubles the next cooldown. */
  get consecutiveTrips(): number {
    return this.#consecutiveTrips;
  }

  /** Restores what was saved; trial requests in flight are none of its any more. */
  restore({ standby, isHalfOpen, consecutiveTrips }: BreakerFacts): void {
    if (standby !== undefined && this.#standby === undefined) this.#openCount++;
    this.#standby = standby;
    this.#isHalfOpen = isHalfOpen && standby === undefined;
    this.#consecutiveTrips = Math.min(consecutiveTrips, maxConsecutiveTrips);
    this.trialRequests = new Set();
  }

  /**
   * Opens it. A later end extends a standby, an earlier one never shortens it.
   *
   * @returns The transition, if it was active or the reason changed with the extension.
   */
  open(reason: StandbyReason, now: number, wantedMs: number): Transition | undefined {
    const standbyMs = wantedMs < Infinity ? Math.min(wantedMs, maxStandbyMs) : wantedMs;
    const until = now + standbyMs;
    const current = this.#standby;
    if (current !== undefined && current.until >= until) return undefined;
    if (current === undefined) this.#openCount++;
    this.#standby = { reason, since: current?.since ?? now, until };
    this.#isHalfOpen = false;
    this.trialRequests = new Set();
    if (current?.reason === reason) return undefined;
    return { owner: this.owner, to: "standby", reason, ...(standbyMs < Infinity ? { standbyMs } : {}) };
  }

  /** Opens it for the cooldown, doubled with each consecutive trip. */
  openForCooldown(reason: StandbyReason, now: number, cooldownMs: number): Transition | undefined {
    const longest = Math.max(maxCooldownMs, cooldownMs);
    const standbyMs = Math.min(cooldownMs * 2 ** this.#consecutiveTrips, longest);
    this.#consecutiveTrips = Math.min(this.#consecutiveTrips + 1, maxConsecutiveTrips);
    return this.open(reason, now, standbyMs);
  }

  /** Changes the end of a standby under way; Infinity: it does not end by itself. */
  setEnd(wanted: number, now: number): void {
    const until = wanted < Infinity ? Math.min(Math.max(now, wanted), now + maxStandbyMs) : wanted;
    if (this.#standby !== undefined) this.#standby = { ...this.#standby, until };
  }

  /** Half-opens it when its standby is over. */
  halfOpenIfDue(now: number): Transition | undefined {
    return (this.#standby?.until ?? Infinity) > now ? undefined : this.close(undefined, true);
  }

  /**
   * Closes it before its time.
   *
   * @param reason Why it ends, for the event; why it began unless said.
   * @param isHalfOpen Whether it becomes half-open.
   * @returns The transition, if it was under way.
   */
  close(reason?: StandbyReason, isHalfOpen = false): Transition | undefined {
    const over = this.#standby;
    if (over === undefined) return undefined;
    this.#standby = undefined;
    this.#isHalfOpen = isHalfOpen;
    if (!isHalfOpen) this.#consecutiveTrips = 0;
    this.trialRequests = new Set();
    return { owner: this.owner, to: "active", reason: reason ?? over.reason };
  }

  /** A request succeeded: closes it when it is half-open. A late success of an earlier request changes nothing. */
  recordSuccess(): void {
    if (this.#standby !== undefined) return;
    this.#isHalfOpen = false;
    this.#consecutiveTrips = 0;
  }

  /** Ends the half-open state without a trial request: another breaker opens. */
  endHalfOpen(): void {
    this.#isHalfOpen = false;
  }
}
