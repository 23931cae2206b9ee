/**
 * Efforts of reasoning: vendors give them the same names, and models take some of these.
 * @module
 */
import type { ParameterRules } from "../../src/contracts/provider.ts";

/** All names in use, the weakest first. */
const levels: readonly string[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/**
 * The rule by which a model gets an effort that it takes: the nearest one, of two the weaker. Thinking is turned off for
 * `none` and `minimal` alone.
 *
 * @param taken The efforts it takes, one at least.
 *
 * @example
 * ```ts ignore
 * effortsFor(["low", "medium", "high"]).xhigh; // { reasoning_effort: "high" }
 * ```
 */
export function effortsFor(taken: readonly string[]): NonNullable<ParameterRules["efforts"]> {
  const others = levels.filter((effort) => !taken.includes(effort));
  return Object.fromEntries(others.map((effort) => [effort, { reasoning_effort: nearest(effort, taken) }]));
}

function nearest(wanted: string, taken: readonly string[]): string {
  const level = levels.indexOf(wanted);
  const mayBeOff = level <= levels.indexOf("minimal");
  const distance = (effort: string) => Math.abs(levels.indexOf(effort) - level);
  const known = taken.filter((effort) => mayBeOff || effort !== "none");
  return known.reduce((best, effort) => distance(effort) < distance(best) ? effort : best);
}
