/**
 * Reasoning efforts. Vendors share the names; models support a subset.
 * @module
 */
import type { ParameterRules } from "../../src/contracts/provider.ts";

/** All effort names, ascending. */
const levels: readonly string[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/**
 * Parameter rules that map each effort to the nearest supported one; of two equally near ones, the lower. Only `none`
 * and `minimal` disable reasoning.
 *
 * @param taken The supported efforts; at least one.
 *
 * @example
 * ```ts
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
