/**
 * The options of a command line that name a period of usage.
 * @module
 */
import { parseDuration } from "../config/schema/units.ts";
import { isDay } from "../util/windows.ts";
import { type Flags, UsageError } from "./command.ts";

/**
 * Reads a period, which the proxy would reject only once it is reached.
 *
 * @param names The options of the command: `from` and `to`, a day each; `since`, a duration or a day.
 * @returns The parameters of the query.
 * @throws {UsageError} When a value is invalid, or the period ends before it begins.
 */
export function readPeriod(flags: Flags, names: readonly string[]): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of names) {
    const value = flags.value(name);
    if (value === undefined) continue;
    if (!isDay(value) && (name !== "since" || parseDuration(value) === undefined)) {
      const forms = name === "since"
        ? "a duration such as 7d, or a day such as 2027-01-31"
        : "a day such as 2027-01-31";
      throw new UsageError(`The option "--${name}" takes ${forms}, not "${value}"`);
    }
    query.set(name, value);
  }
  const [start, to] = [query.has("from") ? "from" : "since", query.get("to")];
  const from = query.get(start);
  if (from !== null && to !== null && isDay(from) && from > to) {
    throw new UsageError(`The option "--${start}" is after "--to": ${from}, ${to}`);
  }
  return query;
}
