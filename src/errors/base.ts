/**
 * What all errors have in common.
 * @module
 */
import type { AnyErrorCode } from "../contracts/error_codes.ts";

/** Options every error takes. */
export interface MeshErrorOptions {
  /** The exact condition, a word of the error table. */
  code?: AnyErrorCode;
  /** The request it belongs to. */
  requestId?: string;
  /** What caused it. */
  cause?: unknown;
}

/** The kind that all of them are of. */
const baseKind = "MeshError";

/** Where an error carries the kinds it is of; the same in every copy of the package. */
const kindsOf = Symbol.for("modelmesh.error.kinds");

/**
 * The base of all errors of this package.
 *
 * @example
 * ```ts
 * import { MeshError } from "@modelmesh/core";
 *
 * const error = new MeshError("Cannot go on", { code: "internal_error" });
 * console.log(MeshError.isInstance(error)); // true
 * ```
 */
export class MeshError extends Error {
  /** The class's name, safe from minifiers. */
  static readonly kind: string = baseKind;
  /** The exact condition, a word of the error table. */
  readonly code: AnyErrorCode;
  /** The request it belongs to, once known. */
  declare requestId?: string;

  /**
   * Makes the error.
   *
   * @param message What happened and what to do.
   * @param options Code, request and cause.
   * @param facts Members of a class of its own; those that are undefined are left out.
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
   * Whether a value is an error of this class, made by any copy of the package.
   *
   * @param error Anything.
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
