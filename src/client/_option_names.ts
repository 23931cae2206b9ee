/**
 * Detection of misspelt options, for programs in plain JavaScript, which no type checker has seen.
 * @module
 */
import { ConfigError } from "../errors.ts";
import { nearest } from "../util/nearest.ts";

/**
 * Rejects unknown options.
 *
 * @param options The options to check. A member whose value is `undefined` is ignored.
 * @param known The names of all options.
 * @throws {ConfigError} Lists every unknown option, each with the nearest known name.
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
