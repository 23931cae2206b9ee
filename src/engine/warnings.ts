/**
 * What an engine warns of.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import type { ConfigProblem } from "../errors.ts";

/**
 * The warnings of settings, a line each.
 *
 * @param settings Whose warnings.
 * @param before Settings whose warnings are reported already.
 */
export function warningsOf({ warnings }: Pick<Settings, "warnings">, before?: Settings): string[] {
  const lineOf = ({ path, message }: ConfigProblem) => `${path}: ${message}`;
  const known = new Set(before?.warnings.map(lineOf));
  return warnings.map(lineOf).filter((line) => !known.has(line));
}
