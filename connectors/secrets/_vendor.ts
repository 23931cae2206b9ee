/**
 * Base of the secret stores behind an HTTP API: calls with timeouts, bounded responses, and errors that name store and
 * secret and never quote a response.
 * @module
 */
import type { Runtime, UpstreamRequest, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { ConfigError, ConnectorError, NetworkError } from "../../src/errors.ts";
import { readBody } from "../../src/util/bytes.ts";
import { IssuerError } from "../../src/util/call_issuer.ts";
import { stripTrailing } from "../../src/util/strip_trailing.ts";

/** Timeout of a call, ms. */
const maxResponseMs = 10_000;
/**
 * Maximum response size, bytes, above all legitimate responses: AWS limits values to 64 KiB, and lists have about a
 * hundred names per page.
 */
const maxBytes = 4 * 1024 * 1024;

/** Page limit of lists: guards against a list that never ends. */
const maxPages = 1_000;

/** Error codes for failed authentication and missing permission, which AWS and token endpoints send with status 400. */
const refusals =
  /AccessDenied|UnrecognizedClient|Signature|ExpiredToken|MissingAuthentication|^invalid_(?:client|grant)$/;

/** A call to the vendor. */
export interface VendorCall extends Omit<UpstreamRequest, "signal" | "isNonStreaming"> {
  /** The operation, worded to follow "cannot": `look up the secret "NAME"`. */
  readonly task: string;
  /** Error statuses or codes that the caller handles. */
  readonly expected?: readonly (number | string)[];
}

/** A response. */
export interface VendorResponse {
  /** HTTP status. */
  readonly status: number;
  /** The vendor's error code, if any. */
  readonly code?: string;
  /** The parsed JSON object; empty if there was no body. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Calls one vendor for one store. */
export class Vendor {
  readonly store: string;
  /** Clock, environment and network. */
  readonly runtime: Runtime;
  readonly #access: string;

  /**
   * @param store The connector id, for error messages.
   * @param runtime Clock, environment and network.
   * @param access What to check if the vendor denies access.
   */
  constructor(store: string, runtime: Runtime, access: string) {
    this.store = store;
    this.runtime = runtime;
    this.#access = access;
  }

  /**
   * Sends a request and parses the JSON response.
   *
   * @throws {ConnectorError} On a timeout, an invalid response or an unexpected error status.
   */
  async call({ task, expected = [], ...request }: VendorCall): Promise<VendorResponse> {
    const { status, text } = await this.#send(task, request);
    const body = status === 204 || text.trim() === "" ? {} : parseResponseObject(text);
    const code = body === undefined ? undefined : findVendorCode(body);
    const isExpected = expected.includes(status) || code !== undefined && expected.includes(code);
    if (isExpected) return { status, code, body: body ?? {} };
    if (status < 200 || status > 299) throw this.error(task, `it answered ${status}${this.#about(status, code)}`);
    if (body === undefined) throw this.error(task, `it answered ${status} with a body that is not a JSON object`);
    return { status, body };
  }

  /**
   * All names of a paginated list, sorted.
   *
   * @param read Reads a page: the first, or the one that the previous page refers to.
   * @throws {ConnectorError} If the list exceeds the page limit.
   */
  async names(
    read: (next: string | undefined) => Promise<{ readonly names: readonly unknown[]; readonly next: unknown }>,
  ): Promise<readonly string[]> {
    const all: string[] = [];
    let token: string | undefined;
    for (let count = 0; count < maxPages; count++) {
      const { names, next } = await read(token);
      all.push(...names.map(String));
      if (typeof next !== "string" || next === "") return all.sort();
      token = next;
    }
    throw this.error("list secrets", `the list has more than ${maxPages} pages`);
  }

  /**
   * Creates an error.
   *
   * @param task The operation, worded to follow "cannot".
   * @param reason The reason, without secret values.
   */
  error(task: string, reason: string): ConnectorError {
    return new ConnectorError(`${this.store}: cannot ${task}: ${reason}`);
  }

  /**
   * The error of a store that has no credentials.
   *
   * @param task The operation, worded to follow "cannot".
   * @param cause Why not; anything but a failure of the endpoint that issues them is thrown again.
   */
  unauthorized(task: string, cause: unknown): ConnectorError {
    if (!(cause instanceof IssuerError)) throw cause;
    const { endpoint, reason, kind, message } = cause;
    const isOfEndpoint = kind !== "misconfigured" || reason.startsWith("answered"); // otherwise of a file or a variable
    if (!isOfEndpoint) return this.error(task, `${message[0]!.toLowerCase()}${message.slice(1)}`);
    const advice = kind === "auth" ? `: check ${this.#access}` : "";
    return this.error(`${task}, nor get credentials`, `${endpoint}: it ${reason}${advice}`);
  }

  async #send(task: string, request: UpstreamRequest): Promise<{ status: number; text: string }> {
    const controller = new AbortController();
    const cancel = this.runtime.clock.after(maxResponseMs, () => controller.abort());
    try {
      const response = await this.runtime.send({ ...request, signal: controller.signal, isNonStreaming: true });
      return { status: response.status, text: await readVendorText(response) };
    } catch (error) {
      if (ConnectorError.isInstance(error)) throw this.error(task, error.message);
      if (controller.signal.aborted) throw this.error(task, `no response within ${maxResponseMs / 1000} s`);
      const isUnreached = NetworkError.isInstance(error) && error.neverSent;
      throw this.error(task, isUnreached ? "no connection" : "the connection was reset");
    } finally {
      cancel();
    }
  }

  #about(status: number, code: string | undefined): string {
    const word = code === undefined ? "" : ` (${code})`;
    const isRefusal = status === 401 || status === 403 || refusals.test(code ?? "");
    return isRefusal ? `${word}: check ${this.#access}` : word;
  }
}

/**
 * Validates an attribute of the `secrets` section, or the environment variable in place of it.
 *
 * @param path Its name, for error messages.
 * @throws {ConfigError} If it is not a string.
 */
export function attribute(value: unknown, path: string): string | undefined {
  if (value === undefined || typeof value === "string" && value.trim() !== "") return value?.trim();
  throw new ConfigError([{ path: `secrets.${path}`, message: "expected a string" }]);
}

/**
 * Whether the attribute `credentials` asks for the identity of the machine.
 *
 * @throws {ConfigError} If it has another value.
 */
export function asksForAmbient(value: unknown): boolean {
  if (value === undefined || value === "ambient") return value !== undefined;
  throw new ConfigError([{ path: "secrets.credentials", message: 'expected "ambient"' }]);
}

/**
 * The first environment variable that is set.
 *
 * @param runtime Gives access to the environment.
 * @param names Names of the variables.
 */
export function variable(runtime: Runtime, ...names: readonly string[]): string | undefined {
  return names.map((name) => runtime.env(name)?.trim()).find((value) => value !== undefined && value !== "");
}

/**
 * Validates a URL and removes a trailing slash.
 *
 * @param path Its name, for error messages.
 * @throws {ConfigError} If it is not a URL to which a key may be sent.
 */
export function address(value: string, path: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isPlain = url !== undefined && url.username + url.password + url.search + url.hash === "";
  if (isPlain && /^https?:$/.test(url.protocol)) return stripTrailing(value, "/");
  throw new ConfigError([{
    path: `secrets.${path}`,
    message: "expected an http or https URL without credentials, query and fragment",
  }]);
}

async function readVendorText(response: UpstreamResponse): Promise<string> {
  const tooLarge = () => new ConnectorError(`the response is over ${maxBytes} bytes`);
  return new TextDecoder().decode(await readBody(response, { maxBytes, tooLarge }));
}

function parseResponseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return { items: value };
    return typeof value === "object" && value !== null ? value as Record<string, unknown> : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Error codes: `{__type}` of AWS, `{error: {code | status}}` of Microsoft and Google, `{error}` of their token
 * endpoints.
 */
function findVendorCode({ __type, error }: Readonly<Record<string, unknown>>): string | undefined {
  const inner = typeof error === "object" && error !== null ? error as Record<string, unknown> : {};
  const words = [__type, inner.status, inner.code, error];
  const word = words.find((candidate): candidate is string => typeof candidate === "string")?.replace(/^.*#/, "");
  return word !== undefined && /^[A-Za-z][\w.-]{0,63}$/.test(word) ? word : undefined; // only a code is exposed, not a message
}
