/**
 * What a response's headers say of the vendor's rate limits.
 *
 * Sources: OpenAI, "Rate limits in headers" (Groq's and others' are the same); Anthropic, "Rate limits: response
 * headers"; Mistral (mistralai/client-ts#169) and Cerebras, whose names end in a window; draft-ietf-httpapi-ratelimit-headers, versions 03 to 10; OpenRouter and GitHub for the plain
 * `x-ratelimit-*`.
 * @module
 */

const dayMs = 24 * 60 * 60 * 1000;

/** One limit of a vendor. */
export interface Allowance {
  /** Per window. */
  readonly limit?: number;
  /** In the current window. */
  readonly remaining?: number;
  /** Until the window is full again, ms from now, at most 24 h. */
  readonly resetMs?: number;
}

/** The limits that a response counts against. */
export interface RateReading {
  readonly requests?: Allowance;
  /** Input and output. */
  readonly tokens?: Allowance;
}

interface Headers {
  get(name: string): string | null;
}

/**
 * Reads rate-limit headers of any of the known families. What makes no sense is left out: negative or endless
 * numbers, a limit of 0, a reset that is past.
 *
 * @param now Wall clock, ms, against which a reset date is judged when the response has no `Date` itself.
 * @returns Undefined without such headers.
 *
 * @example
 * ```ts ignore
 * readRateHeaders(new Headers({ "x-ratelimit-remaining-tokens": "900", "x-ratelimit-reset-tokens": "6m0s" }), now);
 * // { tokens: { remaining: 900, resetMs: 360_000 } }
 * ```
 */
export function readRateHeaders(headers: Headers, now: number): RateReading | undefined {
  // Runs on every answer: one look per family, by the header that every vendor of the family sends.
  if (headers.get("x-ratelimit-remaining-requests") !== null || headers.get("x-ratelimit-remaining-tokens") !== null) {
    return reading(openAi(headers, "requests"), openAi(headers, "tokens"));
  }
  if (headers.get("x-ratelimit-remaining-tokens-minute") !== null) {
    return reading(
      windowed(headers, ["requests-minute", "req-minute", "requests-hour", "requests-day"]),
      windowed(headers, ["tokens-minute", "tokens-hour", "tokens-day"]),
    );
  }
  if (headers.get("anthropic-ratelimit-requests-remaining") !== null) return anthropic(headers, now);
  const structured = headers.get("ratelimit");
  if (structured !== null) return policies(structured, headers.get("ratelimit-policy") ?? "");
  for (const prefix of ["ratelimit", "x-ratelimit"]) {
    const remaining = headers.get(`${prefix}-remaining`);
    if (remaining !== null) return reading(plain(headers, { prefix, remaining, now }));
  }
  return undefined;
}

function reading(requests: Allowance | undefined, tokens?: Allowance): RateReading | undefined {
  if (requests === undefined && tokens === undefined) return undefined;
  return { ...(requests === undefined ? {} : { requests }), ...(tokens === undefined ? {} : { tokens }) };
}

function allowance(limit?: number, remaining?: number, resetMs?: number): Allowance | undefined {
  // Some vendors send 0 of 0 for what they do not limit.
  if (limit === 0 || (limit === undefined && remaining === undefined)) return undefined;
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(remaining === undefined ? {} : { remaining }),
    ...(resetMs === undefined || !(resetMs > 0) ? {} : { resetMs: Math.min(resetMs, dayMs) }),
  };
}

function openAi(headers: Headers, kind: "requests" | "tokens"): Allowance | undefined {
  return allowance(
    count(headers.get(`x-ratelimit-limit-${kind}`)),
    count(headers.get(`x-ratelimit-remaining-${kind}`)),
    durationMs(headers.get(`x-ratelimit-reset-${kind}`)),
  );
}

/** Of several windows the tightest. */
function windowed(headers: Headers, kinds: readonly string[]): Allowance | undefined {
  let tightest: Allowance | undefined;
  for (const kind of kinds) {
    const one = allowance(
      count(headers.get(`x-ratelimit-limit-${kind}`)),
      count(headers.get(`x-ratelimit-remaining-${kind}`)),
      durationMs(headers.get(`x-ratelimit-reset-${kind}`)),
    );
    if (one !== undefined && (tightest === undefined || shareOf(one) < shareOf(tightest))) tightest = one;
  }
  return tightest;
}

/** Anthropic limits tokens read, written and both: the tightest share of them is what is left of the whole. */
function anthropic(headers: Headers, now: number): RateReading | undefined {
  const read = (kind: string) => {
    const prefix = `anthropic-ratelimit-${kind}`;
    return allowance(
      count(headers.get(`${prefix}-limit`)),
      count(headers.get(`${prefix}-remaining`)),
      untilDate(headers, headers.get(`${prefix}-reset`), now),
    );
  };
  const [both, input, output] = [read("tokens"), read("input-tokens"), read("output-tokens")];
  const tightest = [both, input, output].reduce((one, other) => shareOf(other) < shareOf(one) ? other : one, both);
  const limit = both?.limit ?? ((input?.limit ?? 0) + (output?.limit ?? 0));
  const share = shareOf(tightest);
  const tokens = share === Infinity ? both : allowance(limit, Math.floor(limit * share), tightest?.resetMs);
  return reading(read("requests"), tokens);
}

/** The share that is left of a limit; Infinity when unknown. */
function shareOf(one: Allowance | undefined): number {
  return one?.limit === undefined || one.remaining === undefined ? Infinity : one.remaining / one.limit;
}

function plain(headers: Headers, { prefix, remaining, now }: { prefix: string; remaining: string; now: number }) {
  const limit = headers.get(`${prefix}-limit`)?.split(/[,;]/, 1)[0] ?? null; // "100, 100;w=60" in older drafts
  const reset = headers.get(`${prefix}-reset`);
  const value = count(reset);
  if (value === undefined) return allowance(count(limit), count(remaining), untilDate(headers, reset, now));
  // A number is a time since 1970, in ms or s, or the seconds from now.
  const at = value >= 1e11 ? value : value >= 1e9 ? value * 1000 : undefined;
  return allowance(count(limit), count(remaining), at === undefined ? value * 1000 : at - sentAt(headers, now));
}

/** `"burst";r=50;t=30, "daily";r=900;t=3600` with `"burst";q=100;w=60, …`: of requests, the tightest. */
function policies(states: string, limits: string): RateReading | undefined {
  const known = new Map(members(limits).map(({ name, values }) => [name, values]));
  let tightest: Allowance | undefined;
  for (const { name, values } of members(states)) {
    const policy = known.get(name);
    const unit = policy?.get("qu") ?? '"requests"';
    const one = allowance(
      count(policy?.get("q") ?? values.get("limit")),
      count(values.get("r") ?? values.get("remaining")),
      durationMs(values.get("t") ?? values.get("reset")),
    );
    if (unit !== '"requests"' || one === undefined) continue;
    if (tightest === undefined || shareOf(one) < shareOf(tightest)) tightest = one;
  }
  return reading(tightest);
}

/** The members of a list, each with its parameters; a member of version 07 (`limit=10, remaining=1`) is one whole. */
function members(text: string): { name: string; values: Map<string, string> }[] {
  const isOlder = /^\s*limit\s*=/.test(text);
  const parts = isOlder ? [`;${text.replaceAll(",", ";")}`] : text.split(",", 20);
  return parts.map((part) => {
    const [name = "", ...rest] = part.split(";").map((one) => one.trim());
    const pairs = rest.map((one) => [one.slice(0, one.indexOf("=")).trim(), one.slice(one.indexOf("=") + 1).trim()]);
    return { name, values: new Map(pairs as [string, string][]) };
  });
}

function count(text: string | null | undefined): number | undefined {
  if (typeof text !== "string" || !/^\s*\d{1,15}(?:\.\d{1,15})?\s*$/.test(text)) return undefined;
  return Number(text);
}

const unitMs: Readonly<Record<string, number>> = { d: dayMs, h: 3_600_000, m: 60_000, s: 1000, ms: 1, "": 1000 };

/** `6m0s`, `1m30.5s`, `88ms`, or plain seconds. */
function durationMs(text: string | null | undefined): number | undefined {
  if (typeof text !== "string" || text.length > 40) return undefined;
  const parts = /^\s*(?:\d+(?:\.\d+)?(?:ms|[dhms]))+\s*$/.test(text)
    ? [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)]
    : [...text.matchAll(/^\s*(\d+(?:\.\d+)?)()\s*$/g)];
  if (parts.length === 0) return undefined;
  return parts.reduce((sum, [, value, unit]) => sum + Number(value) * unitMs[unit!]!, 0);
}

/** Until a date as of RFC 3339, ms. */
function untilDate(headers: Headers, text: string | null, now: number): number | undefined {
  if (text === null || !/^\d{4}-\d\d-\d\d[Tt ]\d\d:/.test(text)) return undefined;
  const wait = Date.parse(text) - sentAt(headers, now);
  return Number.isNaN(wait) ? undefined : wait;
}

/** When the response was sent by its own clock, so that a wrong one on either side does not matter. */
function sentAt(headers: Headers, now: number): number {
  const sent = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(sent) ? now : sent;
}
