/**
 * What has happened, as plain JSON: what outlives the process, and what it looks like when it is read again.
 * @module
 */
import type { StandbyReason } from "../../contracts/rotation.ts";
import type { OverrideCause } from "../breaker/manual_override.ts";
import type { BudgetSnapshot } from "../limits/budget.ts";
import type { KeyRejectionReason } from "../limits/api_key_pool.ts";
import { type BreakerFacts, type BreakerOwner, type CircuitBreaker, maxStandbyMs } from "../breaker/circuit_breaker.ts";

/** A breaker as saved. Times are wall clock, ms since 1970. */
export interface SavedBreaker extends BreakerOwner {
  /** The cause of a manual override; left out for other breakers. */
  readonly cause?: OverrideCause;
  /** The standby; left out when it is closed. */
  readonly standby?: {
    /** Why. */
    readonly reason: StandbyReason;
    /** Since when. */
    readonly since: number;
    /** Until when; null: until it is ended by hand. */
    readonly until: number | null;
  };
  /** Half-open. */
  readonly half_open?: true;
  /** Failed trials since the last success; 0 is left out. */
  readonly consecutive_trips?: number;
}

/** A model's failure streak in a pool, as saved. */
export interface SavedFailures extends Required<BreakerOwner> {
  /** Consecutive failed requests. */
  readonly failures: number;
  /** HTTP status of the last of them, where one came. */
  readonly last_status?: number;
}

/** The standby of one of several keys, as saved. */
export interface SavedApiKey {
  /** Whose key it is: an entry's id. */
  readonly provider: string;
  /** What identifies it in the list; nothing of the key itself, and another one in every snapshot. */
  readonly key: string;
  /** The id of the model it is in standby for; left out when that is every model. */
  readonly model?: string;
  /** Why. */
  readonly reason: KeyRejectionReason;
  /** Until when: wall clock, ms since 1970. */
  readonly until: number;
  /** Consecutive rejections; 0 is left out. */
  readonly consecutive_trips?: number;
}

/** What was used of the limits of a model in a pool. */
export interface UsageCounts {
  /** Requests. */
  readonly requests: number;
  /** Tokens. */
  readonly tokens: number;
  /** Nano-dollars. */
  readonly nano: number;
  /** When the window ends they were counted in: wall clock, ms; left out when they count between two standbys. */
  readonly window_end?: number;
}

/** The same, as saved. */
export interface SavedUsage extends UsageCounts, Required<BreakerOwner> {}

/** What was spent of a budget, as saved. */
export interface SavedSpending extends BudgetSnapshot {
  /** Whose: `provider <id>`, `pool <name>`, `all`. */
  readonly budget: string;
}

/** All that a mesh remembers. Readers ignore members that they do not know; what changes a meaning is a new version. */
export interface MeshSnapshot {
  /** The version of this layout. */
  readonly version: 1;
  /** When it was made: wall clock, ms since 1970. */
  readonly saved_at: number;
  /** Breakers that are open, half-open or have tripped. */
  readonly breakers: readonly SavedBreaker[];
  /** Models that failed to serve their last requests. */
  readonly failures: readonly SavedFailures[];
  /** Keys in standby while others of their provider serve; left out when there are none. */
  readonly keys?: readonly SavedApiKey[];
  /** Limits in use; left out where only states are saved. */
  readonly usage?: readonly SavedUsage[];
  /** Budgets in use; likewise. */
  readonly spending?: readonly SavedSpending[];
}

/** The name of a breaker. */
export type BreakerNames = Pick<SavedBreaker, keyof BreakerOwner | "cause">;

/**
 * Whose state it is, as a key.
 *
 * @param names A pool's, a model's or a provider's; an override has a cause.
 */
export function recordKey({ pool, model, provider, cause }: BreakerNames): string {
  return JSON.stringify([pool, model, provider, cause]);
}

/**
 * The name of a breaker.
 *
 * @param breaker A breaker; an override has a cause.
 */
export function namesOf({ owner, cause }: CircuitBreaker & Pick<BreakerNames, "cause">): BreakerNames {
  return cause === undefined ? owner : { ...owner, cause };
}

/** One moment on both clocks, ms. */
export interface TimePair {
  /** Wall clock: for what is written down. */
  readonly wall: number;
  /** Monotonic clock: for what is waited for. */
  readonly monotonic: number;
}

/**
 * A breaker as saved.
 *
 * @param breaker The breaker.
 * @param now The present.
 * @returns Undefined when there is nothing to remember.
 */
export function writeBreaker(rest: CircuitBreaker, now: TimePair): SavedBreaker | undefined {
  const { standby, isHalfOpen, consecutiveTrips } = rest;
  if (standby === undefined && !isHalfOpen && consecutiveTrips === 0) return undefined;
  const wallOf = (monotonic: number) => Math.max(0, Math.round(now.wall + monotonic - now.monotonic));
  return {
    ...namesOf(rest),
    ...(standby === undefined ? {} : {
      standby: {
        reason: standby.reason,
        since: wallOf(standby.since),
        until: standby.until === Infinity ? null : wallOf(standby.until),
      },
    }),
    ...(isHalfOpen ? { half_open: true } : {}),
    ...(consecutiveTrips === 0 ? {} : { consecutive_trips: consecutiveTrips }),
  };
}

/**
 * Reads a breaker. A wall clock that went back meanwhile makes no standby longer than it was.
 *
 * @param saved What was written down.
 * @param savedAt When: wall clock, ms.
 * @param now The present.
 */
export function readBreaker(
  { standby, half_open, consecutive_trips = 0 }: SavedBreaker,
  savedAt: number,
  now: TimePair,
): BreakerFacts {
  const timeTo = (wall: number) => wall - Math.max(now.wall, savedAt);
  return {
    isHalfOpen: half_open === true,
    consecutiveTrips: consecutive_trips,
    ...(standby === undefined ? {} : {
      standby: {
        reason: standby.reason,
        since: now.monotonic + Math.min(0, standby.since - now.wall),
        until: now.monotonic + (standby.until === null ? Infinity : Math.min(timeTo(standby.until), maxStandbyMs)),
      },
    }),
  };
}

/** Saved entries by their names. */
export function byKey<Saved extends Parameters<typeof recordKey>[0]>(
  list: readonly Saved[] = [],
): ReadonlyMap<string, Saved> {
  return new Map(list.map((saved) => [recordKey(saved), saved]));
}

/** Saved spending by budget. */
export function byBudget(snapshot: Pick<MeshSnapshot, "spending"> | undefined): ReadonlyMap<string, SavedSpending> {
  return new Map(snapshot?.spending?.map((saved) => [saved.budget, saved]));
}

/** End of a saved standby: wall clock, ms; -Infinity when there is none. */
export function endOf(saved: SavedBreaker | undefined): number {
  const until = saved?.standby?.until;
  return until === null ? Infinity : until ?? -Infinity;
}
