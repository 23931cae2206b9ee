/**
 * What all errors have in common, and errors of configurations.
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

/** One problem of a configuration. */
export interface ConfigProblem {
  /** Path of the value, such as `pools.chat.strategy`; empty for the whole document. */
  readonly path: string;
  /** What is wrong and what is allowed. */
  readonly message: string;
}

/** The configuration is invalid. `problems` lists every problem, not just the first. */
export class ConfigError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "ConfigError";
  /** Every problem, each with its path. */
  declare readonly problems: readonly ConfigProblem[];

  /**
   * Creates the error.
   *
   * @param problems Every problem.
   * @param source Name of the configuration file, if there is one.
   */
  constructor(problems: readonly ConfigProblem[], source?: string, cause?: unknown) {
    const where = source === undefined ? "configuration" : `configuration "${source}"`;
    const lines = problems.map(({ path, message }) => path === "" ? message : `${path}: ${message}`);
    super(
      lines.length === 1
        ? `Cannot use the ${where}: ${lines[0]}`
        : `Cannot use the ${where}: ${lines.length} problems\n${lines.map((line) => `  ${line}`).join("\n")}`,
      { code: "invalid_configuration", cause },
      { problems },
    );
  }
}

/** No provider is configured, and none is detected in the environment. */
export class NoProvidersError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "NoProvidersError";

  /**
   * Creates the error.
   *
   * @param message Which environment variables configure a provider.
   */
  constructor(message: string) {
    super(message, { code: "no_providers" });
  }
}

/** A secret that the configuration refers to does not exist. The error names the secret, never a value. */
export class SecretNotFoundError extends MeshError {
  /** The name of the class. Unlike `constructor.name`, it survives minification. */
  static override readonly kind: string = "SecretNotFoundError";
  /** Names of the missing secrets. */
  declare readonly names: readonly string[];

  /**
   * Creates the error.
   *
   * @param names Names of the missing secrets.
   * @param store Id of the secret store that was searched.
   */
  constructor(names: readonly string[], store: string) {
    const list = names.map((name) => `"${name}"`).join(", ");
    super(`Cannot find ${names.length === 1 ? "the secret" : "the secrets"} ${list} in the store "${store}"`, {
      code: "secret_not_found",
    }, { names });
  }
}
