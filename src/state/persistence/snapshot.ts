/**
 * What has happened, as plain JSON: what outlives the process, and what it looks like when it is read again.
 * @module
 */
import type { StandbyReason } from "../../contracts/rotation.ts";
import { hash53 } from "../../util/hash.ts";
import {
  type BreakerFacts,
  type BreakerNames,
  type BreakerOwner,
  type CircuitBreaker,
  maxStandbyMs,
  recordKey,
} from "../breaker/circuit_breaker.ts";
import { type ApiKeyPool, type KeyRejectionReason, reasonOf } from "../limits/api_key_pool.ts";
import type { BudgetSnapshot } from "../limits/budget.ts";
import type { UsageCounts } from "../limits/quota.ts";

/** A breaker as saved. Times are wall clock, ms since 1970. */
export interface SavedBreaker extends BreakerNames {
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

/** What was used of the limits of a model in a pool, as saved. */
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
 * @returns Undefined when there is nothing to remember.
 */
export function writeBreaker(breaker: CircuitBreaker, now: TimePair): SavedBreaker | undefined {
  const { standby, isHalfOpen, consecutiveTrips } = breaker;
  if (standby === undefined && !isHalfOpen && consecutiveTrips === 0) return undefined;
  const wallOf = (monotonic: number) => Math.max(0, Math.round(now.wall + monotonic - now.monotonic));
  return {
    ...breaker.names,
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

/** The standbys of a provider's keys as saved. A key is identified by a hash that differs in every snapshot. */
export function writeApiKeys({ provider, keys }: ApiKeyPool, now: TimePair): SavedApiKey[] {
  return keys.flatMap(({ value, breakers }) =>
    breakers.flatMap(({ owner: { model }, standby, rejection, consecutiveTrips }) => {
      if (standby === undefined || standby.until <= now.monotonic) return [];
      return {
        provider,
        key: markOf(provider, value, now.wall),
        ...(model !== undefined && { model }),
        ...(consecutiveTrips > 0 && { consecutive_trips: consecutiveTrips }),
        reason: rejection!.call.kind,
        until: Math.round(now.wall + standby.until - now.monotonic),
      };
    })
  );
}

/**
 * Merges saved standbys into a provider's keys: of two ends of a standby the later one holds.
 *
 * @param saved Of this provider; when they were saved, wall clock, ms; the present.
 */
export function mergeApiKeys(
  pool: ApiKeyPool,
  { keys, savedAt, now }: { readonly keys: readonly SavedApiKey[]; readonly savedAt: number; readonly now: TimePair },
): void {
  for (const own of pool.keys) {
    const mark = markOf(pool.provider, own.value, savedAt);
    for (const { key, model, reason: kind, until, consecutive_trips = 0 } of keys) {
      const standbyMs = Math.min(until - Math.max(now.wall, savedAt), maxStandbyMs);
      if (key !== mark || standbyMs <= 0) continue;
      const breaker = own.breakerFor(model);
      const at = now.monotonic;
      const { standby, rejection } = breaker;
      const isLater = at + standbyMs > (standby?.until ?? 0);
      breaker.restore({
        standby: isLater ? { reason: reasonOf[kind], since: at, until: at + standbyMs } : standby!,
        isHalfOpen: false,
        consecutiveTrips: Math.max(breaker.consecutiveTrips, consecutive_trips),
      });
      const call = { kind, message: "The key was refused before the last start", retryAfterMs: standbyMs };
      breaker.rejection = isLater ? { call, at } : rejection;
    }
  }
}

/** Distinguishes a key from others of the list without showing it: 32 bits, which many keys share. */
function markOf(provider: string, value: string, wall: number): string {
  const bits = hash53(`${wall} ${provider} ${value}`) >>> 0;
  return bits.toString(16).padStart(8, "0");
}

/** Saved entries by their names. */
export function byKey<Saved extends BreakerNames>(
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
