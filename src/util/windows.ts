/**
 * Windows that limits and quotas count in: calendar days and months in UTC, a vendor's own days, and rolling ones.
 * @module
 */

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** A period of wall clock time, ms. */
export interface Window {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/**
 * The calendar day in UTC that a time falls in.
 *
 * @param now Wall clock, ms.
 */
export function dayWindow(now: number): Window {
  const start = Math.floor(now / dayMs) * dayMs;
  return { start, end: start + dayMs };
}

/**
 * The calendar month in UTC that a time falls in.
 *
 * @param now Wall clock, ms.
 *
 * @example
 * ```ts ignore
 * monthWindow(Date.UTC(2028, 1, 29)).end; // Date.UTC(2028, 2, 1)
 * ```
 */
export function monthWindow(now: number): Window {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) };
}

/**
 * The local day of a time zone that a time falls in, from midnight to midnight: 23 or 25 hours long when its clocks
 * change. A day begins with its first existing moment, also where the change skips midnight or repeats it.
 *
 * @param zone A time zone as in the IANA database, or a fixed offset such as `+05:30`.
 * @param now Wall clock, ms.
 * @throws {RangeError} When the zone is unknown.
 *
 * @example
 * ```ts ignore
 * dayWindowIn("America/Los_Angeles", Date.UTC(2026, 0, 1)).end; // Date.UTC(2026, 0, 1, 8)
 * ```
 */
export function dayWindowIn(zone: string, now: number): Window {
  const offsetAt = offsetsOf(zone);
  const today = Math.floor((now + offsetAt(now)) / dayMs);
  return { start: midnight(today, offsetAt), end: midnight(today + 1, offsetAt) };
}

/**
 * Time until a quota resets, ms.
 *
 * @param schedule `monthly`: the first of next month; `rolling`: in 24 h; else the next UTC midnight.
 * @param now Wall clock, ms.
 *
 * @example
 * ```ts ignore
 * untilQuotaReset("daily", Date.UTC(2026, 0, 31, 23)); // 3 600 000
 * ```
 */
export function untilQuotaReset(schedule: string | undefined, now: number): number {
  if (schedule === "rolling") return dayMs;
  return (schedule === "monthly" ? monthWindow(now) : dayWindow(now)).end - now;
}

/** Offset of a zone from UTC at a time, ms. */
type OffsetAt = (time: number) => number;

/** The first moment of a day, whose clocks may have changed within a day of midnight. */
function midnight(day: number, offsetAt: OffsetAt): number {
  const utc = day * dayMs;
  const [before, after] = [offsetAt(utc - dayMs), offsetAt(utc + dayMs)];
  const early = utc - Math.max(before, after);
  return early + offsetAt(early) >= utc ? early : utc - Math.min(before, after);
}

function offsetsOf(zone: string): OffsetAt {
  const fixed = /^([+-])(\d\d):?(\d\d)$/.exec(zone);
  if (fixed === null) return (time) => offsetIn(zone, time);
  const [, sign, hours, minutes] = fixed;
  const offset = (Number(hours) * 60 + Number(minutes)) * minuteMs * (sign === "-" ? -1 : 1);
  return () => offset;
}

/** The zone's local time read as if it were UTC, less the time itself. */
function offsetIn(zone: string, time: number): number {
  const second = Math.floor(time / 1000) * 1000;
  const shown = formatterOf(zone).formatToParts(second);
  const read = (type: string) => Number(shown.find((part) => part.type === type)?.value);
  const date = Date.UTC(read("year"), read("month") - 1, read("day"), read("hour"), read("minute"), read("second"));
  return date - second;
}

/** Making one takes long. There are as many as zones that vendors have. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  const digits = "2-digit";
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: digits,
    day: digits,
    hour: digits,
    minute: digits,
    second: digits,
  });
  formatters.set(zone, made);
  return made;
}
