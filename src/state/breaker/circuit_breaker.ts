/**
 * Circuit breaker with three states: closed (active), open (standby) and half-open. Each model has one per pool and one
 * across all pools, each provider has one, and there are manual overrides. A model is active while none of its breakers
 * is open.
 * @module
 */
import type { StandbyReason } from "../../contracts/rotation.ts";
import { EndDate, maxStandbyMs } from "./end_date.ts";

export { maxStandbyMs };

/** Maximum standby that a provider can request (`Retry-After`), ms. */
export const maxHintMs: number = 24 * 60 * 60 * 1000;

/** Maximum cooldown after doubling, ms, unless the configured cooldown is longer. */
export const maxCooldownMs: number = 10 * 60 * 1000;

/** The owner of a breaker: a model in a pool, a model across all pools, or a provider. */
export interface BreakerOwner {
  /** The pool; undefined for a breaker across all pools. */
  readonly pool?: string;
  /** The model; undefined for a provider's breaker. */
  readonly model?: string;
  /** The provider's id in the configuration. */
  readonly provider: string;
}

/** Opener of a manual override: health monitor, maintenance window, model synchronization, operator. */
export type OverrideCause = "health_probe" | "maintenance_window" | "model_not_found" | "manual";

/** The identity of a breaker. */
export interface BreakerNames extends BreakerOwner {
  /** The cause of a manual override; undefined for other breakers. */
  readonly cause?: OverrideCause;
}

/**
 * Returns the map key of a breaker.
 *
 * @param names The breaker's owner and, for a manual override, its cause.
 */
export function recordKey({ pool, model, provider, cause }: BreakerNames): string {
  return JSON.stringify([pool, model, provider, cause]);
}

/** A change between active and standby, which becomes an event. */
export interface Transition {
  /** The owner of the breaker. */
  readonly owner: BreakerOwner;
  /** The new state. */
  readonly to: "active" | "standby";
  /** The reason of the standby that begins or ends. */
  readonly reason: StandbyReason;
  /** Duration of the standby, ms; undefined when it does not end by itself. */
  readonly standbyMs?: number;
  /** Its end, if that is a date. */
  readonly end?: EndDate;
  /** Additional metadata of the event. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** An open breaker's standby. Times are monotonic ms. */
export interface Standby {
  readonly reason: StandbyReason;
  readonly since: number;
  /** The end. If it is a date, it changes when the wall clock is set. */
  readonly until: number;
  /** The end, if it is a date. */
  readonly end?: EndDate;
}

/** A standby that ends at a date. */
export class DatedStandby implements Standby {
  readonly reason: StandbyReason;
  readonly since: number;
  readonly end: EndDate;

  constructor(reason: StandbyReason, since: number, end: EndDate) {
    this.reason = reason;
    this.since = since;
    this.end = end;
  }

  get until(): number {
    return this.end.monotonicMs;
  }
}

/** The persisted state of a breaker. */
export interface BreakerFacts {
  /** The standby; undefined unless the breaker is open. */
  readonly standby?: Standby;
  /** Whether the standby has ended and no trial request has succeeded yet. */
  readonly isHalfOpen: boolean;
  /** Number of trips since the last success. */
  readonly consecutiveTrips: number;
}

/** Cap on consecutive trips; further doubling would not lengthen a cooldown. */
const maxConsecutiveTrips = 32;

/** A circuit breaker. After a standby it is half-open until a trial request succeeds. */
export class CircuitBreaker {
  readonly owner: BreakerOwner;
  /** The cause, if it is a manual override. */
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

  /** Owner, and cause of a manual override. */
  get names(): BreakerNames {
    return this.cause === undefined ? this.owner : { ...this.owner, cause: this.cause };
  }

  /** Map key of the breaker. */
  get key(): string {
    return recordKey(this.names);
  }

  /** The standby; undefined unless the breaker is open. */
  get standby(): Standby | undefined {
    return this.#standby;
  }

  /** Whether the standby has ended and no trial request has succeeded yet. */
  get isHalfOpen(): boolean {
    return this.#isHalfOpen;
  }

  /** How many times the breaker has opened. */
  get openCount(): number {
    return this.#openCount;
  }

  /** Number of trips since the last success. Each doubles the next cooldown. */
  get consecutiveTrips(): number {
    return this.#consecutiveTrips;
  }

  /** Restores a persisted state. Trial requests in flight are detached. */
  restore({ standby, isHalfOpen, consecutiveTrips }: BreakerFacts): void {
    if (standby !== undefined && this.#standby === undefined) this.#openCount++;
    this.#standby = standby;
    this.#isHalfOpen = isHalfOpen && standby === undefined;
    this.#consecutiveTrips = Math.min(consecutiveTrips, maxConsecutiveTrips);
    this.trialRequests = new Set();
  }

  /**
   * Opens the breaker. A standby is extended by a later end, and never shortened by an earlier one.
   *
   * @param now Monotonic ms.
   * @param wanted Duration of the standby, ms, or its date; Infinity when it does not end by itself.
   * @returns The transition, if the breaker was not open or the extension changed the reason.
   */
  open(reason: StandbyReason, now: number, wanted: number | EndDate): Transition | undefined {
    const end = wanted instanceof EndDate ? wanted : undefined;
    const wantedMs = end?.leftMs ?? wanted as number;
    const standbyMs = wantedMs < Infinity ? Math.min(wantedMs, maxStandbyMs) : wantedMs;
    const current = this.#standby;
    if (current !== undefined && isAsLong(current, now + standbyMs, end)) return undefined;
    if (current === undefined) this.#openCount++;
    const since = current?.since ?? now;
    this.#standby = end === undefined
      ? { reason, since, until: now + standbyMs }
      : new DatedStandby(reason, since, end);
    this.#isHalfOpen = false;
    this.trialRequests = new Set();
    if (current?.reason === reason) return undefined;
    const times = { ...(standbyMs < Infinity && { standbyMs }), ...(end && { end }) };
    return { owner: this.owner, to: "standby", reason, ...times };
  }

  /** Opens the breaker for the cooldown, doubled for each consecutive trip. */
  openForCooldown(reason: StandbyReason, now: number, cooldownMs: number): Transition | undefined {
    const longest = Math.max(maxCooldownMs, cooldownMs);
    const standbyMs = Math.min(cooldownMs * 2 ** this.#consecutiveTrips, longest);
    this.#consecutiveTrips = Math.min(this.#consecutiveTrips + 1, maxConsecutiveTrips);
    return this.open(reason, now, standbyMs);
  }

  /** Moves the end of the current standby. `Infinity` means that it does not end by itself. */
  setEnd(end: number, now: number): void {
    if (this.#standby === undefined) return;
    const until = end < Infinity ? Math.min(Math.max(now, end), now + maxStandbyMs) : end;
    const { reason, since } = this.#standby;
    this.#standby = { reason, since, until };
  }

  /** Makes the breaker half-open when its standby has ended. */
  halfOpenIfDue(now: number): Transition | undefined {
    return (this.#standby?.until ?? Infinity) > now ? undefined : this.close(undefined, true);
  }

  /**
   * Closes the breaker early.
   *
   * @param reason Reason reported in the event; by default, the reason of the standby.
   * @param isHalfOpen Whether it becomes half-open instead of closed.
   * @returns The transition, if the breaker was open.
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

  /**
   * Records a success, which closes a half-open breaker. While the breaker is open, a success of an earlier request is
   * ignored.
   */
  recordSuccess(): void {
    if (this.#standby !== undefined) return;
    this.#isHalfOpen = false;
    this.#consecutiveTrips = 0;
  }

  /** Ends the half-open state without a trial request, since another breaker opens. */
  endHalfOpen(): void {
    this.#isHalfOpen = false;
  }
}

/** Whether a standby lasts as long as another one. Two dates differ by the rounding of the wall clock. */
function isAsLong({ until, end }: Standby, otherUntil: number, otherEnd: EndDate | undefined): boolean {
  const toleranceMs = end !== undefined && otherEnd !== undefined ? 1 : 0;
  return until >= otherUntil - toleranceMs;
}
