/**
 * Calendar windows in time zones. Imported when a budget has one.
 * @module
 */
import { getOrCreate } from "./once.ts";
import { dayMs, type Window } from "./windows.ts";

/** A calendar unit. Weeks begin on Monday (ISO 8601). */
export type CalendarUnit = "hour" | "day" | "week" | "month";

/** The difference between local time and UTC at a wall-clock time, ms. */
type FindOffset = (wallTimeMs: number) => number;

const hourMs = 3_600_000;

/** No zone is further from UTC. */
const maxOffsetMs = 16 * hourMs;

/** End of the year 9999. Times beyond are as that. Before 1970, offsets do not change. */
const maxTimeMs = 253_402_300_799_999;

/** Offsets by zone: a formatter takes tens of kilobytes. Bounded by the number of zones. */
const zones = new Map<string, FindOffset>();

/**
 * Returns what finds the window of a wall-clock time in ms. Windows follow each other without a gap, also where clocks
 * are changed: a day has 23 or 25 hours, and begins when its date does, even if it has no midnight; a repeated local hour
 * is a window of its own.
 *
 * @param unit What a window covers.
 * @param timeZone IANA name, in any case.
 * @throws {RangeError} If the runtime does not know the time zone.
 *
 * @example
 * ```ts
 * const dayAt = zoneWindows("day", "Europe/Berlin");
 * const { start, end } = dayAt(Date.UTC(2027, 2, 28, 12)); // 23 hours
 * ```
 */
export function zoneWindows(unit: CalendarUnit, timeZone: string): (wallTimeMs: number) => Window {
  const findOffset = getOrCreate(zones, timeZone.toLowerCase(), () => createZone(timeZone));
  return (wallTimeMs) => {
    const time = Math.min(Math.max(wallTimeMs, -maxTimeMs), maxTimeMs);
    return unit === "hour" ? findHour(time, findOffset) : findDates(time, unit, findOffset);
  };
}

function createZone(timeZone: string): FindOffset {
  const number = "numeric";
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: number,
    month: number,
    day: number,
    hour: number,
    minute: number,
    second: number,
  });
  return (wallTimeMs) => {
    const second = Math.floor(Math.max(wallTimeMs, 0) / 1000) * 1000;
    const parts = new Map(format.formatToParts(second).map(({ type, value }) => [type, Number(value)]));
    const [year = 0, month = 1, day, hour, minute, seconds] = ["year", "month", "day", "hour", "minute", "second"].map(
      (type) => parts.get(type as Intl.DateTimeFormatPartTypes)!,
    );
    return Date.UTC(year, month - 1, day, hour, minute, seconds) - second;
  };
}

/** Finds an hour of local time, which a change of the offset cuts. */
function findHour(wallTimeMs: number, findOffset: FindOffset): Window {
  const offset = findOffset(wallTimeMs);
  const start = Math.floor((wallTimeMs + offset) / hourMs) * hourMs - offset;
  const end = start + hourMs;
  const isCutBefore = findOffset(start) !== offset;
  const isCutAfter = findOffset(end - 1) !== offset;
  return {
    start: isCutBefore ? findChange(start, wallTimeMs, findOffset) : start,
    end: isCutAfter ? findChange(wallTimeMs, end - 1, findOffset) : end,
  };
}

/** Finds a day, a week or a month of local dates. */
function findDates(wallTimeMs: number, unit: Exclude<CalendarUnit, "hour">, findOffset: FindOffset): Window {
  const date = firstDate(wallTimeMs + findOffset(wallTimeMs), unit);
  let next = nextDate(date, unit);
  let [start, end] = [findStart(date, findOffset), findStart(next, findOffset)];
  while (wallTimeMs >= end) { // clocks that were set back after midnight show the date before once more
    next = nextDate(next, unit);
    [start, end] = [end, findStart(next, findOffset)];
  }
  return { start, end };
}

/** The first date of the unit that has a local time. Dates are midnights, as if they were UTC. */
function firstDate(local: number, unit: CalendarUnit): number {
  const day = Math.floor(local / dayMs) * dayMs;
  const date = new Date(day);
  if (unit === "month") return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  return unit === "week" ? day - (date.getUTCDay() + 6) % 7 * dayMs : day;
}

function nextDate(date: number, unit: CalendarUnit): number {
  if (unit !== "month") return date + (unit === "week" ? 7 : 1) * dayMs;
  const first = new Date(date);
  return Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1);
}

/** Returns when local clocks first show a date or a later one. */
function findStart(date: number, findOffset: FindOffset): number {
  const [from, to] = [date - maxOffsetMs, date + maxOffsetMs];
  const [before, after] = [findOffset(from), findOffset(to)];
  if (before === after) return date - before;
  const change = findChange(from, to, findOffset);
  return date - before < change ? date - before : Math.max(change, date - after);
}

/** Returns when the offset changes between two times of different offsets. */
function findChange(from: number, to: number, findOffset: FindOffset): number {
  const before = findOffset(from);
  let [first, last] = [from, to];
  while (last - first > 1) {
    const middle = Math.floor((first + last) / 2);
    if (findOffset(middle) === before) first = middle;
    else last = middle;
  }
  return last;
}
