/**
 * The parameters of a query for usage.
 * @module
 */
import { parseDuration } from "../../config/schema/units.ts";
import { nearest } from "../../util/nearest.ts";
import { readSearch } from "../../util/request_path.ts";
import { formatUtcDay, isDay } from "../../util/windows.ts";
import { wrong } from "../clients/client_input.ts";
import type { Exchange } from "../exchange.ts";
import { listUsageDays } from "./daily_usage.ts";
import { type UsageDimension, usageDimensions } from "./usage_table.ts";

/** The parameters of a period and a format. */
const periodNames = ["since", "from", "to", "format"];

/**
 * Reads period and format: `from` and `to`, or `since`, a duration such as `7d` or a day; all stored days by default.
 *
 * @throws {HttpError} 400 `invalid_value`, with the parameter.
 */
export function readUsageQuery({ request, mesh: { runtime: { clock } } }: Exchange): {
  /** First and last day, UTC. */
  readonly from: string;
  readonly to: string;
  /** The stored days between them. */
  readonly days: readonly string[];
  readonly format: "json" | "csv";
} {
  const parameters = new URLSearchParams(readSearch(request.url));
  const now = clock.now();
  const stored = listUsageDays(now);
  const since = parameters.get("since");
  if (since !== null && parameters.has("from")) throw wrongParameter("since", 'cannot be combined with "from"');
  const first = since === null ? readDay(parameters, "from") ?? stored[0]! : readSince(since, now);
  const from = first < stored[0]! && since !== null ? stored[0]! : first;
  const to = readDay(parameters, "to") ?? formatUtcDay(now);
  if (from > to) throw wrongParameter(since === null ? "from" : "since", 'is after "to"');
  const format = parameters.get("format") ??
    (/\btext\/csv\b/.test(request.headers.get("accept") ?? "") ? "csv" : "json");
  if (format !== "json" && format !== "csv") throw wrongParameter("format", "is json or csv");
  return { from, to, days: stored.filter((day) => day >= from && day <= to), format };
}

/**
 * Reads the dimensions of `by`; `day,client` by default.
 *
 * @throws {HttpError} 400 `invalid_value`, also for a parameter that does not exist.
 */
export function readDimensions({ request }: Exchange): readonly UsageDimension[] {
  const parameters = new URLSearchParams(readSearch(request.url));
  const unknown = [...parameters.keys()].find((name) => name !== "by" && !periodNames.includes(name));
  if (unknown !== undefined) {
    throw wrongParameter(unknown, `is unknown; there are by, ${periodNames.join(", ")}`);
  }
  const names = (parameters.get("by") ?? "day,client").split(",").map((name) => name.trim());
  for (const [index, name] of names.entries()) {
    if (!isDimension(name)) {
      const [hint] = nearest(name, usageDimensions, 1);
      const advice = hint === undefined ? "" : `; did you mean "${hint}"?`;
      throw wrongParameter("by", `names ${usageDimensions.join(", ")}, separated by commas${advice}`);
    }
    if (names.indexOf(name) < index) throw wrongParameter("by", `names "${name}" twice`);
  }
  return names as readonly UsageDimension[];
}

function isDimension(name: string): name is UsageDimension {
  return usageDimensions.includes(name as UsageDimension);
}

function readSince(text: string, now: number): string {
  if (isDay(text)) return text;
  const ms = parseDuration(text);
  if (ms === undefined) throw wrongParameter("since", "has to be a duration such as 7d, or a day such as 2027-01-31");
  return formatUtcDay(now - ms);
}

function readDay(parameters: URLSearchParams, name: string): string | undefined {
  const day = parameters.get(name);
  if (day === null || isDay(day)) return day ?? undefined;
  throw wrongParameter(name, "has to be a day such as 2027-01-31");
}

function wrongParameter(name: string, what: string): ReturnType<typeof wrong> {
  return wrong(`${JSON.stringify(name.slice(0, 64))} ${what}`, name);
}
