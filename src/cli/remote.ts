/**
 * Client of a running proxy, for commands with `--url` and `--token`.
 * @module
 */
import type { Runtime, UpstreamResponse } from "../contracts/runtime.ts";
import { MeshError, NetworkError } from "../errors.ts";
import { isObject } from "../util/is_object.ts";
import { stripTrailing } from "../util/strip_trailing.ts";
import { type Flags, UsageError } from "./command.ts";

const defaultUrl = "http://127.0.0.1:8080";

/** Timeout of a complete response, ms. */
const limitMs = 30_000;

/** Marks an error by which a proxy is not there, or not in time. */
const unreachable = { code: "unreachable" };

/** The options by which a proxy is found. */
export const remoteValues: readonly ["url", "token"] = ["url", "token"];

/** Their lines in a help. */
export const remoteHelp: string = `  --url <address>      URL of the proxy (${defaultUrl}), or MODELMESH_URL
  --token <token>      Bearer token, or MODELMESH_TOKEN, which stays out of the shell's history`;

/** Options of a call. */
export interface RemoteCall {
  readonly method?: string;
  /** Body, sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Calls a proxy. */
export class RemoteProxy {
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly #token: string | undefined;
  readonly #runtime: Runtime;

  /** @throws {UsageError} When the URL is invalid. */
  constructor(flags: Flags, runtime: Runtime) {
    const address = flags.value("url") ?? runtime.env("MODELMESH_URL") ?? defaultUrl;
    if (!/^https?:\/\/[^/]/.test(address) || !URL.canParse(address)) {
      throw new UsageError(`The option "--url" takes a URL such as ${defaultUrl}`);
    }
    const { username, password, origin, pathname } = new URL(address);
    if (username !== "" || password !== "") {
      throw new UsageError('The option "--url" takes no user name and password: pass the token with "--token"');
    }
    this.url = origin + stripTrailing(pathname, "/").replace(/\/v1$/, "");
    this.#token = flags.value("token") ?? runtime.env("MODELMESH_TOKEN");
    this.#runtime = runtime;
  }

  /**
   * Sends a request.
   *
   * @throws {MeshError} When the proxy is not reachable, or the response is an error.
   */
  async send(path: string, { method = "GET", body, headers = {}, signal }: RemoteCall = {}): Promise<UpstreamResponse> {
    const response = await this.#reached(() =>
      this.#runtime.send({
        url: this.url + path,
        method,
        headers: {
          ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal !== undefined && { signal }),
      })
    );
    if (response.status < 300) return response;
    const text = await this.#reached(() => readBodyText(response));
    const code = response.status === 503 ? unreachable : { code: "refused" }; // it is about to end
    throw new MeshError(this.#refusal(response.status, text), code);
  }

  /**
   * Sends a request and reads the response, with a timeout of 30 s.
   *
   * @throws {MeshError} When it fails or times out.
   */
  text(path: string, call: RemoteCall = {}): Promise<string> {
    return this.read(path, call, readBodyText);
  }

  /** The same, read as it arrives: `read` may leave a response that has no end. */
  async read<Result>(
    path: string,
    { signal, ...call }: RemoteCall,
    read: (response: UpstreamResponse) => Promise<Result>,
  ): Promise<Result> {
    const late = new AbortController();
    const cancel = this.#runtime.clock.after(limitMs, () => {
      late.abort(new MeshError(`The proxy at ${this.url} has not responded within ${limitMs / 1000} s`, unreachable));
    }, true);
    const giveUp = () => late.abort(signal?.reason);
    signal?.addEventListener("abort", giveUp);
    try {
      const response = await this.send(path, { ...call, signal: late.signal });
      return await this.#reached(() => read(response));
    } finally {
      signal?.removeEventListener("abort", giveUp);
      cancel();
    }
  }

  /** Sends a request and parses the JSON response. */
  async json<Body>(path: string, call: RemoteCall = {}): Promise<Body> {
    const text = await this.text(path, call);
    try {
      return JSON.parse(text);
    } catch {
      throw new MeshError(`The server at ${this.url} is not a ModelMesh proxy: ${path} is not JSON. Check --url`);
    }
  }

  async #reached<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!NetworkError.isInstance(error)) throw error;
      const message = error.neverSent
        ? `No proxy is listening at ${this.url}: start one with "modelmesh proxy", or give another --url`
        : `The connection to ${this.url} broke: see whether the proxy still runs, and try again`;
      throw new MeshError(message, { ...unreachable, cause: error });
    }
  }

  #refusal(status: number, text: string): string {
    const message = errorMessageIn(text);
    if (message === undefined) {
      return `The server at ${this.url} is not a ModelMesh proxy, or an older one: its status is ${status}. Check --url`;
    }
    if (status === 401) return `${message}. Pass the proxy's token with --token or MODELMESH_TOKEN`;
    if (status === 403) return `${message}. Pass an administrator's token with --token or MODELMESH_TOKEN`;
    return `The proxy responded: ${message}`;
  }
}

/** Returns the message in an error body; undefined for any other body. */
export function errorMessageIn(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const error = isObject(value) ? value.error : undefined;
    return isObject(error) && typeof error.message === "string" ? error.message : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a response body as a string. */
export async function readBodyText(response: UpstreamResponse): Promise<string> {
  let text = "";
  for await (const chunk of readBodyChunks(response)) text += chunk;
  return text;
}

/** Reads a response body in chunks. */
export async function* readBodyChunks(response: UpstreamResponse): AsyncGenerator<string> {
  const reader = response.reader();
  if (reader === null) return;
  const decoder = new TextDecoder();
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      yield decoder.decode(chunk.value, { stream: true });
    }
    yield decoder.decode();
  } finally {
    await reader.cancel().catch(() => {}); // no effect once it is read
  }
}
