/**
 * Maps Bedrock's errors to OpenAI's.
 *
 * Source: https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html and the errors of
 * API_runtime_Converse.html, read 2026-11-22.
 * @module
 */
import type { OpenAiError } from "../../src/contracts/openai.ts";
import type { FailureKind } from "../../src/contracts/provider.ts";
import { UpstreamError } from "../../src/errors.ts";
import { upstreamError } from "./_http.ts";
import { readOpenAiError } from "./_openai_error.ts";

/** The OpenAI error that an exception maps to. */
interface Meaning {
  /** HTTP status of the exception; stream events have none. */
  readonly status: number;
  /** OpenAI's error type. */
  readonly type: string;
  /** OpenAI's error code. */
  readonly code?: string;
  /** Failure kind, if the status alone would be misleading. */
  readonly kind?: FailureKind;
}

const refused: Meaning = { status: 403, type: "authentication_error", code: "invalid_api_key", kind: "auth" };
const broke: Meaning = { status: 424, type: "server_error", kind: "server" };
const missing: Meaning = {
  status: 404,
  type: "invalid_request_error",
  code: "model_not_found",
  kind: "model_not_found",
};

/** Keys are exception names in lower case, without `Exception`. */
const meanings: Readonly<Record<string, Meaning>> = {
  accessdenied: { status: 403, type: "permission_error" },
  expiredtoken: refused,
  ftuformnotfilled: missing,
  incompletesignature: refused,
  internalfailure: { status: 500, type: "server_error" },
  internalserver: { status: 500, type: "server_error" },
  invalidclienttokenid: refused,
  invalidsignature: refused,
  missingauthenticationtoken: refused,
  modelerror: broke,
  modelnotready: { status: 429, type: "server_error", kind: "server" },
  modelstreamerror: broke,
  modeltimeout: { status: 408, type: "server_error" },
  notauthorized: refused,
  requestexpired: refused,
  resourcenotfound: missing,
  servicequotaexceeded: { status: 400, type: "rate_limit_error", code: "rate_limit_exceeded", kind: "rate_limited" },
  serviceunavailable: { status: 503, type: "server_error" },
  throttling: { status: 429, type: "rate_limit_error", code: "rate_limit_exceeded" },
  unrecognizedclient: refused,
  validation: { status: 400, type: "invalid_request_error" },
};

/** Validation errors that concern the model rather than the request. */
const noSuchModel =
  /model identifier is invalid|on-demand throughput isn.t supported|end of its life|access to the model/i;
const tooLong = /input is too long|exceeds? .{0,40}(context|maximum number of tokens)|too many input tokens/i;

/**
 * Parses the error of a response.
 *
 * @param name The exception name: the header `x-amzn-errortype`, if present.
 * @param body The parsed body: `{message}`.
 * @param status HTTP status, for the fallback message.
 */
export function readBedrockError(name: string, body: unknown, status: number): OpenAiError {
  const { message, Message } = Object(body) as { message?: unknown; Message?: unknown };
  const fault = readOpenAiError({ message: message ?? Message }, status);
  const meaning = findMeaning(name, fault.message);
  const code = meaning?.code ?? (tooLong.test(fault.message) ? "context_length_exceeded" : fault.code);
  return { ...fault, type: meaning?.type ?? "", code };
}

/**
 * Reclassifies an error by its exception name if the status alone is misleading.
 *
 * @param name The exception name.
 * @param error The error, classified by status.
 */
export function reclassify(name: string, error: UpstreamError): UpstreamError {
  const { fault, shouldRetry, message } = error;
  const kind = findMeaning(name, fault?.error.message ?? "")?.kind;
  if (kind === undefined || fault === undefined) return error;
  return new UpstreamError(message, { kind, fault, ...(shouldRetry === undefined ? {} : { shouldRetry }) });
}

/**
 * The error of a stream exception.
 *
 * @param name The exception name, such as `throttlingException`.
 * @param body Its parsed payload.
 */
export function exceptionFault(name: string, body: unknown): UpstreamError {
  const status = meanings[toExceptionKey(name)]?.status ?? 500;
  return reclassify(name, upstreamError(status, readBedrockError(name, body, status)));
}

function findMeaning(name: string, message: string): Meaning | undefined {
  const meaning = meanings[toExceptionKey(name)];
  const isOfModel = meaning?.status === 400 || meaning?.status === 403;
  return isOfModel && noSuchModel.test(message) ? { ...missing, status: meaning.status } : meaning;
}

/** `ThrottlingException:http://…` and `com.amazon.coral.service#ThrottlingException` are the same exception. */
function toExceptionKey(name: string): string {
  return name.split(":", 1)[0]!.split("#").at(-1)!.replace(/(Exception|Error)$/, "").toLowerCase();
}
