/**
 * Gemini's errors in OpenAI's terms, and the faults found before a request leaves.
 *
 * Sources, read 2026-11-21: https://ai.google.dev/gemini-api/docs/generate-content/api-errors and /rate-limits,
 * https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto.
 * @module
 */
import type { JsonObject, OpenAiError } from "../../src/contracts/openai.ts";
import { UpstreamError } from "../../src/errors.ts";
import { asObject, asObjects, asText } from "./_gemini_wire.ts";
import { upstreamError } from "./_http.ts";
import { readOpenAiError } from "./_openai_error.ts";

/** The HTTP status of a status word, for an error that comes without a number. */
const statuses: Readonly<Record<string, number>> = {
  ABORTED: 409,
  ALREADY_EXISTS: 409,
  DATA_LOSS: 500,
  DEADLINE_EXCEEDED: 504,
  FAILED_PRECONDITION: 400,
  INTERNAL: 500,
  INVALID_ARGUMENT: 400,
  NOT_FOUND: 404,
  OUT_OF_RANGE: 400,
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
  UNAUTHENTICATED: 401,
  UNAVAILABLE: 503,
  UNKNOWN: 500,
};

/** OpenAI's class for a status word; a fault of the server for all others. */
const types: Readonly<Record<string, string>> = {
  FAILED_PRECONDITION: "invalid_request_error",
  INVALID_ARGUMENT: "invalid_request_error",
  NOT_FOUND: "invalid_request_error",
  OUT_OF_RANGE: "invalid_request_error",
  PERMISSION_DENIED: "permission_error",
  RESOURCE_EXHAUSTED: "rate_limit_error",
  UNAUTHENTICATED: "authentication_error",
};

const invalidKey = /API key (not valid|expired|not found)/i;
const spentAccount = /prepayment credits are depleted|monthly spending cap/i;
const closedRegion = /location is not supported|not available in your (country|region)/i;
const tooLong = /token count .{0,40}exceeds the maximum|exceeds the maximum number of tokens/i;
const dayMs = 86_400_000;

/**
 * The error object of a response.
 *
 * @param body The parsed body: `{error: {code, message, status, details}}`, bare or as a list of one.
 * @param status The HTTP status, for the message of last resort.
 */
export function readGeminiError(body: unknown, status: number): OpenAiError {
  const error = errorIn(body);
  const word = asText(error?.status);
  if (error === undefined || word === undefined) return readOpenAiError(Array.isArray(body) ? body[0] : body, status);
  const message = asText(error.message) ?? `HTTP status ${status}`;
  const code = codeOf(word, message, error);
  return { message, type: typeOf(word, code), param: fieldOf(error), code };
}

/**
 * The wait an error asks for. A spent daily quota comes back at midnight Pacific time, whatever its `retryDelay`
 * says. It belongs to one model of the project, so it is a rate limit of that model: as an exhausted account it
 * would take the models that still have quota out of service.
 *
 * @param body The parsed body.
 * @param now Wall clock, ms.
 * @returns The wait in ms; undefined when none is named.
 */
export function readGeminiWait(body: unknown, now: number): number | undefined {
  const details = asObjects(errorIn(body)?.details);
  const waits = details.flatMap(({ retryDelay }) => {
    const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(asText(retryDelay) ?? "") ?? [];
    return seconds === undefined ? [] : [Math.ceil(Number(seconds) * 1000)];
  });
  const quotas = details.flatMap(({ violations }) => asObjects(violations));
  if (quotas.some(({ quotaId }) => asText(quotaId)?.includes("PerDay"))) waits.push(untilPacificMidnight(now));
  const wait = Math.max(0, ...waits);
  return wait > 0 ? wait : undefined;
}

/**
 * The error inside a response that began well, under the status it names itself.
 *
 * @param body The parsed body, or an event of a stream.
 * @param now Wall clock, ms.
 * @returns Undefined when there is none.
 */
export function faultInside(body: unknown, now: number): UpstreamError | undefined {
  const error = errorIn(body);
  if (error === undefined) return undefined;
  const named = Number.isInteger(error.code) ? error.code as number : statuses[asText(error.status) ?? ""];
  const status = named !== undefined && named >= 300 ? named : 200;
  const wait = readGeminiWait(body, now);
  const hints = wait === undefined ? {} : { retryAfterMs: wait };
  return withOwnKind(upstreamError(status, readGeminiError(body, status), hints));
}

/**
 * A region the account may not be used from is refused with a 400, which by its status alone would be the
 * request's fault.
 *
 * @param error An error response, classed by its status.
 */
export function withOwnKind(error: UpstreamError): UpstreamError {
  const { fault, shouldRetry } = error;
  if (fault?.error.code !== "unsupported_country_region_territory") return error;
  const hint = shouldRetry === undefined ? {} : { shouldRetry };
  return new UpstreamError(error.message, { kind: "auth", fault, ...hint });
}

/**
 * A fault of the request that is known before it is sent: the Gemini API has no words for it.
 *
 * @param message What it cannot say, and what it can.
 * @param param The request's field at fault.
 */
export function requestFault(message: string, param: string): UpstreamError {
  return new UpstreamError(message, {
    kind: "request",
    fault: { status: 400, error: { message, type: "invalid_request_error", param, code: "invalid_value" } },
  });
}

function errorIn(body: unknown): JsonObject | undefined {
  return asObject(asObject(Array.isArray(body) ? body[0] : body)?.error);
}

function codeOf(word: string, message: string, error: JsonObject): string {
  const reasons = asObjects(error.details).map(({ reason }) => reason);
  if (reasons.includes("API_KEY_INVALID") || invalidKey.test(message)) return "invalid_api_key";
  if (word === "RESOURCE_EXHAUSTED") return spentAccount.test(message) ? "insufficient_quota" : "rate_limit_exceeded";
  if (word === "NOT_FOUND" && /\bmodels?\b/i.test(message)) return "model_not_found";
  if (word === "FAILED_PRECONDITION" && closedRegion.test(message)) return "unsupported_country_region_territory";
  if (word === "INVALID_ARGUMENT" && tooLong.test(message)) return "context_length_exceeded";
  return word.toLowerCase();
}

function typeOf(word: string, code: string): string {
  if (code === "invalid_api_key") return "authentication_error";
  if (code === "insufficient_quota") return code;
  if (code === "unsupported_country_region_territory") return "permission_error";
  return types[word] ?? "server_error";
}

function fieldOf({ details }: JsonObject): string | null {
  const fields = asObjects(details).flatMap(({ fieldViolations }) => asObjects(fieldViolations));
  return fields.flatMap(({ field }) => asText(field) ?? [])[0] ?? null;
}

/** On the two days a year that have no 24 hours this is an hour off, which costs a refused request at most. */
function untilPacificMidnight(now: number): number {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: "America/Los_Angeles",
    hourCycle: "h23",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  }).formatToParts(now);
  const read = (wanted: string) => Number(parts.find(({ type }) => type === wanted)?.value ?? 0);
  return dayMs - ((read("hour") * 60 + read("minute")) * 60 + read("second")) * 1000;
}
