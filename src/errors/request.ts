/**
 * Errors of a request that no provider is to blame for.
 * @module
 */
import type { ErrorCode } from "../contracts/error_codes.ts";
import { MeshError } from "./base.ts";

/** The name a request gave is unknown: no pool, alias, capability or model. */
export class ModelNotFoundError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "ModelNotFoundError";

  /**
   * Makes the error.
   *
   * @param message The name, and the nearest ones.
   */
  constructor(message: string) {
    super(message, { code: "model_not_found" });
  }
}

/** There is no file, batch or fine-tuning job of this id, or not for this caller, or its provider is gone. */
export class ObjectNotFoundError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "ObjectNotFoundError";

  /**
   * Makes the error.
   *
   * @param message What there is not, and why.
   */
  constructor(message: string) {
    super(message, { code: "not_found" });
  }
}

/** The request is malformed, or no model of its pool can do what it asks for. */
export class UnsupportedRequestError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "UnsupportedRequestError";
  /** The request's field at fault. */
  declare readonly param: string | null;

  /**
   * Makes the error.
   *
   * @param message What is wrong and what is allowed.
   * @param options The condition and the field at fault.
   */
  constructor(message: string, options: { code: ErrorCode; param?: string }) {
    super(message, { code: options.code }, { param: options.param ?? null });
  }
}

/** Every model that could serve the request is in standby. */
export class NoActiveModelError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "NoActiveModelError";
  /** Time to the soonest recovery, ms; undefined when none is scheduled. */
  declare readonly retryAfterMs?: number;
  /** Why each model is in standby, by model name. */
  declare readonly reasons: Readonly<Record<string, string>>;

  /**
   * Makes the error.
   *
   * @param message Which models are in standby, and until when.
   * @param facts The soonest recovery and the reasons.
   */
  constructor(message: string, facts: { retryAfterMs?: number; reasons: Readonly<Record<string, string>> }) {
    super(message, { code: "no_active_model" }, facts);
  }
}

/** Every budget that could pay for the request is spent. */
export class BudgetExceededError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "BudgetExceededError";
  /** Time to the next budget window, ms. */
  declare readonly retryAfterMs?: number;

  /**
   * Makes the error.
   *
   * @param message Which budgets, and when they open again.
   * @param retryAfterMs Time to the next window, ms.
   */
  constructor(message: string, retryAfterMs?: number) {
    super(message, { code: "budget_exceeded" }, { retryAfterMs });
  }
}

/** Every candidate is limited: for now (`rate_limit_exceeded`) or until its quota resets (`insufficient_quota`). */
export class RateLimitError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "RateLimitError";
  /** Time until a candidate takes requests again, ms; undefined when unknown. */
  declare readonly retryAfterMs?: number;

  /**
   * Makes the error.
   *
   * @param message Which models are limited, and until when.
   * @param facts The condition and the wait, ms.
   */
  constructor(message: string, facts: { code: "rate_limit_exceeded" | "insufficient_quota"; retryAfterMs?: number }) {
    super(message, facts, facts);
  }
}

/** The request's time was up before a response began. */
export class DeadlineError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "DeadlineError";

  /**
   * Makes the error.
   *
   * @param message How long was waited, and for what.
   */
  constructor(message: string) {
    super(message, { code: "timeout" });
  }
}
