/**
 * Calls to endpoints that issue credentials: token endpoints, and metadata servers. Errors contain nothing that was sent
 * or received but a status and an error code.
 * @module
 */
import type { FailureKind } from "../contracts/provider.ts";
import type { Runtime, UpstreamRequest, UpstreamResponse } from "../contracts/runtime.ts";
import { MeshError, UpstreamError } from "../errors.ts";
import { readBody } from "./bytes.ts";
import { isObject } from "./is_object.ts";
import { untilAborted } from "./until_aborted.ts";

/** Maximum size of a response, bytes; credentials take a few kilobytes at most. */
const maxResponseBytes = 64 * 1024;

/** The pause before the second try, ms; it doubles with each. */
const firstPauseMs = 100;

/** The used parts of a runtime. */
type IssuerRuntime = Pick<Runtime, "send" | "clock">;

/** A call. */
export interface IssuerCall extends Pick<UpstreamRequest, "url" | "method" | "headers" | "body"> {
  /** The endpoint, as the subject of error messages: `The token endpoint`. */
  readonly endpoint: string;
  /** Time limit of a try, ms. @default 10_000 */
  readonly maxWaitMs?: number;
  /** Number of tries, while there is no response, or one that says to try again. @default 1 */
  readonly tries?: number;
  /** Whether it is on this machine or its own network: it is never called through an outbound proxy. */
  readonly isLocal?: boolean;
}

/** A response. */
export interface IssuerResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
}

/** A credential could not be obtained. */
export class IssuerError extends UpstreamError {
  /** The endpoint, as the subject of a sentence. */
  declare readonly endpoint: string;
  /** What it did, as the rest of that sentence. */
  declare readonly reason: string;

  constructor(endpoint: string, reason: string, kind: FailureKind) {
    const facts = { kind, endpoint, reason };
    super(`${endpoint} ${reason}`, facts);
  }
}

/**
 * Calls an endpoint.
 *
 * @throws {IssuerError} `server` or `network` if it does not respond; `invalid_response` if its response is too large.
 */
export async function callIssuer(call: IssuerCall, runtime: IssuerRuntime): Promise<IssuerResponse> {
  const { tries = 1 } = call;
  for (let number = 1;; number++) {
    try {
      const response = await tryOnce(call, runtime);
      if (number >= tries || !isTransient(response.status)) return response;
    } catch (error) {
      if (number >= tries || !(error instanceof IssuerError) || error.kind === "invalid_response") throw error;
    }
    await runtime.clock.sleep(firstPauseMs * 2 ** (number - 1));
  }
}

/**
 * Reads the JSON object of a response.
 *
 * @throws {IssuerError} For an error status, or a body that is not a JSON object.
 */
export function readIssuedJson({ endpoint }: Pick<IssuerCall, "endpoint">, response: IssuerResponse): JsonMembers {
  checkIssued(endpoint, response);
  const body = parseMembers(response.text);
  if (body === undefined) {
    throw new IssuerError(
      endpoint,
      `answered ${response.status} with a body that is not a JSON object`,
      "invalid_response",
    );
  }
  return body;
}

/** The members of a JSON object. */
type JsonMembers = Readonly<Record<string, unknown>>;

/**
 * Rejects an error status.
 *
 * @throws {IssuerError} `server` if a retry may help; `misconfigured` for a redirect; `auth` otherwise.
 */
export function checkIssued(endpoint: string, { status, text }: Omit<IssuerResponse, "headers">): void {
  if (status >= 200 && status <= 299) return;
  const code = findIssuerCode(text);
  const what = `answered ${status}${code === undefined ? "" : ` (${code})`}`;
  if (isTransient(status)) throw new IssuerError(endpoint, what, "server");
  if (status < 400) throw new IssuerError(endpoint, `${what}: its address is probably wrong`, "misconfigured");
  throw new IssuerError(endpoint, what, "auth");
}

/**
 * Whether a value can be sent in a header, as it is.
 *
 * @param value A token or a key that was issued.
 */
export function isHeaderText(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]+$/.test(value);
}

function isTransient(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}

async function tryOnce(call: IssuerCall, runtime: IssuerRuntime): Promise<IssuerResponse> {
  const { endpoint, maxWaitMs = 10_000 } = call;
  const controller = new AbortController();
  const cancel = runtime.clock.after(
    maxWaitMs,
    () => controller.abort(new IssuerError(endpoint, `did not respond within ${maxWaitMs} ms`, "server")),
  );
  try {
    return await untilAborted(sendOnce(call, { runtime, signal: controller.signal }), controller.signal);
  } catch (error) {
    if (error instanceof IssuerError) throw error;
    const reason = MeshError.isInstance(error) ? "cannot be reached" : "broke off its response";
    throw new IssuerError(endpoint, reason, "network");
  } finally {
    cancel();
    controller.abort(); // frees the socket of a response that is not read to its end
  }
}

async function sendOnce(
  { endpoint, url, method, headers, body, isLocal, maxWaitMs }: IssuerCall,
  { runtime, signal }: { readonly runtime: IssuerRuntime; readonly signal: AbortSignal },
): Promise<IssuerResponse> {
  const response = await runtime.send({
    url,
    headers,
    signal,
    isNonStreaming: true,
    ...(method === undefined ? {} : { method }),
    ...(body === undefined ? {} : { body }),
    ...(isLocal ? { isDirect: true, connectTimeoutMs: Math.min(maxConnectMs, maxWaitMs ?? maxConnectMs) } : {}),
  });
  return { status: response.status, headers: response.headers, text: await readText(endpoint, response) };
}

/** Timeout of a connection to a local endpoint, ms. */
const maxConnectMs = 1_000;

async function readText(endpoint: string, response: UpstreamResponse): Promise<string> {
  const tooLarge = () =>
    new IssuerError(endpoint, `answered with more than ${maxResponseBytes} bytes`, "invalid_response");
  return new TextDecoder().decode(await readBody(response, { maxBytes: maxResponseBytes, tooLarge }));
}

/** Parses a JSON object; undefined for anything else. */
export function parseMembers(text: string): JsonMembers | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** `{error}` of token endpoints, `{error: {status | code}}` of Google and Microsoft, `{code}`, and `<Code>` of AWS. */
function findIssuerCode(text: string): string | undefined {
  const { error, code, Code } = parseMembers(text) ?? {};
  const inner = isObject(error) ? error : {};
  const words = [inner.status, inner.code, error, code, Code, /<Code>([^<]{1,40})<\/Code>/.exec(text)?.[1]];
  const word = words.find((candidate): candidate is string => typeof candidate === "string");
  // only a word is quoted: a message, or a value with digits, might contain what was sent
  return word !== undefined && /^[A-Za-z_.]{1,40}$/.test(word) ? word : undefined;
}
