/**
 * Options that a program in plain JavaScript misspelt: a type checker would have found them.
 * @module
 */
import { ConfigError } from "../errors.ts";
import { nearest } from "../util/nearest.ts";

/**
 * Refuses options that do not exist.
 *
 * @param options As given.
 * @param known Each option there is.
 * @throws {ConfigError} With all that is unknown, and the nearest name for each.
 */
export function checkOptionNames(options: object, known: Readonly<Record<string, true>>): void {
  const names = Object.keys(known);
  const unknown = Object.entries(options).filter(([name, value]) => value !== undefined && !Object.hasOwn(known, name));
  if (unknown.length === 0) return;
  throw new ConfigError(unknown.map(([name]) => {
    const [near] = nearest(name.slice(0, 80), names, 1);
    const hint = near === undefined ? `; there are ${names.join(", ")}` : `, did you mean "${near}"?`;
    return { path: name, message: `unknown option${hint}` };
  }));
}
