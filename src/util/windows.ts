/**
 * Windows of limits and quotas: UTC calendar days and months, and rolling windows.
 * @module
 */

/** One UTC day, ms. */
export const dayMs = 86_400_000;

/** A period of wall-clock time, ms. */
export interface Window {
  readonly start: number;
  /** End, exclusive. */
  readonly end: number;
}

/**
 * Returns the UTC calendar day of a time.
 *
 * @param now Wall-clock ms.
 */
export function dayWindow(now: number): Window {
  const start = Math.floor(now / dayMs) * dayMs;
  return { start, end: start + dayMs };
}

/**
 * Returns the UTC calendar month of a time.
 *
 * @param now Wall-clock ms.
 *
 * @example
 * ```ts
 * monthWindow(Date.UTC(2028, 1, 29)).end; // Date.UTC(2028, 2, 1)
 * ```
 */
export function monthWindow(now: number): Window {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { start: Date.UTC(year, month, 1), end: Date.UTC(year, month + 1, 1) };
}

/**
 * Returns the time until a quota resets, ms.
 *
 * @param schedule `monthly`: the first day of the next month; `rolling`: in 24 h; else the next UTC midnight.
 * @param now Wall-clock ms.
 *
 * @example
 * ```ts
 * untilQuotaReset("daily", Date.UTC(2026, 0, 31, 23)); // 3 600 000
 * ```
 */
export function untilQuotaReset(schedule: string | undefined, now: number): number {
  if (schedule === "rolling") return dayMs;
  return (schedule === "monthly" ? monthWindow(now) : dayWindow(now)).end - now;
}

const spanNames: Readonly<Record<string, string>> = { "1h": "hour", "1d": "day", "1w": "week", "1mo": "month" };

/**
 * Describes the current window of a budget: `this day`, `this week (Europe/Berlin)`, `the last 30d`.
 *
 * @param span The window as configured, `day` or `month`; and its time zone.
 */
export function describeSpan({ window, timezone }: { readonly window: string; readonly timezone?: string }): string {
  if (window.startsWith("rolling ")) return `the last ${window.slice("rolling ".length)}`;
  return `this ${spanNames[window] ?? window}${timezone === undefined ? "" : ` (${timezone})`}`;
}

let latest = { number: NaN, text: "" };

/**
 * Returns the UTC day of a time, such as `2026-01-31`. The latest one is cached, since every price lookup uses it.
 *
 * @param wallTimeMs Wall-clock ms since 1970.
 */
export function formatUtcDay(wallTimeMs: number): string {
  const number = Math.floor(wallTimeMs / dayMs);
  if (number !== latest.number) latest = { number, text: new Date(number * dayMs).toISOString().slice(0, 10) };
  return latest.text;
}

/** Whether a text is a day of the calendar, such as `2026-01-31`. */
export function isDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : NaN;
  return !Number.isNaN(time) && formatUtcDay(time) === text;
}
