/**
 * Errors of requests, providers, the network and connectors.
 * @module
 */
import type { AnyErrorCode, ErrorCode } from "../contracts/error_codes.ts";
import type { OpenAiError } from "../contracts/openai.ts";
import type { FailureKind, ProviderFault } from "../contracts/provider.ts";
import { MeshError } from "./base.ts";

/** The `model` of a request is unknown: no pool, alias, capability or model has this name. */
export class ModelNotFoundError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "ModelNotFoundError";

  /**
   * Creates the error.
   *
   * @param message The unknown name, and the nearest known ones.
   */
  constructor(message: string) {
    super(message, { code: "model_not_found" });
  }
}

/**
 * A file, batch or fine-tuning job does not exist, belongs to another caller, or its provider is no longer configured.
 */
export class ObjectNotFoundError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "ObjectNotFoundError";

  /**
   * Creates the error.
   *
   * @param message Which object was not found, and why.
   */
  constructor(message: string) {
    super(message, { code: "not_found" });
  }
}

/** The request is malformed, or no model of its pool supports it. */
export class UnsupportedRequestError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "UnsupportedRequestError";
  /** The request field at fault. */
  declare readonly param: string | null;

  /**
   * Creates the error.
   *
   * @param message What is wrong, and what is allowed.
   * @param options Error code, and the field at fault.
   */
  constructor(message: string, options: { code: ErrorCode; param?: string }) {
    super(message, { code: options.code }, { param: options.param ?? null });
  }
}

/** Every model that could serve the request is in standby. */
export class NoActiveModelError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "NoActiveModelError";
  /** Time until the earliest recovery, ms; undefined when none is scheduled. */
  declare readonly retryAfterMs?: number;
  /** Why each model is in standby, by model name. */
  declare readonly reasons: Readonly<Record<string, string>>;

  /**
   * Creates the error.
   *
   * @param message Which models are in standby, and until when.
   * @param facts Time until the earliest recovery, and the reason of each standby.
   */
  constructor(message: string, facts: { retryAfterMs?: number; reasons: Readonly<Record<string, string>> }) {
    super(message, { code: "no_active_model" }, facts);
  }
}

/** Every budget that could pay for the request is exhausted. */
export class BudgetExceededError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "BudgetExceededError";
  /** Time until the next budget window, ms. */
  declare readonly retryAfterMs?: number;

  /**
   * Creates the error.
   *
   * @param message Which budgets are exhausted, and when their windows end.
   * @param retryAfterMs Time until the next budget window, ms.
   */
  constructor(message: string, retryAfterMs?: number) {
    super(message, { code: "budget_exceeded" }, { retryAfterMs });
  }
}

/** Every candidate is rate-limited (`rate_limit_exceeded`), or its quota is exhausted (`insufficient_quota`). */
export class RateLimitError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "RateLimitError";
  /** Time until a candidate accepts requests again, ms; undefined when unknown. */
  declare readonly retryAfterMs?: number;

  /**
   * Creates the error.
   *
   * @param message Which models are limited, and until when.
   * @param facts Error code, and the time until a candidate accepts requests again, ms.
   */
  constructor(message: string, facts: { code: "rate_limit_exceeded" | "insufficient_quota"; retryAfterMs?: number }) {
    super(message, facts, facts);
  }
}

/** The request's deadline passed before a response began. */
export class DeadlineError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "DeadlineError";

  /**
   * Creates the error.
   *
   * @param message What timed out, and after how long.
   */
  constructor(message: string) {
    super(message, { code: "timeout" });
  }
}

/** A failed attempt: one call to one model. */
export interface FailedAttempt {
  /** Name of the model. */
  readonly model: string;
  /** Id of its provider in the configuration. */
  readonly provider: string;
  /** Class of the failure. */
  readonly kind: FailureKind;
  /** HTTP status, if a response was received. */
  readonly status?: number;
}

/** Members of a {@linkcode ProviderError}. */
export interface ProviderErrorFacts {
  /** `all_attempts_failed`, `overloaded`, `upstream_auth_error`, or the provider's own code. */
  code: AnyErrorCode;
  /** HTTP status of the proxy's response: the provider's own for a client error, 503 for an overload, else 502. */
  status: number;
  /** OpenAI's error type, such as `invalid_request_error`. */
  type: string;
  /** The request field at fault, if the provider named one. */
  param?: string | null;
  /** Id of the provider that responded, or that was tried last. */
  provider?: string;
  /** Name of the model that responded, or that was tried last. */
  model?: string;
  /** Every failed attempt, in order. */
  attempts: readonly FailedAttempt[];
  /** Time until another request may succeed, ms, if known. */
  retryAfterMs?: number | undefined;
  /** Whether the request must not be repeated: it may have been carried out, or its content was refused. */
  isFinal?: boolean;
}

/** Every attempt has failed, or a provider has rejected the request. */
export class ProviderError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "ProviderError";
  /** HTTP status of the proxy's response. */
  declare readonly status: number;
  /** OpenAI's error type, such as `invalid_request_error`. */
  declare readonly type: string;
  /** The request field at fault, if the provider named one. */
  declare readonly param: string | null;
  /** Id of the provider that responded, or that was tried last. */
  declare readonly provider?: string;
  /** Name of the model that responded, or that was tried last. */
  declare readonly model?: string;
  /** Every failed attempt, in order. */
  declare readonly attempts: readonly FailedAttempt[];
  /** Time until another request may succeed, ms, if known. */
  declare readonly retryAfterMs?: number;
  /** Whether the request must not be repeated: it may have been carried out, or its content was refused. */
  declare readonly isFinal?: boolean;

  /**
   * Creates the error.
   *
   * @param message What failed.
   * @param facts Code, status and attempts.
   */
  constructor(message: string, facts: ProviderErrorFacts) {
    super(message, facts, { ...facts, param: facts.param ?? null });
  }
}

/**
 * A stream was interrupted after its first content. It is not retried, since the client already has part of the
 * response.
 */
export class StreamInterruptedError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "StreamInterruptedError";
  /** Text received before the interruption. */
  declare readonly partialText: string;
  /** Whether the provider was overloaded. */
  declare readonly isOverload: boolean;

  /**
   * Creates the error.
   *
   * @param message What failed.
   * @param partialText Text received before the interruption.
   * @param facts Whether the provider was overloaded; false by default.
   */
  constructor(message: string, partialText: string, { isOverload = false }: { readonly isOverload?: boolean } = {}) {
    super(message, { code: "stream_interrupted" }, { partialText, isOverload });
  }
}

/**
 * Problems of a storage or secret store that a program can handle: the system or the browser denies access; the storage
 * is full; a record is damaged or foreign; another owner holds the lock; the store is unavailable.
 */
export type ConnectorProblem = "forbidden" | "full" | "unreadable" | "locked" | "unavailable";

/** A connector broke its contract, could not be created, or failed. */
export class ConnectorError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "ConnectorError";
  /** Class of the problem, for programs that handle it. */
  declare readonly problem?: ConnectorProblem;

  /**
   * Creates the error.
   *
   * @param message Which connector failed, and how.
   * @param cause The error that the connector threw.
   * @param problem Class of the problem, for programs that handle it.
   */
  constructor(message: string, cause?: unknown, problem?: ConnectorProblem) {
    super(message, { cause }, { problem });
  }
}

/**
 * A connection failed or broke off. Thrown by the runtime port. The message contains neither URL nor headers, which the
 * messages of runtimes may quote.
 */
export class NetworkError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "NetworkError";
  /** Whether the request was certainly not sent, so that a retry is safe. */
  declare readonly neverSent: boolean;

  /**
   * Creates the error.
   *
   * @param message What failed, without quoting the runtime's message.
   * @param facts Whether the request was certainly not sent.
   */
  constructor(message: string, facts: { neverSent: boolean }) {
    super(message, { code: "network_error" }, facts);
  }
}

/**
 * An error response of a provider, as its connector classified it. Connectors throw it; the engine decides on retry and
 * rotation.
 */
export class UpstreamError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "UpstreamError";
  /** Class of the failure. */
  declare readonly kind: FailureKind;
  /** HTTP status and OpenAI-shaped error, if the provider sent them. */
  declare readonly fault?: ProviderFault;
  /** Whether the provider recommends a retry (`x-should-retry`), if it says. */
  declare readonly shouldRetry?: boolean;

  /**
   * Creates the error.
   *
   * @param message What failed.
   * @param facts Class of the failure, and the provider's response.
   */
  constructor(message: string, facts: { kind: FailureKind; fault?: ProviderFault; shouldRetry?: boolean }) {
    super(message, { code: "upstream_error" }, facts);
  }
}

/** What codes and types of refused content contain. */
const contentFilter =
  /content_?(?:policy|filter|moderation|safety)|moderation_(?:blocked|failed)|policy_violation|responsible_?ai|data_?inspection_?failed|guardrail|prohibited_content/;

/** Whether a provider has refused a request because of its content, or a response because of what it contains. */
export function isContentFilter({ code, type }: Pick<OpenAiError, "code" | "type">): boolean {
  return contentFilter.test(`${code ?? ""} ${type}`.toLowerCase());
}
