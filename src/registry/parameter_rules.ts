/**
 * Rules that adapt request parameters to a model.
 * @module
 */
import type { ParameterRules } from "../contracts/provider.ts";

/**
 * Merges two sets of rules.
 *
 * @param other Takes precedence.
 */
export function mergeRules(
  one: ParameterRules | undefined,
  other: ParameterRules | undefined,
): ParameterRules | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    ...one,
    ...Object.fromEntries(Object.entries(other).filter(([, rule]) => rule !== undefined)),
    rename: { ...one.rename, ...other.rename },
    drop: [...one.drop ?? [], ...other.drop ?? []],
    refuse: [...one.refuse ?? [], ...other.refuse ?? []],
    refuse_with_tools: [...one.refuse_with_tools ?? [], ...other.refuse_with_tools ?? []],
    fill: { ...one.fill, ...other.fill },
    fill_with_tools: { ...one.fill_with_tools, ...other.fill_with_tools },
    efforts: { ...one.efforts, ...other.efforts },
  };
}
