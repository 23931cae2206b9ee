/**
 * Classifies failures by error responses in OpenAI's shape. Connectors of other dialects convert their vendor's errors
 * first.
 * @module
 */
import type { FailureKind } from "../contracts/provider.ts";
import type { OpenAiError } from "../contracts/openai.ts";
import { isContentFilter, NetworkError, UpstreamError } from "../errors.ts";

/** Maximum number of characters of a message that are searched. */
const maxChars = 2_000;

const wordKinds: readonly (readonly [RegExp, FailureKind])[] = [
  [/insufficient_quota|billing|credit|payment_required|quota_exceeded/, "quota_exhausted"],
  [/rate_limit|too_many_requests|resource_exhausted/, "rate_limited"],
  [/invalid_api_key|authentication|unauthorized|permission|forbidden/, "auth"],
  [/model_not_found/, "model_not_found"],
  [/invalid_request|invalid_value|context_length|bad_request|request_too_large/, "request"],
];

/** Statuses that say nothing about the content, whatever the error is called. */
const ownStatuses: ReadonlySet<number> = new Set([401, 402, 404, 408, 409, 425, 429]);

/**
 * Classifies an error response by its status and its error object. An error with a success status (an `error` object in
 * a 200 response, an `error` event in a stream) is classified by its code and type.
 *
 * @param error The error object in OpenAI's shape.
 */
export function classifyFault(status: number, error: OpenAiError): FailureKind {
  const words = `${error.code ?? ""} ${error.type}`.toLowerCase();
  if (status < 300) {
    const inner = Number(error.code);
    if (Number.isInteger(inner) && inner >= 300) return classifyFault(inner, { ...error, code: null });
    return isContentFilter(error) ? "request" : wordKinds.find(([pattern]) => pattern.test(words))?.[1] ?? "server";
  }
  if (status >= 400 && status <= 500 && !ownStatuses.has(status) && isContentFilter(error)) return "request";
  if (status === 402 || (status < 500 && /insufficient_quota/.test(words))) return "quota_exhausted";
  if (status === 429) return "rate_limited";
  if (status === 401 || status === 403) return "auth";
  if (status === 410 || (status === 404 && saysModelIsMissing(words, error.message))) return "model_not_found";
  if (status === 400 && /model_not_(found|supported)|invalid_model/.test(words)) return "model_not_found";
  if (status === 400 || status === 413 || status === 422) return /invalid_api_key/.test(words) ? "auth" : "request";
  if (status === 500 && /context_length_exceeded/.test(words)) return "request";
  if (status >= 500 || status === 408 || status === 409 || status === 425 || status === 498) return "server";
  return "misconfigured";
}

function saysModelIsMissing(words: string, message: string): boolean {
  return /model_not_found/.test(words) ||
    /\bmodels?\b.{0,200}(not found|not exist|not supported|deprecated)/is.test(message.slice(0, maxChars)) ||
    (/not_found_error/.test(words) && /\bmodel\b/i.test(message));
}

/**
 * Classifies any thrown value.
 *
 * @returns `server` for an unknown error, which allows a retry and a rotation.
 */
export function classifyThrown(error: unknown): FailureKind {
  if (UpstreamError.isInstance(error)) return error.kind;
  return NetworkError.isInstance(error) ? "network" : "server";
}

/** Whether a failure of this class may be retried on the same model. */
export function isRetryableKind(kind: FailureKind): boolean {
  return kind === "network" || kind === "timeout" || kind === "server" || kind === "rate_limited" ||
    kind === "invalid_response";
}
