/**
 * Providers with error responses, as tables: behaviour, outcome in the records, state of the model afterwards.
 * @module
 */
import { type Behaviour, cutAt, type ResponseHeaders, status } from "./upstream.ts";

/** Error for the client when there is no other model. */
export interface Alone {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  /** Values of `retry-after` and `retry-after-ms`. */
  readonly wait?: string;
  /** Number of calls, if it differs. */
  readonly calls?: number;
  /** Whether the client may retry; false by default. */
  readonly mayRetry?: true;
}

/** A kind of failure. */
interface FailingRow {
  readonly name: string;
  readonly behaviour: Behaviour;
  /** Number of calls while another provider is up. */
  readonly calls: number;
  /** Outcome in the records. */
  readonly outcome: string;
  /** State of its model after one such request, in a pool where one failure deactivates. */
  readonly state: string;
  readonly alone: Alone;
}

/** Error when all attempts have failed. */
export const failed: Alone = { status: 502, type: "server_error", code: "all_attempts_failed" };
const mayPass = { wait: "60 60000", mayRetry: true } as const;
const passing: Alone = { ...failed, ...mayPass };
const overloaded: Alone = { status: 503, type: "server_error", code: "overloaded", ...mayPass };
const refused: Alone = { status: 502, type: "server_error", code: "upstream_auth_error" };
const noQuota: Alone = { status: 429, type: "insufficient_quota", code: "insufficient_quota", wait: "21600 21600000" };
/** Error for a rate limit without `Retry-After`. */
export const limited: Alone = { status: 429, type: "rate_limit_error", code: "rate_limit_exceeded" };
const limitedFor = (seconds: number, calls: number): Alone => {
  const long = seconds > 60 ? {} : { mayRetry: true as const };
  return { ...limited, calls, wait: `${Math.ceil(seconds)} ${seconds * 1000}`, ...long };
};

/** State after as many failures as the pool allows. */
export const tripped = "retry_limit for 60s";
const hinted = (headers: ResponseHeaders) => status(429, { headers });
const tomorrow = "quota_exhausted for 21600s";
const server = { calls: 3, outcome: "server", state: tripped, alone: failed };
const auth = { calls: 1, outcome: "auth", state: tripped, alone: refused };
const quota = { calls: 1, outcome: "quota_exhausted", state: tomorrow, alone: noQuota };
const misconfigured = { calls: 1, outcome: "misconfigured", state: tripped, alone: failed };
const missing = { calls: 1, outcome: "model_not_found", state: "model_not_found for 60s", alone: failed };
const unhinted = { calls: 3, outcome: "rate_limited", state: tripped, alone: limitedFor(60, 3) };
const restsFor = (seconds: number, calls = 1, callsAlone = calls) => ({
  calls,
  outcome: "rate_limited",
  state: `rate_limited for ${seconds}s`,
  alone: limitedFor(seconds, callsAlone),
});

/** Error statuses. */
export const failingStatuses: readonly FailingRow[] = [
  { name: "429 with no hint", behaviour: status(429), ...unhinted },
  { name: "429 with Retry-After beyond the back-off", behaviour: hinted({ "retry-after": "2" }), ...restsFor(2, 1, 3) },
  { name: "429 with Retry-After beyond max_delay", behaviour: hinted({ "retry-after": "30" }), ...restsFor(30) },
  { name: "429 with Retry-After over a minute", behaviour: hinted({ "retry-after": "61" }), ...restsFor(61) },
  { name: "429 with Retry-After of days", behaviour: hinted({ "retry-after": "200000" }), ...restsFor(86_400) },
  { name: "429 with a short retry-after-ms", behaviour: hinted({ "retry-after-ms": "400" }), ...restsFor(0.4, 3) },
  {
    name: "429 with retry-after-ms beside Retry-After",
    behaviour: hinted({ "retry-after": "7", "retry-after-ms": "30500" }),
    ...restsFor(30.5),
  },
  {
    name: "429 with a date",
    behaviour: hinted({ "retry-after": "Thu, 01 Jan 2026 18:00:40 GMT" }),
    ...restsFor(40),
  },
  {
    name: "429 with a date after its own Date",
    behaviour: hinted({ date: "Sun, 07 Jun 2020 00:00:00 GMT", "retry-after": "Sun, 07 Jun 2020 00:00:50 GMT" }),
    ...restsFor(50),
  },
  { name: "429 with a past date", behaviour: hinted({ "retry-after": "Thu, 01 Jan 2015 00:00:00 GMT" }), ...unhinted },
  { name: "429 with words for a hint", behaviour: hinted({ "retry-after": "soon" }), ...unhinted },
  { name: "429 with a negative hint", behaviour: hinted({ "retry-after": "-5" }), ...unhinted },
  { name: "429 with a hint of 0", behaviour: hinted({ "retry-after": "0" }), ...unhinted },
  { name: "429 with two hints", behaviour: hinted([["retry-after", "30"], ["retry-after", "40"]]), ...unhinted },
  { name: "429 with an endless hint", behaviour: hinted({ "retry-after": "9".repeat(400) }), ...unhinted },
  {
    name: "429 with a hint and a body that breaks off",
    behaviour: cutAt(hinted({ "retry-after": "30" }), "headers"),
    ...restsFor(30),
  },
  { name: "429 insufficient_quota", behaviour: status(429, { error: { code: "insufficient_quota" } }), ...quota },
  { name: "402", behaviour: status(402), ...quota },
  { name: "402 with words for a body", behaviour: status(402, { text: "Payment required" }), ...quota },
  { name: "408", behaviour: status(408), ...server, alone: passing },
  { name: "409", behaviour: status(409), ...server },
  { name: "425", behaviour: status(425), ...server, alone: passing },
  { name: "500", behaviour: status(500), ...server },
  { name: "500 with a web page", behaviour: status(500, { text: "<html>Oops</html>" }), ...server },
  { name: "500 with nothing", behaviour: status(500, { text: "" }), ...server },
  { name: "500 with a body without end", behaviour: status(500, { text: "x".repeat(200_000) }), ...server },
  { name: "501", behaviour: status(501), ...server },
  { name: "502", behaviour: status(502), ...server },
  { name: "503", behaviour: status(503), ...server, alone: overloaded },
  { name: "504", behaviour: status(504), ...server, alone: passing },
  { name: "529", behaviour: status(529), ...server, alone: overloaded },
  ...[502, 503, 529].map((code) => ({
    name: `${code} with Retry-After`,
    behaviour: status(code, { headers: { "retry-after": "30" } }),
    calls: 1,
    outcome: "server",
    state: "rate_limited for 30s",
    alone: { ...code === 502 ? failed : overloaded, wait: "30 30000", mayRetry: true as const },
  })),
  { name: "401", behaviour: status(401), ...auth },
  { name: "403", behaviour: status(403), ...auth },
  { name: "404", behaviour: status(404), ...misconfigured },
  { name: "404 with a web page", behaviour: status(404, { text: "<html>Not here</html>" }), ...misconfigured },
  { name: "404 model_not_found", behaviour: status(404, { error: { code: "model_not_found" } }), ...missing },
  {
    name: "404 of a model that does not exist",
    behaviour: status(404, { error: { message: "The model `x` does not exist or you do not have access to it." } }),
    ...missing,
  },
  ...[405, 415, 451].map((code) => ({ name: String(code), behaviour: status(code), ...misconfigured })),
  { name: "304", behaviour: status(304), ...misconfigured },
];
