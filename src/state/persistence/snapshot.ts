/**
 * The snapshot: persisted state as plain JSON, and its conversion.
 * @module
 */
import type { StandbyReason } from "../../contracts/rotation.ts";
import type { Clock } from "../../contracts/runtime.ts";
import { hash53 } from "../../util/hash.ts";
import {
  type BreakerFacts,
  type BreakerNames,
  type BreakerOwner,
  type CircuitBreaker,
  DatedStandby,
  maxStandbyMs,
  recordKey,
  type Standby,
} from "../breaker/circuit_breaker.ts";
import { EndDate } from "../breaker/end_date.ts";
import { type ApiKeyPool, type KeyRejectionReason, standbyReasons } from "../limits/api_key_pool.ts";
import type { BudgetSnapshot } from "../limits/budget.ts";
import type { UsageCounts } from "../limits/quota.ts";

/** A saved breaker. Times are wall-clock, ms since 1970. */
export interface SavedBreaker extends BreakerNames {
  /** The standby; absent unless the breaker is open. */
  readonly standby?: {
    /** Reason. */
    readonly reason: StandbyReason;
    /** Start. */
    readonly since: number;
    /** End; null if it does not end by itself. */
    readonly until: number | null;
    /** Whether the end is a date. */
    readonly is_date?: true;
  };
  /** Whether it is half-open. */
  readonly half_open?: true;
  /** Number of trips since the last success; absent if 0. */
  readonly consecutive_trips?: number;
}

/** A saved failure streak of a model in a pool. */
export interface SavedFailures extends Required<BreakerOwner> {
  /** Number of consecutive failed requests. */
  readonly failures: number;
  /** HTTP status of the last failure, if a response was received. */
  readonly last_status?: number;
}

/** A saved standby of one API key, of a provider with several. */
export interface SavedApiKey {
  /** The provider's id in the configuration. */
  readonly provider: string;
  /** Identifies the key within the provider's list, without revealing it. Differs in every snapshot. */
  readonly key: string;
  /** The provider's id of the model it is in standby for; absent if for all models. */
  readonly model?: string;
  /** Reason. */
  readonly reason: KeyRejectionReason;
  /** End, wall-clock ms since 1970. */
  readonly until: number;
  /** Whether the end is a date. */
  readonly is_date?: true;
  /** Number of consecutive rejections; absent if 0. */
  readonly consecutive_trips?: number;
}

/** Saved usage of a model in a pool, for its limits. */
export interface SavedUsage extends UsageCounts, Required<BreakerOwner> {}

/** Saved spending of a budget. */
export interface SavedSpending extends BudgetSnapshot {
  /** The budget: `provider <id>`, `pool <name>`, `client <name>`, `all`. */
  readonly budget: string;
}

/** The persisted state of a mesh. Readers ignore unknown members. A change of meaning requires a new version. */
export interface MeshSnapshot {
  /** Version of the format. */
  readonly version: 1;
  /** Creation time, wall-clock ms since 1970. */
  readonly saved_at: number;
  /** Breakers that are open, half-open or have consecutive trips. */
  readonly breakers: readonly SavedBreaker[];
  /** Models whose latest requests failed. */
  readonly failures: readonly SavedFailures[];
  /** API keys in standby; absent if there are none. */
  readonly keys?: readonly SavedApiKey[];
  /** Usage for limits; absent where only breakers are saved. */
  readonly usage?: readonly SavedUsage[];
  /** Spending of budgets; absent where only breakers are saved. */
  readonly spending?: readonly SavedSpending[];
}

/** The current time on both clocks, ms. */
export interface TimePair {
  /** Wall clock, for persisted times. */
  readonly wallTimeMs: number;
  /** Monotonic clock, for timers. */
  readonly monotonicMs: number;
  /** Both clocks, for ends that are dates. */
  readonly clock?: Pick<Clock, "now" | "monotonic">;
}

/**
 * Converts a breaker to its saved form.
 *
 * @returns Undefined when the breaker is in its initial state.
 */
export function writeBreaker(breaker: CircuitBreaker, now: TimePair): SavedBreaker | undefined {
  const { standby, isHalfOpen, consecutiveTrips } = breaker;
  if (standby === undefined && !isHalfOpen && consecutiveTrips === 0) return undefined;
  const toWallTime = (monotonicMs: number) => Math.max(0, Math.round(now.wallTimeMs + monotonicMs - now.monotonicMs));
  return {
    ...breaker.names,
    ...(standby === undefined ? {} : {
      standby: {
        reason: standby.reason,
        since: toWallTime(standby.since),
        until: standby.until === Infinity ? null : standby.end?.at ?? toWallTime(standby.until),
        ...(standby.end === undefined ? {} : { is_date: true }),
      },
    }),
    ...(isHalfOpen ? { half_open: true } : {}),
    ...(consecutiveTrips === 0 ? {} : { consecutive_trips: consecutiveTrips }),
  };
}

/**
 * Reads a saved breaker. If the wall clock has gone backwards, the standby does not become longer, unless its end is a
 * date.
 *
 * @param savedAt When it was saved, wall-clock ms.
 */
export function readBreaker(
  { standby, half_open, consecutive_trips = 0 }: SavedBreaker,
  savedAt: number,
  now: TimePair,
): BreakerFacts {
  return {
    isHalfOpen: half_open === true,
    consecutiveTrips: consecutive_trips,
    ...(standby === undefined ? {} : {
      standby: standbyUntil(standby.until ?? Infinity, {
        reason: standby.reason,
        since: now.monotonicMs + Math.min(0, standby.since - now.wallTimeMs),
        isDate: standby.is_date,
        savedAt,
        now,
      }),
    }),
  };
}

/**
 * Creates a standby that was saved.
 *
 * @param until Its end, wall-clock ms of the process that saved it, now being `now.wallTimeMs` there.
 */
function standbyUntil(until: number, { reason, since, isDate, savedAt, now }: {
  readonly reason: StandbyReason;
  /** Monotonic ms. */
  readonly since: number;
  readonly isDate?: true | undefined;
  readonly savedAt: number;
  readonly now: TimePair;
}): Standby {
  const { wallTimeMs, monotonicMs, clock } = now;
  if (isDate && clock !== undefined && until < Infinity) {
    const leftMs = Math.min(until - wallTimeMs, maxStandbyMs);
    return new DatedStandby(reason, since, new EndDate(clock.now() + leftMs, clock));
  }
  const leftMs = until - Math.max(wallTimeMs, savedAt);
  return { reason, since, until: monotonicMs + (until < Infinity ? Math.min(leftMs, maxStandbyMs) : Infinity) };
}

/** Converts the standbys of a provider's API keys. A key is identified by a hash that differs in every snapshot. */
export function writeApiKeys({ provider, keys }: ApiKeyPool, now: TimePair): SavedApiKey[] {
  return keys.flatMap(({ value, breakers }) =>
    breakers.flatMap(({ owner: { model }, standby, rejection, consecutiveTrips }) => {
      if (standby === undefined || standby.until <= now.monotonicMs) return [];
      return {
        provider,
        key: hashKey(provider, value, now.wallTimeMs),
        ...(model !== undefined && { model }),
        ...(consecutiveTrips > 0 && { consecutive_trips: consecutiveTrips }),
        reason: rejection!.call.kind,
        until: standby.end?.at ?? Math.round(now.wallTimeMs + standby.until - now.monotonicMs),
        ...(standby.end === undefined ? {} : { is_date: true as const }),
      };
    })
  );
}

/**
 * Merges saved standbys into a provider's API keys. Of two ends of a standby, the later one is kept.
 *
 * @param pool The API keys.
 * @param saved The provider's saved keys, when they were saved (wall-clock ms), and the current time.
 */
export function mergeApiKeys(
  pool: ApiKeyPool,
  { keys, savedAt, now }: { readonly keys: readonly SavedApiKey[]; readonly savedAt: number; readonly now: TimePair },
): void {
  for (const own of pool.keys) {
    const mark = hashKey(pool.provider, own.value, savedAt);
    for (const { key, model, reason: kind, until, is_date: isDate, consecutive_trips = 0 } of keys) {
      const at = now.monotonicMs;
      const saved = standbyUntil(until, { reason: standbyReasons[kind], since: at, isDate, savedAt, now });
      if (key !== mark || saved.until <= at) continue;
      const breaker = own.breakerFor(model);
      const { standby, rejection } = breaker;
      const isLater = saved.until > (standby?.until ?? 0);
      breaker.restore({
        standby: isLater ? saved : standby!,
        isHalfOpen: false,
        consecutiveTrips: Math.max(breaker.consecutiveTrips, consecutive_trips),
      });
      const call = { kind, message: "The API key was rejected before the restart", retryAfterMs: saved.until - at };
      breaker.rejection = isLater ? { call, at } : rejection;
    }
  }
}

/** Returns a hash that distinguishes keys in a list without revealing them: 32 bits, which many keys share. */
function hashKey(provider: string, value: string, wallTimeMs: number): string {
  const bits = hash53(`${wallTimeMs} ${provider} ${value}`) >>> 0;
  return bits.toString(16).padStart(8, "0");
}

/** Indexes saved entries by name. */
export function byKey<Saved extends BreakerNames>(
  list: readonly Saved[] = [],
): ReadonlyMap<string, Saved> {
  return new Map(list.map((saved) => [recordKey(saved), saved]));
}

/** Indexes saved spending by budget. */
export function byBudget(snapshot: Pick<MeshSnapshot, "spending"> | undefined): ReadonlyMap<string, SavedSpending> {
  return new Map(snapshot?.spending?.map((saved) => [saved.budget, saved]));
}

/** Returns the end of a saved standby, wall-clock ms; -Infinity without one. */
export function getStandbyEnd(saved: SavedBreaker | undefined): number {
  const until = saved?.standby?.until;
  return until === null ? Infinity : until ?? -Infinity;
}
