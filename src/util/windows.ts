/**
 * Calendar windows, in UTC.
 * @module
 */

const dayMs = 24 * 60 * 60 * 1000;

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
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const next = schedule === "monthly" ? Date.UTC(year, month + 1, 1) : Date.UTC(year, month, date.getUTCDate() + 1);
  return next - now;
}
