/**
 * One reason-to-rest holder and its two states, active and standby. There is one for a model in a pool, one for a
 * model wherever it is used, and one for a provider, and holds beside them; a model may be asked when none of its rests
 * is under way.
 * @module
 */
import type { StandbyReason } from "../../contracts/rotation.ts";

/** Longest rest a provider can ask for, ms. */
export const maxHintMs: number = 24 * 60 * 60 * 1000;

/** The cooldown never grows beyond this unless it was configured longer, ms. */
export const maxCooldownMs: number = 10 * 60 * 1000;

/** No rest that ends by itself lasts longer, whatever a provider says of its quota: a month, ms. */
export const maxStandbyMs: number = 31 * 24 * 60 * 60 * 1000;

/** Whose rest it is; a pool's, a model's or a provider's. */
export interface BreakerOwner {
  /** The pool; undefined when it holds in all of them. */
  readonly pool?: string;
  /** The model; undefined for a whole provider. */
  readonly model?: string;
  /** The provider's entry id. */
  readonly provider: string;
}

/** A change of state, on its way to becoming an event. */
export interface Transition {
  /** Whose state changed. */
  readonly owner: BreakerOwner;
  /** The new state. */
  readonly to: "active" | "standby";
  /** Why. */
  readonly reason: StandbyReason;
  /** How long the rest will last, ms; undefined: until somebody ends it. */
  readonly standbyMs?: number;
  /** What else is to be told. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Why and until when something rests. Monotonic ms. */
export interface Standby {
  readonly reason: StandbyReason;
  readonly since: number;
  readonly until: number;
}

/** All that a rest remembers. */
export interface BreakerFacts {
  /** Why it rests; undefined when it is active. */
  readonly standby?: Standby;
  /** Back from a rest and not yet proven. */
  readonly isHalfOpen: boolean;
  /** Failed trials since the last success. */
  readonly consecutiveTrips: number;
}

/** More of them would not make a rest longer. */
const maxConsecutiveTrips = 32;

/** Active or in standby; back from a rest it is on trial until a request succeeds. */
export class CircuitBreaker {
  /** Whose it is. */
  readonly owner: BreakerOwner;
  #standby: Standby | undefined;
  #isHalfOpen = false;
  #consecutiveTrips = 0;
  #openCount = 0;
  /** Requests begun on the present trial and not yet over. */
  trialRequests: Set<object> = new Set();

  /** @param owner Whose it is. */
  constructor(owner: BreakerOwner) {
    this.owner = owner;
  }

  /** Why it rests; undefined when it is active. */
  get standby(): Standby | undefined {
    return this.#standby;
  }

  /** Back from a rest and not yet proven. */
  get isHalfOpen(): boolean {
    return this.#isHalfOpen;
  }

  /** How often it has begun. */
  get openCount(): number {
    return this.#openCount;
  }

  /** Failed trials since the last success: each one doubles the next cooldown. */
  get consecutiveTrips(): number {
    return this.#consecutiveTrips;
  }

  /** Becomes what it was once; trials under way are none of its any more. */
  restore({ standby, isHalfOpen, consecutiveTrips }: BreakerFacts): void {
    if (standby !== undefined && this.#standby === undefined) this.#openCount++;
    this.#standby = standby;
    this.#isHalfOpen = isHalfOpen && standby === undefined;
    this.#consecutiveTrips = Math.min(consecutiveTrips, maxConsecutiveTrips);
    this.trialRequests = new Set();
  }

  /**
   * Sets it aside. A later end extends a rest that is under way, an earlier one never shortens it.
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

  /** Sets it aside for the cooldown, doubled for every failed trial since the last success. */
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

  /** Takes it back on trial when its rest is over. */
  halfOpenIfDue(now: number): Transition | undefined {
    return (this.#standby?.until ?? Infinity) > now ? undefined : this.close(undefined, true);
  }

  /**
   * Ends a rest before its time.
   *
   * @param reason Why it ends, for the event; why it began unless said.
   * @param isHalfOpen Whether it has yet to prove itself.
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

  /** A request succeeded: the trial is passed. A late success of a request begun before the rest changes nothing. */
  recordSuccess(): void {
    if (this.#standby !== undefined) return;
    this.#isHalfOpen = false;
    this.#consecutiveTrips = 0;
  }

  /** Ends the trial without a verdict: something else is known to be wrong. */
  endHalfOpen(): void {
    this.#isHalfOpen = false;
  }
}
