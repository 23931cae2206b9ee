/**
 * Failures of tries, as data for decisions.
 * @module
 */
import type { FailureKind, Provider, ProviderFault } from "../contracts/provider.ts";
import { isContentFilter, NetworkError, UpstreamError } from "../errors.ts";
import { requireResult } from "../util/once.ts";
import type { ProviderInstance } from "../registry/registry.ts";
import type { RouteDeps } from "./request.ts";

/** A failed try. */
export interface Failure {
  readonly kind: FailureKind;
  /**
   * What caused it, where that is more than its kind: the limit that a timeout has exceeded, such as
   * `first_token_timeout`, or `content_filter`.
   */
  readonly cause?: string;
  /** Description without API keys, URLs and bodies. */
  readonly message: string;
  /** HTTP status, if a response was received. */
  readonly status?: number;
  /** The host that was called, if any. */
  readonly host?: string | undefined;
  /** The provider's error, in OpenAI's format. */
  readonly fault?: ProviderFault;
  /** The provider's `Retry-After`, ms. */
  readonly retryAfterMs?: number;
  /** The same as a time, wall-clock ms, if it is a date. */
  readonly retryAt?: number;
  /** Whether the provider requests a retry; undefined if it does not specify. */
  readonly shouldRetry?: boolean;
  /** Whether the request was never sent. */
  readonly neverSent: boolean;
  /** Whether the connector recommends a retry with the same model. */
  readonly retryable: boolean;
}

/** Whether the provider is overloaded, by its status or by its message. */
export function isOverloaded({ status, fault }: Pick<Failure, "status" | "fault">): boolean {
  const { type = "", code } = fault?.error ?? {};
  return status === 503 || status === 529 || /overloaded/.test(`${type} ${code ?? ""}`);
}

/** The cause of a failure because of content, which is the outcome of its attempt in records. */
export const contentFilter = "content_filter";

/** Kinds of failures that a key may cause. */
const keyKinds: ReadonlySet<FailureKind> = new Set(["auth", "rate_limited", "quota_exhausted", "model_not_found"]);

/** Whether a failure may be that of the caller's key: it affects no other request then. */
export function isOfCallerKey({ kind }: Pick<Failure, "kind">, callerKey: string | undefined): boolean {
  return callerKey !== undefined && keyKinds.has(kind);
}

/** A timeout of one try. */
export class AttemptTimeout extends Error {
  override name = "AttemptTimeout";
  /** Name of the limit in records; undefined if `timeout` says it. */
  readonly limit: string | undefined;

  constructor(message: string, limit?: string) {
    super(message);
    this.limit = limit;
  }
}

/**
 * Converts the error of a call.
 *
 * @param error Any value.
 * @param provider The provider, which may classify errors itself.
 * @param redact Redacts secrets in a string, since providers echo keys.
 */
export function toFailure(error: unknown, provider: Provider, redact: (text: string) => string): Failure {
  if (error instanceof AttemptTimeout) {
    const { message, limit } = error;
    return {
      kind: "timeout",
      message,
      neverSent: false,
      retryable: true,
      ...(limit !== undefined && { cause: limit }),
    };
  }
  const facts = { ...classifyError(error, provider), neverSent: NetworkError.isInstance(error) && error.neverSent };
  if (!UpstreamError.isInstance(error)) {
    // the message of an unexpected error may quote anything
    return { ...facts, message: NetworkError.isInstance(error) ? error.message : "The connector failed" };
  }
  const { fault, shouldRetry } = error;
  const isFiltered = facts.kind === "request" && fault !== undefined && isContentFilter(fault.error);
  return {
    ...facts,
    ...(isFiltered && { cause: contentFilter }),
    message: redact(error.message),
    fault: fault && redacted(fault, redact),
    status: fault?.status,
    retryAfterMs: fault?.retryAfterMs,
    retryAt: fault?.retryAt,
    shouldRetry,
  };
}

/** A connector that cannot classify its own error counts as broken, and the error as the provider's. */
function classifyError(error: unknown, provider: Provider): { kind: FailureKind; retryable: boolean } {
  try {
    return {
      kind: requireResult(provider.classifyError(error)),
      retryable: requireResult(provider.isRetryable(error)),
    };
  } catch {
    return { kind: "server", retryable: false };
  }
}

function redacted({ error, ...fault }: ProviderFault, redact: (text: string) => string): ProviderFault {
  const { message, type, param, code } = error;
  return {
    ...fault,
    error: {
      message: redact(message),
      type: redact(type),
      param: param && redact(param),
      code: code && redact(code),
    },
  };
}

/** Maximum length of a provider's own message, characters. */
const maxWords = 300;

/** Time until the same cause is a warning again, ms. */
const silenceMs = 600_000;

/** Maximum number of causes of one provider that are remembered. */
const maxCauses = 100;

/** Describes a failure in one word, for records and messages: its cause, else its kind. */
export function describeOutcome({ kind, cause }: Failure): string {
  return cause ?? kind;
}

/** Whether a provider has refused the content of the request, or of its own response. */
export function isFiltered({ cause }: Failure): boolean {
  return cause === contentFilter;
}

/** Returns the provider's own message about a failure, redacted and cut. */
export function findWords({ fault, message }: Failure): string {
  return (fault?.error.message ?? message).slice(0, maxWords);
}

/**
 * Describes a failure to clients: our own message, kind, status and host. The provider's message is for operators, unless
 * it is about the content.
 */
export function summarizeFailure(failure: Failure): string {
  const { fault, message, status, host } = failure;
  const facts = [describeOutcome(failure), status, host].filter((fact) => fact !== undefined).join(", ");
  const hasReason = fault === undefined || isFiltered(failure);
  return `${hasReason ? fault?.error.message ?? message : "the provider responded with an error"} (${facts})`;
}

/**
 * Records that a call of a provider failed.
 *
 * @param failure The failure; a fault of the request is not the provider's.
 * @param deps Clock and records.
 */
export function recordProviderError(
  instance: ProviderInstance,
  failure: Failure,
  { runtime: { clock }, hub }: Pick<RouteDeps, "runtime" | "hub">,
): void {
  const { kind, status, host } = failure;
  if (kind === "request") return;
  const facts = { kind, ...(status === undefined ? {} : { status }) };
  instance.lastError = { ...facts, at: new Date(clock.now()).toISOString() };
  const words = findWords(failure);
  const causes = instance.warnedCauses ??= new Map();
  const outcome = describeOutcome(failure);
  const cause = `${outcome} ${status} ${words}`;
  const now = clock.monotonic();
  const warnedAt = causes.get(cause);
  if (warnedAt !== undefined && now - warnedAt < silenceMs) return;
  if (causes.size >= maxCauses) causes.clear();
  causes.set(cause, now);
  const { id } = instance.entry;
  const at = host === undefined ? "" : ` (${host})`;
  const what = status === undefined ? `failed (${outcome})` : `answered ${status} (${outcome})`;
  hub.trace({
    severity: "warning",
    component: "provider",
    message: `The provider "${id}"${at} ${what}: ${words}`,
    provider: id,
    ...(host === undefined ? {} : { host }),
    ...facts,
  });
}
