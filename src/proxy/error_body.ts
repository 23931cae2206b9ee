/**
 * The error table: maps errors to status, body, and retry headers.
 * @module
 */
import type { RequestErrorCode } from "../contracts/error_codes.ts";
import type { ErrorBody } from "../contracts/openai.ts";
import {
  BudgetExceededError,
  DeadlineError,
  MeshError,
  ModelNotFoundError,
  NoActiveModelError,
  ObjectNotFoundError,
  ProviderError,
  RateLimitError,
  StreamInterruptedError,
  UnsupportedRequestError,
} from "../errors.ts";
import { mayPass } from "../util/passing.ts";
import { createOverload, isOverload, isResourceLack } from "../util/resource_lack.ts";

/** Official clients ignore a longer `retry-after`, ms. */
const maxHintMs = 60_000;

interface ErrorRow {
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
}

/** An error of the proxy itself, which is not related to routing. */
export class HttpError extends Error {
  override name = "HttpError";
  readonly status: number;
  readonly type: string;
  readonly code: RequestErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly param: string | undefined;

  /**
   * @param facts Status, type, code, headers, and the parameter that it is about.
   */
  constructor(
    message: string,
    facts: {
      status: number;
      code: RequestErrorCode;
      type?: string;
      headers?: Readonly<Record<string, string>>;
      param?: string;
    },
  ) {
    super(message);
    this.status = facts.status;
    this.type = facts.type ?? "invalid_request_error";
    this.code = facts.code;
    this.headers = facts.headers ?? {};
    this.param = facts.param;
  }
}

/**
 * Returns the row of an error. An unknown error becomes a 500 that contains only the request id.
 *
 * @param requestId For the message of an unknown error.
 */
export function toErrorRow(error: unknown, requestId: string): ErrorRow {
  if (error instanceof HttpError) return createErrorRow(error, error);
  if (UnsupportedRequestError.isInstance(error)) {
    return createErrorRow(error, { status: 400, type: "invalid_request_error", param: error.param });
  }
  if (ModelNotFoundError.isInstance(error)) {
    return createErrorRow(error, { status: 404, type: "invalid_request_error", param: "model" });
  }
  if (ObjectNotFoundError.isInstance(error)) {
    return createErrorRow(error, { status: 404, type: "invalid_request_error" });
  }
  if (ProviderError.isInstance(error)) {
    const { status, type, param } = error;
    return createErrorRow(error, { status, type, param, headers: retryHeaders(error) });
  }
  return retryLaterRow(error) ?? serverErrorRow(error, requestId);
}

/** Official clients repeat a request after some failures, unless the headers say that this is pointless. */
function retryHeaders({ status, code, isFinal, attempts, retryAfterMs }: ProviderError): Record<string, string> {
  if (isFinal || status < 500) return { "x-should-retry": "false" };
  const headers = waitHeaders(retryAfterMs, false);
  if (code === "overloaded" || attempts.some(mayPass)) delete headers["x-should-retry"];
  return headers;
}

/** The rows with `retry-after`. */
function retryLaterRow(error: unknown): ErrorRow | undefined {
  if (RateLimitError.isInstance(error)) {
    const isQuota = error.code === "insufficient_quota";
    const type = isQuota ? "insufficient_quota" : "rate_limit_error";
    // a rate limit without a known end may have ended by the next try
    const isOpen = !isQuota && error.retryAfterMs === undefined;
    return createErrorRow(error, {
      status: 429,
      type,
      headers: isOpen ? {} : waitHeaders(error.retryAfterMs, isQuota),
    });
  }
  if (BudgetExceededError.isInstance(error)) {
    return createErrorRow(error, {
      status: 429,
      type: "insufficient_quota",
      headers: waitHeaders(error.retryAfterMs, true),
    });
  }
  if (NoActiveModelError.isInstance(error)) {
    return createErrorRow(error, {
      status: 503,
      type: "server_error",
      headers: waitHeaders(error.retryAfterMs, false),
    });
  }
  if (DeadlineError.isInstance(error)) return createErrorRow(error, { status: 504, type: "server_error" });
  if (MeshError.isInstance(error) && error.code === "cache_miss") {
    return createErrorRow(error, { status: 504, type: "server_error", headers: { "x-should-retry": "false" } });
  }
}

function serverErrorRow(error: unknown, requestId: string): ErrorRow {
  const type = "server_error";
  if (StreamInterruptedError.isInstance(error)) return createErrorRow(error, { status: 502, type });
  if (MeshError.isInstance(error) && (error.code === "shutting_down" || isOverload(error))) {
    return createErrorRow(error, { status: 503, type, headers: waitHeaders(1000, false) });
  }
  if (isResourceLack(error)) return serverErrorRow(createOverload(), requestId);
  const message = `Internal error; the request id is ${requestId}`;
  return createErrorRow({ message, code: "internal_error" }, { status: 500, type });
}

function createErrorRow(
  { message, code }: { readonly message: string; readonly code: string | null },
  { status, type, param = null, headers = {} }: {
    readonly status: number;
    readonly type: string;
    readonly param?: string | null | undefined;
    readonly headers?: Readonly<Record<string, string>>;
  },
): ErrorRow {
  return { status, body: { error: { message, type, param, code } }, headers };
}

/**
 * `retry-after` in integer seconds, `retry-after-ms`, and `x-should-retry: false` if a retry cannot succeed.
 *
 * @param waitMs Time to the earliest recovery, ms; undefined if unknown.
 * @param isFinal Whether no retry can succeed.
 */
export function waitHeaders(waitMs: number | undefined, isFinal: boolean): Record<string, string> {
  const headers: Record<string, string> = {};
  if (waitMs !== undefined) {
    headers["retry-after"] = String(Math.max(1, Math.ceil(waitMs / 1000)));
    headers["retry-after-ms"] = String(Math.max(1, Math.ceil(waitMs)));
  }
  if (isFinal || waitMs === undefined || waitMs > maxHintMs) headers["x-should-retry"] = "false";
  return headers;
}
