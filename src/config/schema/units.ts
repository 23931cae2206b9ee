/**
 * Parses durations, delays and sizes in configurations.
 * @module
 */

/** Syntax of durations; it also matches the empty string, which is invalid. */
export const durationPattern: RegExp = /^(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+)s)?(?:(\d+)ms)?$/;
const durationUnits: readonly (readonly [unit: string, ms: number])[] = [
  ["w", 604_800_000],
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
  ["ms", 1],
];
const maxDurationMs = 315_360_000_000;
/** Syntax of sizes. */
export const sizePattern: RegExp = /^(\d+)(B|[KMGT]B|[KMGT]iB)$/;
const sizePrefixes = "KMGT";
/** Maximum length of a duration or size; bounds the cost of hostile input. */
export const maxUnitLength = 40;

/**
 * Parses a duration.
 *
 * @param text Integers with units, largest first: `500ms`, `1h30m`.
 * @returns The duration, ms; undefined if invalid or more than ten years.
 *
 * @example
 * ```ts
 * parseDuration("1h30m"); // 5400000
 * ```
 */
export function parseDuration(text: string): number | undefined {
  const match = text === "" || text.length > maxUnitLength ? null : durationPattern.exec(text);
  if (match === null) return undefined;
  const ms = durationUnits.reduce((sum, [, unit], index) => sum + Number(match[index + 1] ?? 0) * unit, 0);
  return ms > maxDurationMs ? undefined : ms;
}

/** The shortest string that {@linkcode parseDuration} parses to that many ms. */
export function formatDuration(ms: number): string {
  let remainingMs = ms;
  let text = "";
  for (const [unit, length] of durationUnits) {
    const count = Math.floor(remainingMs / length);
    if (count > 0) text += `${count}${unit}`;
    remainingMs -= count * length;
  }
  return text === "" ? "0s" : text;
}

/**
 * Parses a size.
 *
 * @param text An integer with its unit: `512MB` (10⁶), `64KiB` (2¹⁰).
 * @returns The size, bytes; undefined if invalid.
 *
 * @example
 * ```ts
 * parseSize("64KiB"); // 65536
 * ```
 */
export function parseSize(text: string): number | undefined {
  const match = text.length > maxUnitLength ? null : sizePattern.exec(text);
  if (match === null) return undefined;
  const [, digits = "", unit = ""] = match;
  const bytes = Number(digits) * (unit.includes("i") ? 1024 : 1000) ** (sizePrefixes.indexOf(unit[0]!) + 1);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** A delay, ms, or a percentile of the measured time to the first content, above 0 and up to 100. */
export type HedgeDelay = { readonly ms: number } | { readonly percentile: number };

const percentiles = ["p50", "p90", "p95", "p99"];

/** The value that disables hedging where the settings of all pools enable it. */
export const neverHedge = "off";

/**
 * Parses the delay.
 *
 * @param text A duration such as `2s`, or a percentile such as `p95`.
 * @returns Undefined for `off`.
 */
export function parseHedgeDelay(text: string): HedgeDelay | undefined {
  if (percentiles.includes(text)) return { percentile: Number(text.slice(1)) };
  const ms = parseDuration(text);
  return ms === undefined ? undefined : { ms };
}

/** The error of an invalid delay; undefined if it is valid. */
export function findHedgeDelayProblem(text: string): string | undefined {
  const delay = parseHedgeDelay(text);
  if (text === neverHedge || delay !== undefined && !("ms" in delay && delay.ms === 0)) return undefined;
  return `expected a duration above 0 such as "2s", a percentile ("p50", "p90", "p95" or "p99"), or "${neverHedge}"`;
}
