/**
 * Maps Gemini's errors to OpenAI's, and creates errors for requests that are rejected before they are sent.
 *
 * Sources, read 2026-11-21: https://ai.google.dev/gemini-api/docs/generate-content/api-errors and /rate-limits,
 * https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto.
 * @module
 */
import type { JsonObject, OpenAiError } from "../../src/contracts/openai.ts";
import { UpstreamError } from "../../src/errors.ts";
import type { RetryHint } from "../../src/util/retry_after.ts";
import { dayMs } from "../../src/util/windows.ts";
import { asObject, asObjects, asText } from "./_gemini_wire.ts";
import { upstreamError } from "./_http.ts";
import { readOpenAiError, saysFiltered } from "./_openai_error.ts";
import { findOwn } from "../../src/util/entries.ts";

/** HTTP status by gRPC status name, for errors without a code. */
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

/** OpenAI's error type by gRPC status name; a server error for all others. */
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

/**
 * Parses the error of a response.
 *
 * @param body The parsed body: `{error: {code, message, status, details}}`, alone or as an array of one.
 * @param status HTTP status, for the fallback message.
 */
export function readGeminiError(body: unknown, status: number): OpenAiError {
  const error = errorIn(body);
  const word = asText(error?.status);
  if (error === undefined || word === undefined) return readOpenAiError(Array.isArray(body) ? body[0] : body, status);
  const message = asText(error.message) ?? `HTTP status ${status}`;
  const code = toFaultCode(word, message, error);
  return { message, type: toFaultType(word, code), param: findFaultField(error), code };
}

/**
 * The requested retry delay, and its date if that is the reset of a daily quota.
 *
 * @param body The parsed body.
 * @param now Wall-clock time, ms since the Unix epoch.
 * @returns Undefined if none is specified.
 */
export function readGeminiHint(body: unknown, now: number): RetryHint | undefined {
  const retryAfterMs = readGeminiWait(body, now);
  if (retryAfterMs === undefined) return undefined;
  return { retryAfterMs, ...(isDailyQuota(body) && { retryAt: now + retryAfterMs }) };
}

/**
 * The requested retry delay. An exhausted daily quota resets at midnight Pacific time, whatever its `retryDelay` says.
 * The quota belongs to one model of the project, so it counts as a rate limit of that model: classified as an exhausted
 * account, it would also disable models with remaining quota.
 *
 * @param body The parsed body.
 * @param now Wall-clock time, ms since the Unix epoch.
 * @returns The delay, ms; undefined if none is specified.
 */
export function readGeminiWait(body: unknown, now: number): number | undefined {
  const details = asObjects(errorIn(body)?.details);
  const waits = details.flatMap(({ retryDelay }) => {
    const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(asText(retryDelay) ?? "") ?? [];
    return seconds === undefined ? [] : [Math.ceil(Number(seconds) * 1000)];
  });
  if (isDailyQuota(body)) waits.push(untilPacificMidnight(now));
  const wait = waits.reduce((longest, wait) => Math.max(longest, wait), 0);
  return wait > 0 ? wait : undefined;
}

/**
 * The error in a response with a success status, classified by the status that it contains.
 *
 * @param body The parsed body, or an event of a stream.
 * @param now Wall-clock time, ms since the Unix epoch.
 * @returns Undefined if there is none.
 */
export function faultInside(body: unknown, now: number): UpstreamError | undefined {
  const error = errorIn(body);
  if (error === undefined) return undefined;
  const named = Number.isInteger(error.code) ? error.code as number : statuses[asText(error.status) ?? ""];
  const status = named !== undefined && named >= 300 ? named : 200;
  return withOwnKind(upstreamError(status, readGeminiError(body, status), readGeminiHint(body, now)));
}

/**
 * Reclassifies the 400 for an unsupported region, which by its status alone would count as an invalid request.
 *
 * @param error An error response, classified by status.
 */
export function withOwnKind(error: UpstreamError): UpstreamError {
  const { fault, shouldRetry } = error;
  if (fault?.error.code !== "unsupported_country_region_territory") return error;
  const hint = shouldRetry === undefined ? {} : { shouldRetry };
  return new UpstreamError(error.message, { kind: "auth", fault, ...hint });
}

/**
 * An error for a request that the Gemini API cannot express, raised before it is sent.
 *
 * @param message What is not supported, and what is.
 * @param param The invalid request parameter.
 */
export function createRequestFault(message: string, param: string): UpstreamError {
  return new UpstreamError(message, {
    kind: "request",
    fault: { status: 400, error: { message, type: "invalid_request_error", param, code: "invalid_value" } },
  });
}

/** Whether a daily quota is exhausted. */
function isDailyQuota(body: unknown): boolean {
  const quotas = asObjects(errorIn(body)?.details).flatMap(({ violations }) => asObjects(violations));
  return quotas.some(({ quotaId }) => asText(quotaId)?.includes("PerDay"));
}

function errorIn(body: unknown): JsonObject | undefined {
  return asObject(asObject(Array.isArray(body) ? body[0] : body)?.error);
}

function toFaultCode(word: string, message: string, error: JsonObject): string {
  const reasons = asObjects(error.details).map(({ reason }) => reason);
  if (reasons.includes("API_KEY_INVALID") || invalidKey.test(message)) return "invalid_api_key";
  if (word === "RESOURCE_EXHAUSTED") return spentAccount.test(message) ? "insufficient_quota" : "rate_limit_exceeded";
  if (word === "NOT_FOUND" && /\bmodels?\b/i.test(message)) return "model_not_found";
  if (word === "FAILED_PRECONDITION" && closedRegion.test(message)) return "unsupported_country_region_territory";
  if (word === "INVALID_ARGUMENT" && tooLong.test(message)) return "context_length_exceeded";
  if ((statuses[word] ?? 0) < 404 && saysFiltered(400, message)) return "content_filter";
  return word.toLowerCase();
}

function toFaultType(word: string, code: string): string {
  if (code === "invalid_api_key") return "authentication_error";
  if (code === "insufficient_quota") return code;
  if (code === "unsupported_country_region_territory") return "permission_error";
  return findOwn(types, word) ?? "server_error";
}

function findFaultField({ details }: JsonObject): string | null {
  const fields = asObjects(details).flatMap(({ fieldViolations }) => asObjects(fieldViolations));
  return fields.flatMap(({ field }) => asText(field) ?? [])[0] ?? null;
}

/** Off by an hour on the two days a year without 24 hours, which at worst costs one rejected request. */
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
