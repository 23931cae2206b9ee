/**
 * Warnings of settings.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import type { ConfigProblem } from "../errors.ts";

/**
 * Returns the warnings of settings, a line each.
 *
 * @param settings Settings.
 * @param before Earlier settings, whose warnings have been reported.
 */
export function formatWarnings({ warnings }: Pick<Settings, "warnings">, before?: Settings): string[] {
  const formatWarning = ({ path, message }: ConfigProblem) => `${path}: ${message}`;
  const reported = new Set(before?.warnings.map(formatWarning));
  return warnings.map(formatWarning).filter((line) => !reported.has(line));
}
