/**
 * Budgets in documents, and amounts of money.
 * @module
 */
import { nanoPerUsd } from "../../util/pricing.ts";
import { defaultAlertAt } from "../settings/defaults.ts";
import type { ValueLocation } from "./_scalars.ts";
import type { Given } from "./field.ts";
import { show } from "./report.ts";
import { isPlainObject } from "./tree.ts";

/**
 * Shares of a limit, from 0 to 1. A `budget` event is emitted when the amount spent reaches one, once per window. An
 * empty list emits none. Processes that share a budget emit one event each.
 */
const alertAt = {
  type: "list",
  default: defaultAlertAt as typeof defaultAlertAt,
  item: { type: "number", above: 0, max: 1 },
} as const;

/** A budget: limits per UTC day and month, or a list of limits with their windows. */
export const budget = {
  type: "either",
  options: [{
    type: "list",
    min: 1,
    check: checkWindows as typeof checkWindows,
    item: {
      type: "object",
      required: ["limit", "window"],
      fields: {
        /** Maximum amount spent in the window, in USD. 0 allows nothing. */
        limit: { type: "number", min: 0 },
        /**
         * Window of the limit: the calendar hour (`1h`), day (`1d`), week from Monday on (`1w`) or month (`1mo`); or
         * the last hours or days before each request, such as `rolling 24h` or `rolling 30d`. A rolling window moves in
         * steps of a sixtieth of its length.
         */
        window: { type: "text", isLiteral: true, format: findWindowProblem as typeof findWindowProblem },
        /** IANA time zone in which the calendar window begins and ends, such as `Europe/Berlin`. Defaults to UTC. */
        timezone: { type: "text", isLiteral: true, format: findTimeZoneProblem as typeof findTimeZoneProblem },
        /** Shares of this limit at which a `budget` event is emitted, once per window. */
        alert_at: alertAt as typeof alertAt,
      },
    },
  }, {
    type: "object",
    fields: {
      /** Maximum amount spent per UTC day, in USD. 0 allows nothing. */
      daily_limit: { type: "number", min: 0 },
      /** Maximum amount spent per UTC month, in USD. 0 allows nothing. */
      monthly_limit: { type: "number", min: 0 },
      /**
       * Shares of a limit, from 0 to 1. A `budget` event is emitted when the amount spent reaches one, once per window.
       * An empty list emits none. Processes that share a budget emit one event each.
       */
      alert_at: alertAt as typeof alertAt,
    },
  }],
} as const;

/** A limit of a budget. */
export interface BudgetLimit {
  /** Identifies its window: `day` and `month` (UTC), `1w europe/berlin`, `rolling 720h`. */
  readonly id: string;
  /** Its window as configured: `day` and `month` of `daily_limit` and `monthly_limit`, `1w`, `rolling 30d`. */
  readonly window: string;
  /** The time zone of its window as configured. */
  readonly timezone?: string;
  /** Maximum in the window, nano-dollars (10⁻⁹ USD). */
  readonly limitNanoUsd: number;
  /** Fractions of the limit at which an event is emitted, ascending. */
  readonly alertAt?: readonly number[];
}

/** Limits of a budget, one per window. */
export type BudgetSettings = readonly BudgetLimit[];

/** A budget as given. */
export type BudgetValues = Given<typeof budget>;

/** A limit of a budget as given: an entry of its list, or one of `daily_limit` and `monthly_limit`. */
export interface LimitValues {
  /** The key that has it, within the budget. */
  readonly key: string;
  /** USD. */
  readonly usd: number;
  /** Identifies its window: limits of the same window share their sums. */
  readonly id: string;
  readonly window: string;
  readonly timezone?: string | undefined;
  readonly alertAt?: readonly number[] | undefined;
}

/** Returns the limits of a budget. */
export function listLimits(values: BudgetValues | undefined): readonly LimitValues[] {
  if (isLimitList(values)) {
    return values.flatMap(({ limit: usd, window, timezone, alert_at: alertAt }, index) => {
      if (usd === undefined || window === undefined) return []; // reported
      return { key: `[${index}].limit`, usd, id: toWindowId(window, timezone), window, timezone, alertAt };
    });
  }
  const { daily_limit: daily, monthly_limit: monthly } = values ?? {};
  return [
    ...(daily === undefined ? [] : [{ key: ".daily_limit", usd: daily, id: "day", window: "day" }]),
    ...(monthly === undefined ? [] : [{ key: ".monthly_limit", usd: monthly, id: "month", window: "month" }]),
  ];
}

/** Whether a budget is a list of limits. */
export function isLimitList(values: BudgetValues | undefined): values is Extract<BudgetValues, readonly unknown[]> {
  return Array.isArray(values);
}

/**
 * Merges budgets limit by limit; undefined without any limit.
 *
 * @param layers Layers, highest precedence first.
 */
export function mergeBudgets(layers: readonly (BudgetValues | undefined)[]): BudgetSettings | undefined {
  const limits = new Map<string, LimitValues>();
  let commonAlertAt: readonly number[] | undefined;
  for (const layer of layers) {
    if (layer === undefined) continue;
    if (!isLimitList(layer)) commonAlertAt ??= layer.alert_at;
    for (const limit of listLimits(layer)) if (!limits.has(limit.id)) limits.set(limit.id, limit);
  }
  if (limits.size === 0) return undefined;
  return Object.freeze([...limits.values()].map((limit) => toBudgetLimit(limit, commonAlertAt)));
}

function toBudgetLimit(
  { id, window, timezone, usd, alertAt: own }: LimitValues,
  common: readonly number[] | undefined,
): BudgetLimit {
  const alertAt = own ?? common;
  return {
    id,
    window,
    ...(timezone !== undefined && { timezone }),
    limitNanoUsd: toNanoUsd(usd),
    ...(alertAt !== undefined && { alertAt: [...new Set(alertAt)].toSorted((first, second) => first - second) }),
  };
}

/** Whether a section has a budget with a list of limits. */
export function hasLimitList(section: unknown): boolean {
  const isList = section instanceof Map || Array.isArray(section);
  if (!isList && !isPlainObject(section)) return false;
  for (const [key, value] of isList ? section.entries() : Object.entries(section)) {
    if (key === "budget" && Array.isArray(value) || hasLimitList(value)) return true;
  }
  return false;
}

/** USD in nano-dollars (10⁻⁹ USD), rounded. Capped at nine million USD, up to which sums are exact. */
export function toNanoUsd(usd: number): number {
  return Math.min(Math.round(usd * nanoPerUsd), Number.MAX_SAFE_INTEGER);
}

/** Maximum number of limits of one budget: each request is checked against all of them. */
const maxLimits = 10;

/** Names of Coordinated Universal Time, in lower case. */
const utcNames: ReadonlySet<string> = new Set(["utc", "etc/utc", "gmt", "etc/gmt"]);

/** Identifiers of the windows that `daily_limit` and `monthly_limit` have as well. */
const utcIds: ReadonlyMap<string, string> = new Map([["1d", "day"], ["1mo", "month"]]);

/** Maximum length of a rolling window, hours. */
const maxRollingHours = 366 * 24;

/** The hours of a rolling window; undefined for calendar windows. */
function parseRollingHours(window: string): number | undefined {
  const [, count, unit] = /^rolling (\d{1,5})([hd])$/.exec(window) ?? [];
  return count === undefined ? undefined : Number(count) * (unit === "d" ? 24 : 1);
}

/** The length of a window, hours; that of an average month. */
export function countHours(id: string): number {
  const [span = "", hours] = id.split(" ");
  return spanHours.get(span) ?? Number.parseInt(hours ?? "", 10);
}

const spanHours: ReadonlyMap<string, number> = new Map([
  ["1h", 1],
  ["day", 24],
  ["1d", 24],
  ["1w", 168],
  ["month", 730],
  ["1mo", 730],
]);

/** Returns what identifies a window, the same for different spellings: `day`, `1w europe/berlin`, `rolling 720h`. */
function toWindowId(window: string, timezone = "UTC"): string {
  const hours = parseRollingHours(window);
  if (hours !== undefined) return `rolling ${hours}h`;
  const zone = timezone.toLowerCase();
  return utcNames.has(zone) ? utcIds.get(window) ?? `${window} utc` : `${window} ${zone}`;
}

/** The error of a text that is not a window; undefined if it is one. */
function findWindowProblem(text: string): string | undefined {
  if (/^1(?:h|d|w|mo)$/.test(text)) return undefined;
  const hours = parseRollingHours(text);
  if (hours !== undefined && hours >= 1 && hours <= maxRollingHours) return undefined;
  if (hours !== undefined) return "expected a rolling window of 1h to 366d";
  if (/^rolling \d+(?:w|mo)$/.test(text)) return 'expected a rolling window in hours or days, such as "rolling 30d"';
  return 'expected "1h", "1d", "1w", "1mo", or a rolling window such as "rolling 30d"';
}

/** The error of a text that is not the name of a time zone; undefined if it is one. */
function findTimeZoneProblem(name: string): string | undefined {
  const zone = name.toLowerCase();
  if (knownZones.has(zone)) return undefined;
  try {
    if (/^[a-z]/.test(zone) && new Intl.DateTimeFormat("en", { timeZone: zone })) knownZones.add(zone);
  } catch {
    // unknown
  }
  return knownZones.has(zone) ? undefined : 'expected an IANA time zone such as "Europe/Berlin"';
}

/** Time zones that exist, in lower case: to find out takes tens of microseconds, and thousands of clients may have one. */
const knownZones = new Set<string>();

/** Reports windows that occur twice, and time zones without effect. */
function checkWindows(value: unknown, { path, report }: ValueLocation): void {
  const limits = listLimits(value as BudgetValues);
  if (limits.length > maxLimits) report.problem(path, `expected up to ${maxLimits} limits, found ${limits.length}`);
  const first = new Map<string, string>();
  for (const { key, id, window, timezone } of limits) {
    const at = `${path}${key.replace(".limit", "")}`;
    if (timezone !== undefined && id.startsWith("rolling")) {
      report.problem(
        `${at}.timezone`,
        `has no meaning: a rolling window (${show(window)}) does not follow the calendar`,
      );
    }
    const other = first.get(id);
    if (other !== undefined) report.problem(`${at}.window`, `is the same window as that of "${other}"`);
    else first.set(id, at);
  }
}
