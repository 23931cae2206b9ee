/**
 * What all errors have in common.
 * @module
 */
import type { AnyErrorCode } from "../contracts/error_codes.ts";

/** Options of every error. */
export interface MeshErrorOptions {
  /** The error code. */
  code?: AnyErrorCode;
  /** Id of the request that failed. */
  requestId?: string;
  /** The underlying error. */
  cause?: unknown;
}

/** Kind of the base class. */
const baseKind = "MeshError";

/**
 * Key under which an error carries its own kind and those of its base classes. The symbol is registered, so that all
 * copies of the package share it.
 */
const kindsOf = Symbol.for("modelmesh.error.kinds");

/**
 * The base class of all errors of this package.
 *
 * @example
 * ```ts
 * import { MeshError } from "@modelmesh/core";
 *
 * const error = new MeshError("Cannot continue", { code: "internal_error" });
 * console.log(MeshError.isInstance(error)); // true
 * ```
 */
export class MeshError extends Error {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static readonly kind: string = baseKind;
  /** The error code. */
  readonly code: AnyErrorCode;
  /** Id of the request that failed, once known. */
  declare requestId?: string;

  /**
   * Creates the error.
   *
   * @param message What failed, and what to do about it.
   * @param options Error code, request id and cause.
   * @param facts Members of the subclass; undefined members are omitted.
   */
  constructor(message: string, options: MeshErrorOptions = {}, facts: object = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code ?? "internal_error";
    for (const [name, value] of Object.entries({ requestId: options.requestId, ...facts })) {
      if (value !== undefined) Reflect.set(this, name, value);
    }
    const { kind } = new.target;
    Object.defineProperty(this, "name", { value: kind, configurable: true, writable: true });
    Object.defineProperty(this, kindsOf, { value: [kind, baseKind] });
  }

  /**
   * Whether a value is an error of this class, created by any copy of the package.
   *
   * @param error The value to test.
   */
  static isInstance<Class extends { readonly kind: string; readonly prototype: MeshError }>(
    this: Class,
    error: unknown,
  ): error is Class["prototype"] {
    if (typeof error !== "object" || error === null) return false;
    const kinds: unknown = Reflect.get(error, kindsOf);
    return Array.isArray(kinds) && kinds.includes(this.kind);
  }
}
