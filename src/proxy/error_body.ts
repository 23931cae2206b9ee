/**
 * The error table: from a thrown error to a status, a body and the headers that say whether to retry.
 * @module
 */
import type { ErrorBody } from "../contracts/openai.ts";
import {
  BudgetExceededError,
  DeadlineError,
  MeshError,
  ModelNotFoundError,
  NoActiveModelError,
  ProviderError,
  RateLimitError,
  StreamInterruptedError,
  UnsupportedRequestError,
} from "../errors.ts";

/** The official clients ignore a longer `retry-after`, ms. */
const maxHintMs = 60_000;

/** One row of the table. */
export interface ErrorRow {
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;
}

/** An error of the proxy itself: the rows that have nothing to do with routing. */
export class HttpError extends Error {
  override name = "HttpError";
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  /**
   * @param message What is wrong, and what to do.
   * @param facts Its row.
   */
  constructor(
    message: string,
    facts: { status: number; code: string; type?: string; headers?: Readonly<Record<string, string>> },
  ) {
    super(message);
    this.status = facts.status;
    this.type = facts.type ?? "invalid_request_error";
    this.code = facts.code;
    this.headers = facts.headers ?? {};
  }
}

/**
 * The row of an error.
 *
 * @param error Anything that was thrown.
 * @param requestId For the message of an unexpected error.
 */
export function errorRowOf(error: unknown, requestId: string): ErrorRow {
  if (error instanceof HttpError) {
    return answer(error.status, error.type, error.code, error.message, { headers: error.headers });
  }
  if (UnsupportedRequestError.isInstance(error)) {
    return answer(400, "invalid_request_error", error.code, error.message, { param: error.param });
  }
  if (ModelNotFoundError.isInstance(error)) {
    return answer(404, "invalid_request_error", error.code, error.message, { param: "model" });
  }
  if (ProviderError.isInstance(error)) {
    const headers: Record<string, string> = error.status >= 500 ? { "x-should-retry": "false" } : {};
    return answer(error.status, error.type, error.code, error.message, { param: error.param, headers });
  }
  return retryLaterRow(error) ?? serverErrorRow(error, requestId);
}

/** The rows with `retry-after`. */
function retryLaterRow(error: unknown): ErrorRow | undefined {
  if (RateLimitError.isInstance(error)) {
    const isQuota = error.code === "insufficient_quota";
    const type = isQuota ? "insufficient_quota" : "rate_limit_error";
    return answer(429, type, error.code, error.message, { headers: waitHeaders(error.retryAfterMs, isQuota) });
  }
  if (BudgetExceededError.isInstance(error)) {
    return answer(429, "insufficient_quota", error.code, error.message, {
      headers: waitHeaders(error.retryAfterMs, true),
    });
  }
  if (NoActiveModelError.isInstance(error)) {
    return answer(503, "server_error", error.code, error.message, { headers: waitHeaders(error.retryAfterMs, false) });
  }
  if (DeadlineError.isInstance(error)) return answer(504, "server_error", error.code, error.message);
}

function serverErrorRow(error: unknown, requestId: string): ErrorRow {
  if (StreamInterruptedError.isInstance(error)) {
    return answer(502, "server_error", error.code, error.message);
  }
  if (MeshError.isInstance(error) && error.code === "shutting_down") {
    return answer(503, "server_error", error.code, error.message, { headers: waitHeaders(1000, false) });
  }
  return answer(500, "server_error", "internal_error", `Internal error; the request id is ${requestId}`);
}

function answer(
  status: number,
  type: string,
  code: string,
  message: string,
  { param = null, headers = {} }: { param?: string | null; headers?: Readonly<Record<string, string>> } = {},
): ErrorRow {
  return { status, body: { error: { message, type, param, code } }, headers };
}

/**
 * `retry-after` in whole seconds, `retry-after-ms`, and `x-should-retry: false` where a retry would be in vain.
 *
 * @param waitMs Time to the soonest recovery, ms; undefined when none is known.
 * @param isFinal Whether a retry is in vain after any wait.
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
