/**
 * What has happened, as plain JSON: what outlives the process, and what it looks like when it is read again.
 * @module
 */
import type { StandbyReason } from "../../contracts/rotation.ts";
import { MeshError } from "../../errors.ts";
import type { OverrideCause } from "../breaker/manual_override.ts";
import type { KeyRejectionReason } from "../limits/api_key_pool.ts";
import { type BreakerFacts, type BreakerOwner, type CircuitBreaker, maxStandbyMs } from "../breaker/circuit_breaker.ts";

/** A rest, as it is written down. Times are wall clock, ms since 1970. */
export interface SavedBreaker extends BreakerOwner {
  /** Whose hold it is; left out of the rest for everything else. */
  readonly cause?: OverrideCause;
  /** The rest under way; left out when it is active. */
  readonly standby?: {
    /** Why it rests. */
    readonly reason: StandbyReason;
    /** Since when. */
    readonly since: number;
    /** Until when; null: until somebody ends it. */
    readonly until: number | null;
  };
  /** Back from a rest and not yet proven. */
  readonly half_open?: true;
  /** Failed trials since the last success; 0 is left out. */
  readonly consecutive_trips?: number;
}

/** A model's row of failures in a pool, as it is written down. */
export interface SavedFailures extends Required<BreakerOwner> {
  /** How many requests in a row it failed to serve. */
  readonly failures: number;
  /** HTTP status of the last of them, where one came. */
  readonly last_status?: number;
}

/** Why a key of several rests, as it is written down. */
export interface SavedApiKey {
  /** Whose key it is: an entry's id. */
  readonly provider: string;
  /** What tells it from the others of the list; nothing of the key itself, and another one in every snapshot. */
  readonly key: string;
  /** The id of the model it rests for; left out when that is every model. */
  readonly model?: string;
  /** Why. */
  readonly reason: KeyRejectionReason;
  /** Until when: wall clock, ms since 1970. */
  readonly until: number;
  /** How often in a row it was refused; 0 is left out. */
  readonly consecutive_trips?: number;
}

/** All that a mesh remembers. Readers ignore members that they do not know; what changes a meaning is a new version. */
export interface MeshSnapshot {
  /** The version of this layout. */
  readonly version: 1;
  /** When it was made: wall clock, ms since 1970. */
  readonly saved_at: number;
  /** Everything that rests, is on trial or has relapsed. */
  readonly breakers: readonly SavedBreaker[];
  /** Models that failed to serve their last requests. */
  readonly failures: readonly SavedFailures[];
  /** Keys that rest while others of their provider serve; left out when there are none. */
  readonly keys?: readonly SavedApiKey[];
}

/** A rest, as far as it is told from others. */
export type BreakerNames = Pick<SavedBreaker, keyof BreakerOwner | "cause">;

/**
 * Whose state it is, as a key.
 *
 * @param names A pool's, a model's or a provider's; a hold has a cause.
 */
export function recordKey({ pool, model, provider, cause }: BreakerNames): string {
  return JSON.stringify([pool, model, provider, cause]);
}

/**
 * What tells a rest from others.
 *
 * @param rest A rest; a hold has a cause.
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
 * Writes a rest down.
 *
 * @param rest The rest.
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
 * Reads a rest. A wall clock that went back meanwhile makes none longer than it was.
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

/** A snapshot that comes from outside, as far as it can be read. */
export interface ReadSnapshot<Snapshot extends MeshSnapshot = MeshSnapshot> {
  /** What can be read. */
  readonly snapshot: Snapshot;
  /** Paths of the members that cannot, each with its entry left out. */
  readonly leftOut: readonly string[];
}

/** Reads the entries of one member; those that cannot be read are left out. */
export type ReadEntries = <Entry>(list: unknown, at: string, wrongIn: FindWrong) => readonly Entry[];

/** Names the member of an entry that does not fit; undefined when all do. */
export type FindWrong = (entry: Members) => string | undefined;

/** A JSON object. */
export type Members = Readonly<Record<string, unknown>>;

/** What each member of an entry has to be. */
type Shape = Readonly<Record<string, (value: unknown, entry: Members) => boolean>>;

/**
 * Reads a snapshot that comes from outside. An entry that does not fit is left out alone.
 *
 * @param value What was parsed.
 * @throws {MeshError} `invalid_state` when it is no snapshot, or one of another version.
 */
export function readSnapshot(value: unknown): ReadSnapshot {
  const { version, saved_at, breakers, failures, keys = [] } = membersOf(value);
  if (version !== 1) throw invalidState();
  const leftOut: string[] = [];
  const read = entryReader(leftOut);
  if (!isCount(saved_at)) leftOut.push("saved_at");
  const snapshot = {
    ...value as MeshSnapshot,
    saved_at: isCount(saved_at) ? saved_at as number : 0,
    breakers: read<SavedBreaker>(breakers, "breakers", wrongIn(breakerShape)),
    failures: read<SavedFailures>(failures, "failures", wrongIn(failuresShape)),
    keys: read<SavedApiKey>(keys, "keys", wrongIn(keyShape)),
  };
  return { snapshot, leftOut };
}

/**
 * Says what was left out.
 *
 * @param leftOut Paths.
 * @returns Undefined when nothing was.
 */
export function leftOutOf(leftOut: readonly string[]): string | undefined {
  if (leftOut.length === 0) return undefined;
  const more = leftOut.length > 5 ? ` and ${leftOut.length - 5} more` : "";
  return `The saved state has entries that this release does not write, and leaves out: ${
    leftOut.slice(0, 5).join(", ")
  }${more}`;
}

/**
 * Reads entries.
 *
 * @param leftOut Takes the paths of what does not fit.
 */
export function entryReader(leftOut: string[]): ReadEntries {
  return <Entry>(list: unknown, at: string, wrongIn: FindWrong) => {
    if (!Array.isArray(list)) leftOut.push(at);
    const entries: readonly unknown[] = Array.isArray(list) ? list : [];
    return entries.filter((entry, index): entry is Entry => {
      const wrong = wrongIn(membersOf(entry));
      if (wrong !== undefined) leftOut.push(`${at}[${index}].${wrong}`);
      return wrong === undefined;
    });
  };
}

const ownerShape: Shape = {
  provider: isText,
  model: (model) => model === undefined || isText(model),
  pool: (pool, { model }) => pool === undefined || isText(pool) && model !== undefined,
};

const breakerShape: Shape = {
  cause: (cause) => cause === undefined || isWord(cause),
  half_open: (isHalfOpen) => isHalfOpen === undefined || isHalfOpen === true,
  consecutive_trips: (trips) => trips === undefined || isCount(trips),
  standby: (standby) => {
    const { reason, since, until } = membersOf(standby);
    return standby === undefined || isWord(reason) && isCount(since) && (until === null || isCount(until));
  },
};

const failuresShape: Shape = {
  model: isText,
  pool: isText,
  failures: isCount,
  last_status: (status) => status === undefined || isCount(status),
};

const keyShape: Shape = {
  key: isText,
  reason: (reason) => reason === "rate_limited" || reason === "quota_exhausted" || reason === "auth",
  until: isCount,
  consecutive_trips: (trips) => trips === undefined || isCount(trips),
};

function wrongIn(shape: Shape): FindWrong {
  const members = Object.entries({ ...ownerShape, ...shape });
  return (entry) => members.find(([name, fits]) => !fits(entry[name], entry))?.[0];
}

/** The members of an object; none of anything else. */
function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Members : {};
}

/** Whole, not negative, and exact. */
function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && value as number >= 0;
}

/** A reason or a cause, if only of a later release. */
function isWord(value: unknown): boolean {
  return typeof value === "string" && /^[a-z_]{1,40}$/.test(value);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function invalidState(): MeshError {
  return new MeshError("Cannot take up the saved state: it is damaged, or of another release", {
    code: "invalid_state",
  });
}
