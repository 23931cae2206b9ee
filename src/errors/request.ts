/**
 * Errors of a request that is not sent to any provider, or not answered in time.
 * @module
 */
import type { ErrorCode } from "../contracts/error_codes.ts";
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
