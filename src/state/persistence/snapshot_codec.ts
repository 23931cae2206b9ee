/**
 * Parses and validates snapshots.
 * @module
 */
import { MeshError } from "../../errors.ts";
import type { SavedLimit } from "../limits/budget.ts";
import type { SavedWindow } from "../counters/window_counter.ts";
import type { MeshSnapshot, SavedApiKey, SavedBreaker, SavedFailures, SavedSpending, SavedUsage } from "./snapshot.ts";

/** Reads a list of entries, and skips invalid ones. */
type ReadEntries = <Entry>(list: unknown, at: string, wrongIn: FindWrong) => readonly Entry[];

/** Returns the name of the first invalid member of an entry; undefined when the entry is valid. */
type FindWrong = (entry: SnapshotMembers) => string | undefined;

/** A JSON object. */
type SnapshotMembers = Readonly<Record<string, unknown>>;

/** A predicate for each member of an entry. */
type Shape = Readonly<Record<string, (value: unknown, entry: SnapshotMembers) => boolean>>;

/**
 * Validates a parsed snapshot. Only the invalid entries are skipped.
 *
 * @param value Parsed JSON.
 * @returns The valid entries, and the paths of the invalid members, whose entries were skipped.
 * @throws {MeshError} `invalid_state` when it is not a snapshot, or has another version.
 */
export function readSnapshot(
  value: unknown,
): { readonly snapshot: MeshSnapshot; readonly leftOut: readonly string[] } {
  const { version, saved_at, breakers, failures, keys = [], usage, spending } = toMembers(value);
  if (version !== 1) throw invalidState();
  const leftOut: string[] = [];
  const read = entryReader(leftOut);
  if (!isNonNegative(saved_at)) leftOut.push("saved_at");
  const snapshot = {
    ...value as MeshSnapshot,
    saved_at: isNonNegative(saved_at) ? saved_at as number : 0,
    breakers: read<SavedBreaker>(breakers, "breakers", wrongIn(breakerShape)),
    failures: read<SavedFailures>(failures, "failures", wrongIn(failuresShape)),
    keys: read<SavedApiKey>(keys, "keys", wrongIn(keyShape)),
    ...(usage === undefined ? {} : { usage: read<SavedUsage>(usage, "usage", wrongInUsage) }),
    ...(spending === undefined ? {} : { spending: readSpending(spending, read) }),
  };
  return { snapshot, leftOut };
}

/** Reads spending. Only the invalid windows of a budget are skipped. */
function readSpending(spending: unknown, read: ReadEntries): readonly SavedSpending[] {
  const budgets = read<SavedSpending>(spending, "spending", ({ budget }) => isString(budget) ? undefined : "budget");
  const windows = (list: unknown, at: string) => read<SavedWindow>(list, at, wrongInWindow);
  return budgets.map(({ days, months, windows: spans, ...rest }) => {
    const at = `spending "${rest.budget}"`;
    return {
      ...rest,
      days: windows(days, `${at} days`),
      months: windows(months, `${at} months`),
      ...(spans !== undefined && {
        windows: read<SavedLimit>(spans, `${at} windows`, ({ window }) => isString(window) ? undefined : "window").map(
          ({ window, sums }) => ({ window, sums: windows(sums, `${at} ${window}`) }),
        ),
      }),
    };
  });
}

/**
 * Returns a warning about skipped entries.
 *
 * @param leftOut Paths of the invalid members.
 * @returns Undefined when there are none.
 */
export function describeLeftOut(leftOut: readonly string[]): string | undefined {
  if (leftOut.length === 0) return undefined;
  const more = leftOut.length > 5 ? ` and ${leftOut.length - 5} more` : "";
  return `The saved state has entries that this release cannot read, which are skipped: ${
    leftOut.slice(0, 5).join(", ")
  }${more}`;
}

/**
 * Returns a function that reads entries.
 *
 * @param leftOut Receives the paths of invalid members.
 */
function entryReader(leftOut: string[]): ReadEntries {
  return <Entry>(list: unknown, at: string, wrongIn: FindWrong) => {
    if (!Array.isArray(list)) leftOut.push(at);
    const entries: readonly unknown[] = Array.isArray(list) ? list : [];
    return entries.filter((entry, index): entry is Entry => {
      const wrong = wrongIn(toMembers(entry));
      if (wrong !== undefined) leftOut.push(`${at}[${index}].${wrong}`);
      return wrong === undefined;
    });
  };
}

const ownerShape: Shape = {
  provider: isString,
  model: (model) => model === undefined || isString(model),
  pool: (pool, { model }) => pool === undefined || isString(pool) && model !== undefined,
};

const breakerShape: Shape = {
  cause: (cause) => cause === undefined || isWord(cause),
  half_open: isTrueOrAbsent,
  consecutive_trips: (trips) => trips === undefined || isNonNegative(trips),
  standby: (standby) => {
    const { reason, since, until, is_date } = toMembers(standby);
    return standby === undefined ||
      isWord(reason) && isNonNegative(since) && (until === null || isNonNegative(until)) && isTrueOrAbsent(is_date);
  },
};

const failuresShape: Shape = {
  model: isString,
  pool: isString,
  failures: isNonNegative,
  last_status: (status) => status === undefined || isNonNegative(status),
};

const keyShape: Shape = {
  key: isString,
  reason: (reason) => reason === "rate_limited" || reason === "quota_exhausted" || reason === "auth",
  until: isNonNegative,
  is_date: isTrueOrAbsent,
  consecutive_trips: (trips) => trips === undefined || isNonNegative(trips),
};

function wrongInUsage({ window_end = 0, ...entry }: SnapshotMembers): string | undefined {
  return ["pool", "model", "provider"].find((name) => !isString(entry[name])) ??
    ["requests", "tokens", "nano_usd"].find((name) => !isAmount(entry[name])) ??
    (isAmount(window_end) ? undefined : "window_end");
}

function wrongInWindow({ start, ...entry }: SnapshotMembers): string | undefined {
  return Number.isSafeInteger(start) ? ["spent", "reserved"].find((name) => !isAmount(entry[name])) : "start";
}

function wrongIn(shape: Shape): FindWrong {
  const members = Object.entries({ ...ownerShape, ...shape });
  return (entry) => members.find(([name, fits]) => !fits(entry[name], entry))?.[0];
}

/** Returns the members of an object; an empty object for other values. */
function toMembers(value: unknown): SnapshotMembers {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as SnapshotMembers : {};
}

/** Whether a value is a non-negative safe integer. */
function isNonNegative(value: unknown): boolean {
  return Number.isSafeInteger(value) && value as number >= 0;
}

function isTrueOrAbsent(value: unknown): boolean {
  return value === undefined || value === true;
}

/** Whether a value can be a reason or a cause, including those of later releases. */
function isWord(value: unknown): boolean {
  return typeof value === "string" && /^[a-z_]{1,40}$/.test(value);
}

function isString(value: unknown): boolean {
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
