/**
 * Reads snapshots that come from outside.
 * @module
 */
import { MeshError } from "../../errors.ts";
import type { SavedWindow } from "../limits/window_counter.ts";
import type { MeshSnapshot, SavedApiKey, SavedBreaker, SavedFailures, SavedSpending, SavedUsage } from "./snapshot.ts";

/** A snapshot that comes from outside, as far as it can be read. */
interface ReadSnapshot {
  /** What can be read. */
  readonly snapshot: MeshSnapshot;
  /** Paths of the members that cannot, each with its entry left out. */
  readonly leftOut: readonly string[];
}

/** Reads the entries of one member; those that cannot be read are left out. */
type ReadEntries = <Entry>(list: unknown, at: string, wrongIn: FindWrong) => readonly Entry[];

/** Names the member of an entry that does not fit; undefined when all do. */
type FindWrong = (entry: Members) => string | undefined;

/** A JSON object. */
type Members = Readonly<Record<string, unknown>>;

/** What each member of an entry has to be. */
type Shape = Readonly<Record<string, (value: unknown, entry: Members) => boolean>>;

/**
 * Reads a snapshot that comes from outside. An entry that does not fit is left out alone.
 *
 * @param value What was parsed.
 * @throws {MeshError} `invalid_state` when it is no snapshot, or one of another version.
 */
export function readSnapshot(value: unknown): ReadSnapshot {
  const { version, saved_at, breakers, failures, keys = [], usage, spending } = membersOf(value);
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
    ...(usage === undefined ? {} : { usage: read<SavedUsage>(usage, "usage", wrongInUsage) }),
    ...(spending === undefined ? {} : { spending: readSpending(spending, read) }),
  };
  return { snapshot, leftOut };
}

/** A window of a budget that cannot be read is left out alone. */
function readSpending(spending: unknown, read: ReadEntries): readonly SavedSpending[] {
  const budgets = read<SavedSpending>(spending, "spending", ({ budget }) => isText(budget) ? undefined : "budget");
  const windows = (list: unknown, at: string) => read<SavedWindow>(list, at, wrongInWindow);
  return budgets.map(({ days, months, ...rest }) => {
    const at = `spending "${rest.budget}"`;
    return { ...rest, days: windows(days, `${at} days`), months: windows(months, `${at} months`) };
  });
}

/**
 * The warning about entries that were left out.
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
function entryReader(leftOut: string[]): ReadEntries {
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

function wrongInUsage({ window_end = 0, ...entry }: Members): string | undefined {
  return ["pool", "model", "provider"].find((name) => !isText(entry[name])) ??
    ["requests", "tokens", "nano_usd"].find((name) => !isAmount(entry[name])) ??
    (isAmount(window_end) ? undefined : "window_end");
}

function wrongInWindow({ start, ...entry }: Members): string | undefined {
  return Number.isSafeInteger(start) ? ["spent", "reserved"].find((name) => !isAmount(entry[name])) : "start";
}

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

function isAmount(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

function invalidState(): MeshError {
  return new MeshError("Cannot restore the saved state: it is damaged, or of another release", {
    code: "invalid_state",
  });
}
