/**
 * What has happened, as plain JSON: what outlives the process, and what it looks like when it is read again.
 * @module
 */
import type { StandbyReason } from "../contracts/rotation.ts";
import { MeshError } from "../errors.ts";
import type { HoldCause } from "./holds.ts";
import type { KeyFault } from "./key_ring.ts";
import { longestRestMs, type Rest, type RestFacts, type RestOwner } from "./rest.ts";

/** A rest, as it is written down. Times are wall clock, ms since 1970. */
export interface SavedRest extends RestOwner {
  /** Whose hold it is; left out of the rest for everything else. */
  readonly cause?: HoldCause;
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
  readonly on_trial?: true;
  /** Failed trials since the last success; 0 is left out. */
  readonly relapses?: number;
}

/** A model's row of failures in a pool, as it is written down. */
export interface SavedFailures extends Required<RestOwner> {
  /** How many requests in a row it failed to serve. */
  readonly failures: number;
  /** HTTP status of the last of them, where one came. */
  readonly last_status?: number;
}

/** Why a key of several rests, as it is written down. */
export interface SavedKey {
  /** Whose key it is: an entry's id. */
  readonly provider: string;
  /** What tells it from the others of the list; nothing of the key itself, and another one in every snapshot. */
  readonly key: string;
  /** The id of the model it rests for; left out when that is every model. */
  readonly model?: string;
  /** Why. */
  readonly reason: KeyFault;
  /** Until when: wall clock, ms since 1970. */
  readonly until: number;
  /** How often in a row it was refused; 0 is left out. */
  readonly relapses?: number;
}

/** All that a mesh remembers. Readers ignore members that they do not know; what changes a meaning is a new version. */
export interface MeshSnapshot {
  /** The version of this layout. */
  readonly version: 1;
  /** When it was made: wall clock, ms since 1970. */
  readonly saved_at: number;
  /** Everything that rests, is on trial or has relapsed. */
  readonly rests: readonly SavedRest[];
  /** Models that failed to serve their last requests. */
  readonly failures: readonly SavedFailures[];
  /** Keys that rest while others of their provider serve; left out when there are none. */
  readonly keys?: readonly SavedKey[];
}

/** A rest, as far as it is told from others. */
export type RestNames = Pick<SavedRest, keyof RestOwner | "cause">;

/**
 * Whose state it is, as a key.
 *
 * @param names A pool's, a model's or a provider's; a hold has a cause.
 */
export function keyOf({ pool, model, provider, cause }: RestNames): string {
  return JSON.stringify([pool, model, provider, cause]);
}

/**
 * What tells a rest from others.
 *
 * @param rest A rest; a hold has a cause.
 */
export function namesOf({ owner, cause }: Rest & Pick<RestNames, "cause">): RestNames {
  return cause === undefined ? owner : { ...owner, cause };
}

/** One moment on both clocks, ms. */
export interface Moment {
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
export function writeRest(rest: Rest, now: Moment): SavedRest | undefined {
  const { standby, onTrial, relapses } = rest;
  if (standby === undefined && !onTrial && relapses === 0) return undefined;
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
    ...(onTrial ? { on_trial: true } : {}),
    ...(relapses === 0 ? {} : { relapses }),
  };
}

/**
 * Reads a rest. A wall clock that went back meanwhile makes none longer than it was.
 *
 * @param saved What was written down.
 * @param savedAt When: wall clock, ms.
 * @param now The present.
 */
export function readRest({ standby, on_trial, relapses = 0 }: SavedRest, savedAt: number, now: Moment): RestFacts {
  const timeTo = (wall: number) => wall - Math.max(now.wall, savedAt);
  return {
    onTrial: on_trial === true,
    relapses,
    ...(standby === undefined ? {} : {
      standby: {
        reason: standby.reason,
        since: now.monotonic + Math.min(0, standby.since - now.wall),
        until: now.monotonic + (standby.until === null ? Infinity : Math.min(timeTo(standby.until), longestRestMs)),
      },
    }),
  };
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Checks a snapshot that comes from outside, whole.
 *
 * @param value What was read.
 * @throws {MeshError} `invalid_state`, naming the member that does not fit.
 */
export function checkSnapshot(value: unknown): MeshSnapshot {
  const { version, saved_at, rests, failures, keys = [] } = membersOf(value, "it");
  demand(version === 1, "version");
  demand(isCount(saved_at), "saved_at");
  checkEach(rests, "rests", checkRest);
  checkEach(failures, "failures", checkFailures);
  checkEach(keys, "keys", checkKey);
  return value as MeshSnapshot;
}

function checkEach(list: unknown, at: string, check: (entry: Members, at: string) => void): void {
  demand(Array.isArray(list), at);
  for (const [index, entry] of list.entries()) {
    const where = `${at}[${index}]`;
    const members = membersOf(entry, where);
    const { pool, model, provider } = members;
    demand(typeof provider === "string", `${where}.provider`);
    demand(isName(model), `${where}.model`);
    demand(isName(pool) && (pool === undefined || model !== undefined), `${where}.pool`);
    check(members, where);
  }
}

function checkRest({ cause, standby, on_trial, relapses }: Members, at: string): void {
  demand(cause === undefined || isWord(cause), `${at}.cause`);
  demand(on_trial === undefined || on_trial === true, `${at}.on_trial`);
  demand(relapses === undefined || isCount(relapses), `${at}.relapses`);
  if (standby === undefined) return;
  const { reason, since, until } = membersOf(standby, `${at}.standby`);
  demand(isWord(reason), `${at}.standby.reason`);
  demand(isCount(since), `${at}.standby.since`);
  demand(until === null || isCount(until), `${at}.standby.until`);
}

function checkFailures({ pool, failures, last_status }: Members, at: string): void {
  demand(pool !== undefined, `${at}.pool`);
  demand(isCount(failures), `${at}.failures`);
  demand(last_status === undefined || isCount(last_status), `${at}.last_status`);
}

function checkKey({ key, reason, until, relapses }: Members, at: string): void {
  demand(typeof key === "string", `${at}.key`);
  demand(reason === "rate_limited" || reason === "quota_exhausted" || reason === "auth", `${at}.reason`);
  demand(isCount(until), `${at}.until`);
  demand(relapses === undefined || isCount(relapses), `${at}.relapses`);
}

function membersOf(value: unknown, at: string): Members {
  demand(typeof value === "object" && value !== null && !Array.isArray(value), at);
  return value as Members;
}

/** Whole, not negative, and exact. */
function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && value as number >= 0;
}

/** A reason or a cause, if only of a later release. */
function isWord(value: unknown): boolean {
  return typeof value === "string" && /^[a-z_]{1,40}$/.test(value);
}

/** A name, or none. */
function isName(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function demand(holds: boolean, at: string): asserts holds {
  if (holds) return;
  throw new MeshError(
    `Cannot take up the saved state: ${at} is not what this release writes. It is damaged, or of another release`,
    { code: "invalid_state" },
  );
}
