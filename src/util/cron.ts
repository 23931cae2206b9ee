/**
 * Cron expressions with five fields, in UTC: `minute hour day-of-month month day-of-week`.
 *
 * Source: crontab(5) of Vixie cron. Steps follow `*` or a range. If both day fields are restricted, a match of either
 * suffices. A day field that begins with `*` counts as unrestricted, so with a step it further restricts the other one.
 * @module
 */
import { dayMs } from "./windows.ts";

const minuteMs = 60_000;
/** 1970-01-01 was a Thursday. */
const firstWeekday = 4;
/**
 * The Gregorian calendar repeats every 400 years, including weekdays: a start that does not occur within them never
 * does.
 */
const monthsOfCycle = 400 * 12;
/** Maximum length of an expression; bounds the work that untrusted input can cause. */
const maxLength = 200;

/** A parsed cron expression. */
export interface Cron {
  /** Start times within a day in minutes, 0 to 1439, ascending. */
  readonly times: readonly number[];
  /** Days of the month, 1 to 31. */
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** Days of the week, 0 (Sunday) to 6. */
  readonly weekdays: ReadonlySet<number>;
  /** Whether a match of either `days` or `weekdays` suffices. */
  readonly eitherDay: boolean;
}

interface CronField {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names of the values from `min` on. */
  readonly names?: readonly string[];
}

const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const weekday: CronField = { name: "day of the week", min: 0, max: 7, names: weekdayNames };
const fields: readonly CronField[] = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of the month", min: 1, max: 31 },
  { name: "month", min: 1, max: 12, names: monthNames },
  weekday,
];

/**
 * Parses a cron expression.
 *
 * @param text Five fields of numbers, names, ranges, steps and lists.
 * @throws {SyntaxError} When a field is invalid; the message names it.
 *
 * @example
 * ```ts
 * parseCron("30 2 * * mon-fri"); // on weekdays at 02:30
 * ```
 */
export function parseCron(text: string): Cron {
  if (text.length > maxLength) throw new SyntaxError(`Cannot read a cron expression of ${text.length} characters`);
  const parts = text.trim().split(/\s+/);
  if (parts.length !== fields.length) {
    throw createCronError(text, `it has ${parts.length} fields, not minute, hour, day, month and day of the week`);
  }
  const [minutes, hours, days, months, weekdays] = parts.map((part, index) => {
    const values = parseCronValues(part, fields[index]!);
    if (typeof values === "string") throw createCronError(text, values);
    return values;
  }) as [number[], number[], number[], number[], number[]];
  return {
    times: ascending(hours).flatMap((hour) => ascending(minutes).map((minute) => hour * 60 + minute)),
    days: new Set(days),
    months: new Set(months),
    weekdays: new Set(weekdays.map((day) => day % 7)),
    eitherDay: !parts[2]!.startsWith("*") && !parts[4]!.startsWith("*"),
  };
}

function createCronError(text: string, reason: string): SyntaxError {
  return new SyntaxError(`Cannot read the cron expression "${text}": ${reason}`);
}

function ascending(values: readonly number[]): number[] {
  return [...new Set(values)].sort((first, second) => first - second);
}

/** Returns the values of a field, or an error message. */
function parseCronValues(text: string, field: CronField): number[] | string {
  const values: number[] = [];
  for (const part of text.split(",")) {
    const some = valuesOfPart(part, field);
    if (typeof some === "string") return some;
    values.push(...some);
  }
  return values;
}

function valuesOfPart(part: string, field: CronField): number[] | string {
  const match = /^(?:(\*)|([a-z]{3}|\d{1,2})(?:-([a-z]{3}|\d{1,2}))?)(?:\/(\d{1,2}))?$/i.exec(part);
  if (match === null) return `the ${field.name} "${part}" is not a number, name, range or "*"`;
  const [, all, first, last, every] = match;
  if (every !== undefined && all === undefined && last === undefined) {
    return `the ${field.name} "${part}" has a step after a single value: write "${first}-${field.max}/${every}"`;
  }
  const step = Number(every ?? 1);
  if (step === 0) return `the ${field.name} "${part}" has a step of 0`;
  const from = all === undefined ? parseCronValue(first!, field) : field.min;
  let to = all === undefined ? parseCronValue(last ?? first!, field) : field.max;
  // A range that ends on Sunday: "sat-sun", "5-0".
  if (field === weekday && to === 0 && from !== undefined && from > 0) to = 7;
  if (from === undefined || to === undefined) {
    return `the ${field.name} "${part}" is not between ${field.min} and ${field.max}`;
  }
  if (from > to) return `the ${field.name} "${part}" runs backwards`;
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, count) => from + count * step);
}

function parseCronValue(text: string, { min, max, names = [] }: CronField): number | undefined {
  const name = names.indexOf(text.toLowerCase());
  const value = name === -1 ? Number(text) : min + name;
  return value >= min && value <= max ? value : undefined;
}

/**
 * Returns the first start after a time.
 *
 * @param after Wall-clock ms, exclusive.
 * @returns Wall-clock ms; undefined when there is none, such as on 31 February.
 *
 * @example
 * ```ts
 * nextStart(parseCron("0 3 29 2 *"), Date.UTC(2026, 0, 1)); // Date.UTC(2028, 1, 29, 3)
 * ```
 */
export function nextStart(cron: Cron, after: number): number | undefined {
  const today = Math.floor(after / dayMs);
  const minute = Math.floor((after - today * dayMs) / minuteMs);
  const time = matchesDay(cron, today) ? cron.times.find((start) => start > minute) : undefined;
  if (time !== undefined) return toStart(today, time);
  const day = searchDay(cron, today, 1);
  return day === undefined ? undefined : toStart(day, cron.times[0]!);
}

/**
 * Returns the last start up to a time. A period of `durationMs` is in progress while
 * `now - lastStart(cron, now) < durationMs`.
 *
 * @param before Wall-clock ms, inclusive.
 * @returns Wall-clock ms; undefined when there is none.
 */
export function lastStart(cron: Cron, before: number): number | undefined {
  const today = Math.floor(before / dayMs);
  const minute = Math.floor((before - today * dayMs) / minuteMs);
  const time = matchesDay(cron, today) ? cron.times.findLast((start) => start <= minute) : undefined;
  if (time !== undefined) return toStart(today, time);
  const day = searchDay(cron, today, -1);
  return day === undefined ? undefined : toStart(day, cron.times.at(-1)!);
}

function toStart(day: number, time: number): number {
  return day * dayMs + time * minuteMs;
}

/** Returns the nearest matching day except `today`, in days since 1970. Skips months that do not match. */
function searchDay(cron: Cron, today: number, step: 1 | -1): number | undefined {
  const date = new Date(today * dayMs);
  const thisMonth = date.getUTCFullYear() * 12 + date.getUTCMonth();
  for (let count = 0; count <= monthsOfCycle; count++) {
    const month = thisMonth + count * step;
    if (!cron.months.has(month % 12 + 1)) continue;
    const [first, end] = [findFirstDay(month), findFirstDay(month + 1)];
    let day = step === 1 ? first : end - 1;
    if (count === 0) day = today + step;
    for (; day >= first && day < end; day += step) {
      if (matches(cron, day - first + 1, day)) return day;
    }
  }
  return undefined;
}

/** @param month Months since the year 0. */
function findFirstDay(month: number): number {
  return Date.UTC(Math.floor(month / 12), month % 12, 1) / dayMs;
}

function matchesDay(cron: Cron, day: number): boolean {
  const date = new Date(day * dayMs);
  return cron.months.has(date.getUTCMonth() + 1) && matches(cron, date.getUTCDate(), day);
}

function matches(cron: Cron, dayOfMonth: number, day: number): boolean {
  const fitsMonth = cron.days.has(dayOfMonth);
  const fitsWeek = cron.weekdays.has((day % 7 + 7 + firstWeekday) % 7);
  return cron.eitherDay ? fitsMonth || fitsWeek : fitsMonth && fitsWeek;
}
