/**
 * Parses the rate-limit headers of responses.
 *
 * Sources: OpenAI, "Rate limits in headers" (also Groq and others); Anthropic, "Rate limits: response headers"; Mistral
 * (mistralai/client-ts#169) and Cerebras, whose names end in a window; draft-ietf-httpapi-ratelimit-headers, versions
 * 03 to 10; OpenRouter and GitHub for the plain `x-ratelimit-*`.
 * @module
 */
import { dayMs } from "./windows.ts";

/** A plain number that is at least this is a Unix time: in seconds, or from the second limit on in ms. */
const [minEpoch, minEpochMs] = [1e9, 1e11];

/** The state of one rate limit. */
export interface Allowance {
  /** Limit per window. */
  readonly limit?: number;
  /** Remaining in the current window. */
  readonly remaining?: number;
  /** Time until the window resets, ms, at most 24 h; 0 if it resets now. */
  readonly resetMs?: number;
}

/** The rate limits that a response reports. */
export interface RateReading {
  readonly requests?: Allowance;
  /** Input plus output tokens. */
  readonly tokens?: Allowance;
}

interface Headers {
  get(name: string): string | null;
}

/**
 * Parses rate-limit headers of any known family. Invalid values are ignored: negative or infinite numbers, a limit of
 * 0. A reset of 0, or in the past, means now.
 *
 * @param now Wall-clock ms, the reference of a reset date when the response has no `Date` header.
 * @returns Undefined without rate-limit headers.
 *
 * @example
 * ```ts
 * readRateHeaders(
 *   new Headers({ "x-ratelimit-remaining-tokens": "900", "x-ratelimit-reset-tokens": "6m0s" }),
 *   Date.now(),
 * ); // { tokens: { remaining: 900, resetMs: 360_000 } }
 * ```
 */
export function readRateHeaders(headers: Headers, now: number): RateReading | undefined {
  // Runs on every response: one lookup per family, of a header that every vendor of the family sends.
  if (headers.get("x-ratelimit-remaining-requests") !== null || headers.get("x-ratelimit-remaining-tokens") !== null) {
    return reading(openAi(headers, "requests"), openAi(headers, "tokens"));
  }
  if (headers.get("x-ratelimit-remaining-tokens-minute") !== null) {
    return reading(
      windowed(headers, ["requests-minute", "req-minute", "requests-hour", "requests-day"]),
      windowed(headers, ["tokens-minute", "tokens-hour", "tokens-day"]),
    );
  }
  if (headers.get("anthropic-ratelimit-requests-remaining") !== null) return readAnthropicHeaders(headers, now);
  const structured = headers.get("ratelimit");
  if (structured !== null) return policies(structured, headers.get("ratelimit-policy") ?? "");
  for (const prefix of ["ratelimit", "x-ratelimit"]) {
    const remaining = headers.get(`${prefix}-remaining`);
    if (remaining !== null) return reading(readPlainHeaders(headers, { prefix, remaining, now }));
  }
  return undefined;
}

/** Whether the resets of {@linkcode readRateHeaders} are stated as dates. */
export function hasResetDates(headers: Headers): boolean {
  if (headers.get("x-ratelimit-remaining-requests") !== null || headers.get("x-ratelimit-remaining-tokens") !== null) {
    return false;
  }
  if (headers.get("anthropic-ratelimit-requests-remaining") !== null) return true;
  const reset = headers.get("ratelimit-reset") ?? headers.get("x-ratelimit-reset");
  return reset !== null && (parseRateCount(reset) ?? Infinity) >= minEpoch;
}

function reading(requests: Allowance | undefined, tokens?: Allowance): RateReading | undefined {
  if (requests === undefined && tokens === undefined) return undefined;
  return { ...(requests === undefined ? {} : { requests }), ...(tokens === undefined ? {} : { tokens }) };
}

function allowance(limit?: number, remaining?: number, resetMs?: number): Allowance | undefined {
  // Some vendors send 0 of 0 for quantities they do not limit.
  if (limit === 0 || (limit === undefined && remaining === undefined)) return undefined;
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(remaining === undefined ? {} : { remaining }),
    ...(resetMs === undefined ? {} : { resetMs: Math.min(Math.max(0, resetMs), dayMs) }),
  };
}

function openAi(headers: Headers, kind: "requests" | "tokens"): Allowance | undefined {
  return allowance(
    parseRateCount(headers.get(`x-ratelimit-limit-${kind}`)),
    parseRateCount(headers.get(`x-ratelimit-remaining-${kind}`)),
    durationMs(headers.get(`x-ratelimit-reset-${kind}`)),
  );
}

/** Returns the tightest of several windows. */
function windowed(headers: Headers, kinds: readonly string[]): Allowance | undefined {
  let tightest: Allowance | undefined;
  for (const kind of kinds) {
    const requests = allowance(
      parseRateCount(headers.get(`x-ratelimit-limit-${kind}`)),
      parseRateCount(headers.get(`x-ratelimit-remaining-${kind}`)),
      durationMs(headers.get(`x-ratelimit-reset-${kind}`)),
    );
    if (requests !== undefined && (tightest === undefined || computeShare(requests) < computeShare(tightest))) {
      tightest = requests;
    }
  }
  return tightest;
}

/** Reads Anthropic's limits of input, output and total tokens. The tightest fraction applies to the total. */
function readAnthropicHeaders(headers: Headers, now: number): RateReading | undefined {
  const read = (kind: string) => {
    const prefix = `anthropic-ratelimit-${kind}`;
    return allowance(
      parseRateCount(headers.get(`${prefix}-limit`)),
      parseRateCount(headers.get(`${prefix}-remaining`)),
      untilDate(headers, headers.get(`${prefix}-reset`), now),
    );
  };
  const [both, input, output] = [read("tokens"), read("input-tokens"), read("output-tokens")];
  const tightest = [both, input, output].reduce(
    (first, second) => computeShare(second) < computeShare(first) ? second : first,
    both,
  );
  const limit = both?.limit ?? ((input?.limit ?? 0) + (output?.limit ?? 0));
  const share = computeShare(tightest);
  const tokens = share === Infinity ? both : allowance(limit, Math.floor(limit * share), tightest?.resetMs);
  return reading(read("requests"), tokens);
}

/** Returns the remaining fraction of a limit: all of one that resets now, Infinity when unknown. */
function computeShare(allowed: Allowance | undefined): number {
  if (allowed?.limit === undefined || allowed.remaining === undefined) return Infinity;
  return allowed.resetMs === 0 ? 1 : allowed.remaining / allowed.limit;
}

function readPlainHeaders(
  headers: Headers,
  { prefix, remaining, now }: { prefix: string; remaining: string; now: number },
) {
  const limit = headers.get(`${prefix}-limit`)?.split(/[,;]/, 1)[0] ?? null; // "100, 100;w=60" in older drafts
  const reset = headers.get(`${prefix}-reset`);
  const value = parseRateCount(reset);
  if (value === undefined) {
    return allowance(parseRateCount(limit), parseRateCount(remaining), untilDate(headers, reset, now));
  }
  // A number is a Unix time in ms or s, or the seconds from now.
  const at = value >= minEpochMs ? value : value >= minEpoch ? value * 1000 : undefined;
  return allowance(
    parseRateCount(limit),
    parseRateCount(remaining),
    at === undefined ? value * 1000 : at - sentAt(headers, now),
  );
}

/**
 * Parses `"burst";r=50;t=30, "daily";r=900;t=3600` with `"burst";q=100;w=60, …`, and returns the tightest limit of
 * requests.
 */
function policies(states: string, limits: string): RateReading | undefined {
  const limitByName = new Map(members(limits).map(({ name, values }) => [name, values]));
  let tightest: Allowance | undefined;
  for (const { name, values } of members(states)) {
    const policy = limitByName.get(name);
    const unit = policy?.get("qu") ?? '"requests"';
    const tokens = allowance(
      parseRateCount(policy?.get("q") ?? values.get("limit")),
      parseRateCount(values.get("r") ?? values.get("remaining")),
      durationMs(values.get("t") ?? values.get("reset")),
    );
    if (unit !== '"requests"' || tokens === undefined) continue;
    if (tightest === undefined || computeShare(tokens) < computeShare(tightest)) tightest = tokens;
  }
  return reading(tightest);
}

/** Parses a list with parameters. In draft 07 (`limit=10, remaining=1`) the whole value is one member. */
function members(text: string): { name: string; values: Map<string, string> }[] {
  const isOlder = /^\s*limit\s*=/.test(text);
  const parts = isOlder ? [`;${text.replaceAll(",", ";")}`] : text.split(",", 20);
  return parts.map((part) => {
    const [name = "", ...rest] = part.split(";").map((parameter) => parameter.trim());
    const pairs = rest.map((
      parameter,
    ) => [parameter.slice(0, parameter.indexOf("=")).trim(), parameter.slice(parameter.indexOf("=") + 1).trim()]);
    return { name, values: new Map(pairs as [string, string][]) };
  });
}

function parseRateCount(text: string | null | undefined): number | undefined {
  if (typeof text !== "string" || !/^\s*\d{1,15}(?:\.\d{1,15})?\s*$/.test(text)) return undefined;
  return Number(text);
}

const unitMs: Readonly<Record<string, number>> = { d: dayMs, h: 3_600_000, m: 60_000, s: 1000, ms: 1, "": 1000 };

/** Parses `6m0s`, `1m30.5s`, `88ms`, or seconds. A negative one has passed: 0. */
function durationMs(text: string | null | undefined): number | undefined {
  if (typeof text !== "string" || text.length > 40) return undefined;
  const input = text.trim();
  if (/^-\d/.test(input)) return durationMs(input.slice(1)) === undefined ? undefined : 0;
  const amounts = input.match(/\d{1,20}(?:\.\d{1,20})?(?:ms|[dhms])?/g) ?? [];
  if (amounts.length === 0 || amounts.join("") !== input) return undefined;
  const parts = amounts.map((amount) => [parseFloat(amount), amount.replace(/[\d.]/g, "")] as const);
  if (amounts.length > 1 && parts.some(([, unit]) => unit === "")) return undefined;
  return parts.reduce((sum, [value, unit]) => sum + value * unitMs[unit]!, 0);
}

/** Returns the time until an RFC 3339 date, ms. */
function untilDate(headers: Headers, text: string | null, now: number): number | undefined {
  if (text === null || !/^\d{4}-\d\d-\d\d[Tt ]\d\d:/.test(text)) return undefined;
  const wait = Date.parse(text) - sentAt(headers, now);
  return Number.isNaN(wait) ? undefined : wait;
}

/** Returns the response's own `Date`, so that clock skew does not matter. */
function sentAt(headers: Headers, now: number): number {
  const sent = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(sent) ? now : sent;
}
