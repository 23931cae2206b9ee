/**
 * What went wrong with one try, as data the decisions are made on.
 * @module
 */
import type { FailureKind, Provider, ProviderFault } from "../contracts/provider.ts";
import { NetworkError, UpstreamError } from "../errors.ts";

/** One try that failed. */
export interface Failure {
  readonly kind: FailureKind;
  /** What happened, without a key, a URL or a body. */
  readonly message: string;
  /** HTTP status, where one came. */
  readonly status?: number;
  /** The error that the provider reported, in OpenAI's terms. */
  readonly fault?: ProviderFault;
  /** The wait it asks for, ms. */
  readonly retryAfterMs?: number;
  /** Whether the provider asks for another try, where it says so. */
  readonly shouldRetry?: boolean;
  /** Nothing of the request was read by anyone. */
  readonly neverSent: boolean;
  /** The connector would ask the same model again. */
  readonly retryable: boolean;
}

/** A time limit of ours ran out on one try. */
export class AttemptTimeout extends Error {
  override name = "AttemptTimeout";
}

/**
 * Reads what a call threw.
 *
 * @param error Anything.
 * @param provider Whose call it was; its own classification holds.
 * @param redact Takes secrets out of a text: providers echo keys.
 */
export function failureOf(error: unknown, provider: Provider, redact: (text: string) => string): Failure {
  if (error instanceof AttemptTimeout) {
    return { kind: "timeout", message: error.message, neverSent: false, retryable: true };
  }
  const facts = { ...classOf(error, provider), neverSent: NetworkError.isInstance(error) && error.neverSent };
  if (!UpstreamError.isInstance(error)) {
    // the text of an unforeseen error may quote anything
    return { ...facts, message: NetworkError.isInstance(error) ? error.message : "The connector failed" };
  }
  const { fault, shouldRetry } = error;
  return {
    ...facts,
    message: redact(error.message),
    fault: fault && redacted(fault, redact),
    status: fault?.status,
    retryAfterMs: fault?.retryAfterMs,
    shouldRetry,
  };
}

/** A connector that cannot even class its error is taken for broken, and the error for its provider's fault. */
function classOf(error: unknown, provider: Provider): { kind: FailureKind; retryable: boolean } {
  try {
    return { kind: provider.classifyError(error), retryable: provider.isRetryable(error) };
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
