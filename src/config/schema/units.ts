/**
 * Durations and sizes as configurations spell them.
 * @module
 */

/** How durations are spelled; it also matches the empty string, which is not a duration. */
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
/** How sizes are spelled. */
export const sizePattern: RegExp = /^(\d+)(B|[KMGT]B|[KMGT]iB)$/;
const sizePrefixes = "KMGT";
/** Nothing longer is a duration or a size; it bounds the work that hostile input can cause. */
export const maxUnitLength = 40;

/**
 * A duration in ms; undefined for any other string, and for more than ten years.
 *
 * @param text Integers with units, the largest first: `500ms`, `1h30m`.
 *
 * @example
 * ```ts ignore
 * parseDuration("1h30m"); // 5400000
 * ```
 */
export function parseDuration(text: string): number | undefined {
  const match = text === "" || text.length > maxUnitLength ? null : durationPattern.exec(text);
  if (match === null) return undefined;
  const ms = durationUnits.reduce((sum, [, unit], index) => sum + Number(match[index + 1] ?? 0) * unit, 0);
  return ms > maxDurationMs ? undefined : ms;
}

/** The shortest string that {@linkcode parseDuration} reads as that many ms. */
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
 * A size in bytes; undefined for any other string.
 *
 * @param text An integer with its unit: `512MB` (10⁶), `64KiB` (2¹⁰).
 *
 * @example
 * ```ts ignore
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
