/**
 * HTTP calls to the storage services of vendors.
 * @module
 */
import type { Runtime } from "../../src/contracts/runtime.ts";
import { ConfigError, ConnectorError, NetworkError } from "../../src/errors.ts";

/** Timeout of a complete response, ms. */
const timeoutMs = 15_000;

/** The used part of a runtime. */
export type RemoteRuntime = Pick<Runtime, "send" | "clock" | "env">;

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
  },
): Promise<RemoteResponse> {
  const { method, url, headers, body } = call;
  const controller = new AbortController();
  const cancel = runtime.clock.after(timeoutMs, () => controller.abort());
  try {
    const { signal } = controller;
    const response = await runtime.send({ method, url, headers, signal, isNonStreaming: true, ...(body && { body }) });
    return { status: response.status, headers: response.headers, bytes: await readResponseBytes(response) };
  } catch (error) {
    if (!NetworkError.isInstance(error) && !controller.signal.aborted) throw error;
    const reason = controller.signal.aborted ? `it did not respond within ${timeoutMs} ms` : "the connection failed";
    throw new ConnectorError(`"${connector}" cannot reach ${new URL(url).host}: ${reason}`, error);
  } finally {
    cancel();
  }
}

async function readResponseBytes(response: Awaited<ReturnType<Runtime["send"]>>): Promise<Uint8Array> {
  if (response.bytes !== undefined) return Uint8Array.from(await response.bytes()); // copied: the bytes may be part of a larger buffer
  if (response.body === null) return new Uint8Array();
  return new Uint8Array(await new Response(response.body as BodyInit).arrayBuffer());
}

/**
 * A string setting.
 *
 * @param settings All settings of a connector.
 * @param name Name of the setting.
 * @throws {ConfigError} If it is not a string.
 */
export function textSetting(settings: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = settings[name];
  if (value === undefined || typeof value === "string" && value.trim() !== "") return value;
  throw new ConfigError([{ path: `storage.${name}`, message: "expected a string" }]);
}
