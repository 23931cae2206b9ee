/**
 * One call to a provider that concerns no model. It is not retried, since it may have been carried out.
 * @module
 */
import type { CallOptions, ProviderFault } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import {
  DeadlineError,
  type MeshError,
  NetworkError,
  ObjectNotFoundError,
  ProviderError,
  type ProviderErrorFacts,
  RateLimitError,
} from "../errors.ts";
import { Connection } from "../pipeline/connection.ts";
import { AttemptTimeout, type Failure, recordProviderError, summarizeFailure, toFailure } from "../pipeline/failure.ts";
import { IncomingBody } from "../pipeline/incoming_body.ts";
import { isIncoming } from "../util/bytes.ts";
import { isOverload } from "../util/resource_lack.ts";
import type { Account } from "./account.ts";
import type { InfrastructureMesh, ObjectCall } from "./mesh.ts";

/** A call. */
interface ProviderCall<Result> {
  readonly account: Account;
  readonly call: ObjectCall;
  /** Sends it. */
  readonly send: (options: CallOptions) => Promise<Result>;
  /** Whether it only reads, so that it is not billed and can be repeated. */
  readonly isRead?: boolean;
}

/** A failed call. */
export interface FailedCall {
  /** The error for the caller. */
  readonly error: unknown;
  /** Whether the request was certainly not sent. */
  readonly neverSent: boolean;
  /** Whether it may have been carried out although no response arrived. */
  readonly possiblyBilled: boolean;
}

/** Statuses that concern the account or are transient, and are not the client's fault. */
const ownStatuses: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 425, 429]);

/**
 * Calls a provider.
 *
 * @throws {MeshError} When it fails. An aborted call throws the signal's reason; errors of the request body are
 * rethrown.
 */
export async function callProvider<Result>(called: ProviderCall<Result>, mesh: InfrastructureMesh): Promise<Result> {
  const end = await tryProvider(called, mesh);
  if ("error" in end) throw end.error;
  return end.value;
}

/**
 * Calls a provider, and returns a failure instead of throwing it.
 *
 * @throws {RateLimitError} When it exceeds the rate limit of its client.
 */
export async function tryProvider<Result>(
  called: ProviderCall<Result>,
  mesh: InfrastructureMesh,
): Promise<{ readonly value: Result } | FailedCall> {
  const { account, call, send } = called;
  const { signal, timeoutMs, scopes } = call;
  const { runtime } = mesh;
  await scopes?.admit();
  const connection = openConnection(account, call, mesh);
  const late = new DeadlineError(`The request timed out after ${timeoutMs} ms`);
  const cancelDeadline = runtime.clock.after(Math.max(0, timeoutMs), () => connection.abort(late));
  const onAbort = () => connection.abort(signal!.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort);
  try {
    const value = await connection.untilAborted(send(createCallOptions(connection, runtime)));
    connection.close();
    account.instance.lastError = undefined;
    return { value };
  } catch (error) {
    return failedCall(error, connection, { called, mesh, late });
  } finally {
    cancelDeadline();
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Returns the options of a call, whose body may be a stream. */
function createCallOptions(connection: Connection, { disk }: Pick<Runtime, "disk">): CallOptions {
  return {
    signal: connection.signal,
    credential: connection.credential,
    async send(request) {
      const { body } = request;
      if (!isIncoming(body)) return await connection.send(request);
      const incoming = new IncomingBody(body, connection);
      // browsers cannot stream a request body over HTTP/1.1
      return await connection.send({ ...request, body: disk === undefined ? await collectChunks(incoming) : incoming });
    },
  };
}

async function collectChunks(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

/** Opens a connection of an account for a call, with an idle timeout. */
export function openConnection(
  { instance, key }: Account,
  { userAgent }: ObjectCall,
  { runtime }: Pick<InfrastructureMesh, "runtime">,
): Connection {
  const connection = new Connection(runtime, instance, {
    delivery: "stream",
    spending: { apiKey: key, observe: () => undefined },
  });
  connection.userAgent = userAgent;
  return connection;
}

/** Converts a thrown error to a failed call, and closes the connection. */
export function failedCall(
  thrown: unknown,
  connection: Connection,
  context: {
    readonly called: Pick<ProviderCall<unknown>, "account" | "isRead">;
    readonly mesh: InfrastructureMesh;
    readonly late?: DeadlineError;
  },
): FailedCall {
  const { called: { account: { instance }, isRead = false }, mesh, late } = context;
  const { aborted, reason } = connection.stop;
  connection.abort(thrown); // releases the socket of an unfinished response
  const error = aborted ? reason : thrown;
  const neverSent = connection.calls === 0 || NetworkError.isInstance(error) && error.neverSent;
  const possiblyBilled = !isRead && !neverSent && !connection.hasResponse;
  // the client has aborted, or the request body has failed
  if (aborted && error !== late && !(error instanceof AttemptTimeout)) return { error, neverSent, possiblyBilled };
  if (isOverload(error)) return { error, neverSent: true, possiblyBilled: false };
  const isLate = aborted && error === late;
  const failure: Failure = isLate
    ? { kind: "timeout", message: late!.message, neverSent: false, retryable: false }
    : { ...toFailure(error, instance.provider!, mesh.redact), host: connection.host };
  if (!isLate && !(failure.status === 404 && isRead)) recordProviderError(instance, failure, mesh);
  return {
    error: toObjectError(failure, { provider: instance.entry.id, isRead, possiblyBilled }),
    neverSent,
    possiblyBilled,
  };
}

function toObjectError(
  failure: Failure,
  { provider, isRead, possiblyBilled }: {
    readonly provider: string;
    readonly isRead: boolean;
    readonly possiblyBilled: boolean;
  },
): MeshError {
  const { kind, status = 0, fault, retryAfterMs } = failure;
  if (kind === "rate_limited") {
    return new RateLimitError(`The provider "${provider}" is rate-limited`, {
      code: "rate_limit_exceeded",
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }
  if (kind === "quota_exhausted") {
    return new RateLimitError(`The quota of the provider "${provider}" is exhausted`, { code: "insufficient_quota" });
  }
  if (status === 404 && isRead) {
    return new ObjectNotFoundError(`The provider "${provider}" no longer has it`);
  }
  const attempts = [{ model: "", provider, kind, ...(status === 0 ? {} : { status }) }];
  const facts = { provider, attempts, type: "server_error" };
  if (fault !== undefined && (status >= 400 && status < 500 && !ownStatuses.has(status) || status === 404)) {
    return toClientError(fault, facts);
  }
  if (kind === "auth") {
    const refused = `The provider "${provider}" rejected the configured API key`;
    return new ProviderError(refused, { ...facts, code: "upstream_auth_error", status: 502 });
  }
  const hint = possiblyBilled ? ". The call may have been carried out, so it was not retried" : "";
  const isLate = kind === "timeout";
  return new ProviderError(`The provider "${provider}" failed: ${summarizeFailure(failure)}${hint}`, {
    ...facts,
    code: isLate ? "timeout" : "all_attempts_failed",
    status: isLate ? 504 : 502,
    isFinal: possiblyBilled,
  });
}

/** Returns the vendor's own error about the request; a 404 as 400, since the path of the request exists. */
function toClientError(
  { status, error }: ProviderFault,
  facts: Pick<ProviderErrorFacts, "provider" | "attempts">,
): ProviderError {
  const type = error.type || "invalid_request_error";
  const own = { code: error.code ?? "invalid_value", type, param: error.param };
  return new ProviderError(error.message, { ...facts, ...own, status: status === 404 ? 400 : status });
}
