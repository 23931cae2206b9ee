/**
 * What a client that is managed at runtime consists of: the fields of its form, and its limits in words.
 * @module
 */
import { count, usd, words } from "./format.ts";

/** A client of `/mesh/clients`, with whatever limits it has. */
export interface ManagedClient extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly name: string;
}

/** One field of the form. */
export interface ClientField {
  /** The member of the client. */
  readonly name: string;
  readonly label: string;
  readonly kind: "text" | "team" | "list" | "count" | "budget" | "flag" | "date" | "notes";
  readonly hint?: string;
  /** Whether only a new client has it. */
  readonly isFixed?: boolean;
  /** @default false */
  readonly isRequired?: boolean;
}

/** The fields in their order. */
export const clientFields: readonly ClientField[] = [
  {
    name: "name",
    label: "Name",
    kind: "text",
    isFixed: true,
    isRequired: true,
    hint: "Appears in records and metrics, and stays",
  },
  { name: "team", label: "Team", kind: "team" },
  { name: "pools", label: "Pools", kind: "list", hint: "Separated by commas; empty: all" },
  { name: "models", label: "Models", kind: "list", hint: "Separated by commas; empty: all" },
  { name: "budget", label: "Budget, USD", kind: "budget" },
  { name: "rpm", label: "Requests per minute", kind: "count" },
  { name: "tpm", label: "Tokens per minute", kind: "count" },
  { name: "concurrent", label: "Requests at once", kind: "count" },
  { name: "tags", label: "Tags", kind: "list", hint: "Of its requests, separated by commas" },
  { name: "priority", label: "Highest priority", kind: "count" },
  { name: "byok", label: "May use its own keys of providers", kind: "flag" },
  { name: "expires_at", label: "Expires on (UTC)", kind: "date" },
  {
    name: "token_hash",
    label: "SHA-256 of a token that it has",
    kind: "text",
    isFixed: true,
    hint: "Empty: a new token is made",
  },
  { name: "notes", label: "Notes", kind: "notes", hint: "For administrators" },
];

/** Windows of a budget that can be chosen. */
export const windows: Readonly<Record<string, string>> = {
  "1h": "an hour",
  "1d": "a day",
  "1w": "a week",
  "1mo": "a month",
};

/** One limit of a budget. */
export interface BudgetLine {
  readonly limit: number;
  readonly window: string;
  readonly timezone?: string;
  readonly alert_at?: readonly number[];
}

/** The limits of a budget. */
export function readBudget(budget: unknown): readonly BudgetLine[] {
  if (Array.isArray(budget)) return budget;
  const { daily_limit, monthly_limit } = (budget ?? {}) as { daily_limit?: number; monthly_limit?: number };
  return [
    ...(daily_limit === undefined ? [] : [{ limit: daily_limit, window: "1d" }]),
    ...(monthly_limit === undefined ? [] : [{ limit: monthly_limit, window: "1mo" }]),
  ];
}

/** The window of a limit in words: `a day (Europe/Berlin)`, `in the last 30d`. */
export function describeWindow({ window, timezone }: Pick<BudgetLine, "window" | "timezone">): string {
  const name = windows[window] ?? window.replace("rolling", "in the last");
  return timezone === undefined ? name : `${name} (${timezone})`;
}

/** A budget of limits; undefined without any. */
export function toBudget(lines: readonly BudgetLine[]): unknown {
  if (lines.length === 0) return undefined;
  const limits = { "1d": "daily_limit", "1mo": "monthly_limit" } as Readonly<Record<string, string>>;
  const isList = lines.some(({ window, timezone, alert_at }) => limits[window] === undefined || timezone || alert_at);
  if (isList) return lines;
  return Object.fromEntries(lines.map(({ limit, window }) => [limits[window], limit]));
}

/**
 * The body that makes a client, or changes one.
 *
 * @param values The values of the form; undefined for an empty field.
 * @param before The client, of which only what differs is sent; null removes a limit.
 */
export function toClientBody(
  values: Readonly<Record<string, unknown>>,
  before: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]): [string, unknown][] => {
      if (JSON.stringify(value) === JSON.stringify(before[name])) return [];
      return [[name, value ?? null]];
    }),
  );
}

/** Whether an error's `param` means a field: `pools[0]` is one of `pools`. */
export function concerns(param: string, name: string): boolean {
  return param === name || param.startsWith(`${name}[`) || param.startsWith(`${name}.`);
}

/** Members that are not limits. */
const others = new Set([
  ...["id", "name", "created_at", "team", "notes", "expires_at", "previous_token_ends_at"],
]);
const units: Readonly<Record<string, string>> = { rpm: "requests/min", tpm: "tokens/min", concurrent: "at once" };
const flags: Readonly<Record<string, string>> = { byok: "own keys of providers" };

/** The limits of a client or a team, such as `$5.00 a day`, `60 requests/min`. */
export function describeLimits(limited: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(limited).flatMap(([name, value]): readonly string[] => {
    if (others.has(name) || value === undefined || value === null || value === false) return [];
    if (name === "budget") return readBudget(value).map((line) => `${usd(line.limit)} ${describeWindow(line)}`);
    if (Array.isArray(value)) return [`${words(name)}: ${value.join(", ")}`];
    if (typeof value === "object") return [];
    if (value === true) return [flags[name] ?? words(name)];
    const unit = units[name];
    return [typeof value === "number" && unit !== undefined ? `${count(value)} ${unit}` : `${words(name)} ${value}`];
  });
}
