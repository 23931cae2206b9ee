/**
 * Every error ModelMesh throws. They carry facts; `src/proxy/error_body.ts` turns them into HTTP.
 * `X.isInstance(error)` also recognises errors of another copy of the package in the same process.
 * @module
 */
import type { AnyErrorCode, ErrorCode } from "./contracts/error_codes.ts";
import type { FailureKind, ProviderFault } from "./contracts/provider.ts";

/** One thing wrong with a configuration. */
export interface ConfigProblem {
  /** Where, such as `pools.chat.strategy`; empty for the document itself. */
  readonly path: string;
  /** What is wrong and what is allowed. */
  readonly message: string;
}

/** One upstream call that failed. */
export interface FailedAttempt {
  /** The model's name. */
  readonly model: string;
  /** Its provider's entry id. */
  readonly provider: string;
  /** Why it failed. */
  readonly kind: FailureKind;
  /** HTTP status, where one came. */
  readonly status?: number;
}

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

/** The configuration does not hold; `problems` lists all that is wrong, not just the first. */
export class ConfigError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "ConfigError";
  /** Everything wrong, each with its path. */
  declare readonly problems: readonly ConfigProblem[];

  /**
   * Makes the error.
   *
   * @param problems Everything wrong.
   * @param source The file's name, when there is one.
   * @param cause What caused it.
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

/** No provider has a key in the environment. */
export class NoProvidersError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "NoProvidersError";

  /**
   * Makes the error.
   *
   * @param message Which variables would help.
   */
  constructor(message: string) {
    super(message, { code: "no_providers" });
  }
}

/** A secret that the configuration refers to does not exist. Names the secret, never a value. */
export class SecretNotFoundError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "SecretNotFoundError";
  /** The missing secrets' names. */
  declare readonly names: readonly string[];

  /**
   * Makes the error.
   *
   * @param names The missing secrets.
   * @param store Where they were looked for.
   */
  constructor(names: readonly string[], store: string) {
    const list = names.map((name) => `"${name}"`).join(", ");
    super(`Cannot find ${names.length === 1 ? "the secret" : "the secrets"} ${list} in the store "${store}"`, {
      code: "secret_not_found",
    }, { names });
  }
}

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

/** Facts of a {@linkcode ProviderError}. */
export interface ProviderErrorFacts {
  /** `all_attempts_failed`, `upstream_auth_error`, or the provider's own code. */
  code: AnyErrorCode;
  /** The HTTP status a proxy responds with: the provider's for a fault of the request, else 502. */
  status: number;
  /** The class, in OpenAI's words. */
  type: string;
  /** The request's field at fault, when the provider named one. */
  param?: string | null;
  /** The provider that answered so, or was tried last. */
  provider?: string;
  /** The model that answered so, or was tried last. */
  model?: string;
  /** Every failed attempt, in order. */
  attempts: readonly FailedAttempt[];
}

/** Providers were asked, and none answered the request. */
export class ProviderError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "ProviderError";
  /** The HTTP status a proxy responds with. */
  declare readonly status: number;
  /** The class, in OpenAI's words. */
  declare readonly type: string;
  /** The request's field at fault, when the provider named one. */
  declare readonly param: string | null;
  /** The provider that answered so, or was tried last: the entry id. */
  declare readonly provider?: string;
  /** The model that answered so, or was tried last. */
  declare readonly model?: string;
  /** Every failed attempt, in order. */
  declare readonly attempts: readonly FailedAttempt[];

  /**
   * Makes the error.
   *
   * @param message What was tried.
   * @param facts What came of it.
   */
  constructor(message: string, facts: ProviderErrorFacts) {
    super(message, facts, { ...facts, param: facts.param ?? null });
  }
}

/** A stream broke after its first content; nothing of it was sent twice. */
export class StreamInterruptedError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "StreamInterruptedError";
  /** The text that had arrived. */
  declare readonly partialText: string;

  /**
   * Makes the error.
   *
   * @param message What broke.
   * @param partialText The text that had arrived.
   */
  constructor(message: string, partialText: string) {
    super(message, { code: "stream_interrupted" }, { partialText });
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

/**
 * What is the matter with a storage or a secret store, for programs that can do something about it: the machine or the
 * browser forbids its use, it is full, a record is damaged or not ours, another owner has the lock, it is unavailable.
 */
export type ConnectorProblem = "forbidden" | "full" | "unreadable" | "locked" | "unavailable";

/** A connector broke its contract, could not be made, or cannot do what it is there for. */
export class ConnectorError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "ConnectorError";
  /** What is the matter, where a program can do something about it. */
  declare readonly problem?: ConnectorProblem;

  /**
   * Makes the error.
   *
   * @param message Which connector, and what it did.
   * @param cause What it threw.
   * @param problem What is the matter, where a program can do something about it.
   */
  constructor(message: string, cause?: unknown, problem?: ConnectorProblem) {
    super(message, { cause }, { problem });
  }
}

/**
 * No connection, or one that broke. Thrown by the runtime port; its text quotes neither URL nor header,
 * since the runtimes' own texts do.
 */
export class NetworkError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "NetworkError";
  /** Whether the request certainly was not read. */
  declare readonly neverSent: boolean;

  /**
   * Makes the error.
   *
   * @param message What happened, in our words.
   * @param facts Whether the request can have been read.
   */
  constructor(message: string, facts: { neverSent: boolean }) {
    super(message, { code: "network_error" }, facts);
  }
}

/** A provider's error response, as its connector understood it. Connectors throw it; the engine decides on it. */
export class UpstreamError extends MeshError {
  /** The class's name, safe from minifiers. */
  static override readonly kind: string = "UpstreamError";
  /** Why the call failed. */
  declare readonly kind: FailureKind;
  /** Status and OpenAI-shaped error, where the provider gave them. */
  declare readonly fault?: ProviderFault;
  /** What the provider thinks of another try (`x-should-retry`), where it says. */
  declare readonly shouldRetry?: boolean;

  /**
   * Makes the error.
   *
   * @param message What the provider did, in our words or its own.
   * @param facts The class of the failure and the response.
   */
  constructor(message: string, facts: { kind: FailureKind; fault?: ProviderFault; shouldRetry?: boolean }) {
    super(message, { code: "upstream_error" }, facts);
  }
}
