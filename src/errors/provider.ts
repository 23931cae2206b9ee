/**
 * Errors of providers, of the network and of connectors.
 * @module
 */
import type { AnyErrorCode } from "../contracts/error_codes.ts";
import type { FailureKind, ProviderFault } from "../contracts/provider.ts";
import { MeshError } from "./base.ts";

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
