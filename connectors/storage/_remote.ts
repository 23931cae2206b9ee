/**
 * HTTP calls to the storage services of vendors.
 * @module
 */
import type { Runtime } from "../../src/contracts/runtime.ts";
import { ConnectorError, NetworkError } from "../../src/errors.ts";

/** Default timeout of a complete response, ms. */
const defaultTimeoutMs = 15_000;

/** The used part of a runtime. */
export type RemoteRuntime = Pick<Runtime, "send" | "clock" | "env" | "files" | "addSecret">;

/** A complete response. */
export interface RemoteResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly bytes: Uint8Array;
}

/**
 * Sends a request and reads the complete response.
 *
 * @param connector The connector id, for error messages.
 * @param runtime Clock and HTTP.
 * @throws {ConnectorError} If the connection fails or the timeout expires.
 */
export async function callRemote(
  connector: string,
  runtime: RemoteRuntime,
  call: {
    readonly method: string;
    readonly url: string;
    /** Headers; names in lower case. */
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string | Uint8Array | undefined;
    /** Timeout of the complete response, ms. @default 15000 */
    readonly timeoutMs?: number | undefined;
    /** Aborts the call. */
    readonly signal?: AbortSignal | undefined;
  },
): Promise<RemoteResponse> {
  const { method, url, headers, body, timeoutMs = defaultTimeoutMs, signal: outer } = call;
  const controller = new AbortController();
  const abort = () => controller.abort();
  const cancel = runtime.clock.after(timeoutMs, abort);
  outer?.addEventListener("abort", abort);
  if (outer?.aborted) abort();
  try {
    const { signal } = controller;
    const response = await runtime.send({ method, url, headers, signal, isNonStreaming: true, ...(body && { body }) });
    return { status: response.status, headers: response.headers, bytes: await readResponseBytes(response) };
  } catch (error) {
    if (!NetworkError.isInstance(error) && !controller.signal.aborted) throw error;
    const reason = outer?.aborted
      ? "the call was stopped"
      : controller.signal.aborted
      ? `it did not respond within ${timeoutMs} ms`
      : "the connection failed";
    throw new ConnectorError(`"${connector}" cannot reach ${new URL(url).host}: ${reason}`, error);
  } finally {
    outer?.removeEventListener("abort", abort);
    cancel();
  }
}

async function readResponseBytes(response: Awaited<ReturnType<Runtime["send"]>>): Promise<Uint8Array> {
  if (response.bytes !== undefined) return Uint8Array.from(await response.bytes()); // copied: the bytes may be part of a larger buffer
  if (response.body === null) return new Uint8Array();
  return new Uint8Array(await new Response(response.body as BodyInit).arrayBuffer());
}
