/**
 * The base of providers that programs in browsers make themselves: OpenAI's dialect, each part of which can be
 * replaced.
 * @module
 */
import type { BrowserProviderConfig, GivenProvider } from "../../src/contracts/browser_provider.ts";
import type { ChatCompletion, ChatCompletionChunk } from "../../src/contracts/openai.ts";
import type {
  CallOptions,
  CompletionChunk,
  CompletionRequest,
  CompletionResponse,
  ModelInfo,
} from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { ConfigError, MeshError, UpstreamError } from "../../src/errors.ts";
import { BaseProvider, isSuccess, readObject } from "./_base.ts";
import { chunkOf, readFault, throwIfError } from "./_http.ts";
import { readOpenAiError } from "./_openai_error.ts";
import { completionOf, editsOf, streamOf } from "./_openai_wire.ts";

/**
 * A provider at an address of the program's own. As it stands it speaks OpenAI's dialect; a subclass replaces what is
 * different.
 *
 * @example
 * ```ts
 * import { BrowserBaseProvider, create, createBrowserProviderConfig } from "@modelmesh/core/browser";
 *
 * class Acme extends BrowserBaseProvider {
 *   protected override _getCompletionEndpoint() {
 *     return "https://api.acme.example/v2/chat";
 *   }
 * }
 * const acme = new Acme(createBrowserProviderConfig({ apiKey: "the-key-of-this-user", models: ["acme-small"] }));
 * const client = create("chat-completion", { providers: [acme] });
 * console.log(client.describe().pools[0]?.models[0]?.name); // api.acme.example.acme-small
 * ```
 */
export class BrowserBaseProvider extends BaseProvider implements GivenProvider {
  /** What it was made with. */
  readonly config: BrowserProviderConfig;
  #host: string | undefined;
  #runtime: Runtime | undefined;

  /**
   * Makes one.
   *
   * @param config What `createBrowserProviderConfig` returns.
   * @throws {ConfigError} When it is anything else.
   */
  constructor(config: BrowserProviderConfig) {
    // what has been checked is frozen
    if (typeof config !== "object" || config === null || !Object.isFrozen(config)) {
      throw new ConfigError([{
        path: "",
        message: "a provider takes what createBrowserProviderConfig({ … }) returns",
      }]);
    }
    super(config.id ?? "", config.models);
    this.config = config;
  }

  /** Its id: the one it was configured with, else the host it is at. */
  override get id(): string {
    return this.config.id ?? (this.#host ??= hostOf(this.config.baseUrl || this.#endpoint(this.config.models[0]!.id)));
  }

  /**
   * What a configuration would say of it.
   *
   * @throws {ConfigError} When it has no address.
   */
  get instanceSettings(): BrowserProviderConfig {
    this.#endpoint(this.config.models[0]!.id); // thrown when a client is made, not at its first call
    return this.config;
  }

  /**
   * Gets what it runs on, before its first call.
   *
   * @param runtime For time and network.
   */
  attach(runtime: Runtime): void {
    this.#runtime = runtime;
  }

  /**
   * Where chat requests go.
   *
   * @param _model The id of the model that is asked, for addresses that name it.
   * @throws {ConfigError} When the configuration has no address.
   *
   * @example
   * ```ts ignore
   * protected override _getCompletionEndpoint(model: string) {
   *   return `https://api.acme.example/v2/${encodeURIComponent(model)}/chat`;
   * }
   * ```
   */
  protected _getCompletionEndpoint(_model: string): string {
    const { baseUrl } = this.config;
    if (baseUrl !== "") return `${baseUrl}/chat/completions`;
    const message =
      'missing: give the address, such as "https://api.example.com/v1", or override _getCompletionEndpoint';
    throw new ConfigError([{ path: "baseUrl", message }]);
  }

  /**
   * The headers of a request, names in lower case.
   *
   * @param credential The key; undefined when there is none.
   *
   * @example
   * ```ts ignore
   * protected override _buildHeaders(credential: string | undefined) {
   *   return { ...super._buildHeaders(credential), "x-acme-team": "web" };
   * }
   * ```
   */
  protected _buildHeaders(credential: string | undefined): Record<string, string> {
    const headers: Record<string, string> = { "content-type": "application/json" };
    const { authMethod } = this.config;
    if (credential === undefined || authMethod === "none") return headers;
    return authMethod === "api_key"
      ? { ...headers, authorization: `Bearer ${credential}` }
      : { ...headers, [authMethod]: credential };
  }

  /**
   * What is sent: an object becomes JSON, a text goes as it is.
   *
   * @param request The model that is asked and OpenAI's request for it.
   *
   * @example
   * ```ts ignore
   * protected override _buildRequestPayload({ model, stream, body }: CompletionRequest) {
   *   return { engine: model.id, stream, prompt: body.messages.at(-1)?.content };
   * }
   * ```
   */
  protected _buildRequestPayload(request: CompletionRequest): unknown {
    return { ...request.body, ...editsOf(request) };
  }

  /**
   * A complete response in OpenAI's shape.
   *
   * @param data The JSON object that came.
   *
   * @example
   * ```ts ignore
   * protected override _parseResponse(data: Record<string, unknown>) {
   *   return {
   *     id: String(data.id),
   *     object: "chat.completion" as const,
   *     created: 0,
   *     model: "acme-small",
   *     choices: [{
   *       index: 0,
   *       message: { role: "assistant" as const, content: String(data.text), refusal: null },
   *       finish_reason: "stop" as const,
   *       logprobs: null,
   *     }],
   *   };
   * }
   * ```
   */
  protected _parseResponse(data: Record<string, unknown>): ChatCompletion {
    return data as unknown as ChatCompletion;
  }

  /**
   * One event of a streamed response in OpenAI's shape. The stream is complete at `[DONE]`, which does not come here,
   * or once every choice has its finish reason: an end of one's own has to be turned into one.
   *
   * @param data The event's data.
   * @returns Null or undefined when it has nothing to pass on.
   *
   * @example
   * ```ts ignore
   * protected override _parseSseChunk(data: string) {
   *   const { text, last } = JSON.parse(data);
   *   return {
   *     id: "acme",
   *     object: "chat.completion.chunk" as const,
   *     created: 0,
   *     model: "acme-small",
   *     choices: [{ index: 0, delta: { content: text }, finish_reason: last ? "stop" as const : null }],
   *   };
   * }
   * ```
   */
  protected _parseSseChunk(data: string): ChatCompletionChunk | null | undefined {
    return chunkOf(data);
  }

  /**
   * The address a request is sent to, given where it shall end up: through `proxyUrl`, where there is one. It is
   * applied to whatever `_getCompletionEndpoint` returns.
   *
   * @param url Where the request shall end up.
   *
   * @example A forwarder that takes the address in its query
   * ```ts ignore
   * protected override _resolveUrl(url: string) {
   *   return `https://forward.example/?to=${encodeURIComponent(url)}`;
   * }
   * ```
   */
  protected _resolveUrl(url: string): string {
    const { proxyUrl } = this.config;
    return proxyUrl === undefined || url.startsWith(`${proxyUrl}/`) ? url : `${proxyUrl}/${url}`;
  }

  /** One complete response. */
  protected override async chat(request: CompletionRequest, options: CallOptions): Promise<CompletionResponse> {
    return { body: this.#readWhole(await readObject(await this.#post(request, options))) };
  }

  /** A streamed response. */
  override stream(request: CompletionRequest, options: CallOptions): AsyncIterable<CompletionChunk> {
    return streamOf(this.#post(request, options), (chunks) => ({
      readWhole: (body) => this.#readWhole(body),
      readChunk: (data) => {
        const value = run("_parseSseChunk", () => this._parseSseChunk(data));
        if (value === null || value === undefined) return undefined;
        chunks.complete(value);
        return { value };
      },
    }));
  }

  /** The models it was configured with. */
  listModels(_options: CallOptions): Promise<readonly ModelInfo[]> {
    return Promise.resolve(this.config.models);
  }

  #endpoint(model: string): string {
    return run("_getCompletionEndpoint", () => this._getCompletionEndpoint(model));
  }

  #readWhole(body: Record<string, unknown>): ChatCompletion {
    throwIfError(body);
    const completion = run("_parseResponse", () => this._parseResponse(body));
    return completionOf({ ...completion });
  }

  async #post(request: CompletionRequest, options: CallOptions): Promise<UpstreamResponse> {
    const endpoint = this.#endpoint(request.model.id);
    const payload = run("_buildRequestPayload", () => this._buildRequestPayload(request));
    const response = await options.send({
      url: run("_resolveUrl", () => this._resolveUrl(endpoint)),
      headers: run("_buildHeaders", () => this._buildHeaders(options.credential)),
      body: typeof payload === "string" ? payload : JSON.stringify(payload),
    });
    if (isSuccess(response)) {
      const model = response.headers.get("x-mesh-model");
      const provider = response.headers.get("x-mesh-provider");
      if (model !== null) options.reportServedBy?.({ model, ...(provider === null ? {} : { provider }) });
      return response;
    }
    if (this.#runtime === undefined) throw new MeshError("A provider is used through create(), which attaches it");
    throw await readFault(response, { readError: readOpenAiError }, this.#runtime.clock);
  }
}

/** The author of a hook wants to know which one failed and why; the engine takes keys out of the text. */
function run<Result>(name: string, hook: () => Result): Result {
  try {
    return hook();
  } catch (error) {
    if (MeshError.isInstance(error)) throw error;
    const what = error instanceof Error ? `${error.name}: ${error.message}` : "no Error";
    throw new UpstreamError(`The provider's ${name} threw ${what}`, {
      kind: name.startsWith("_parse") ? "invalid_response" : "misconfigured",
    });
  }
}

function hostOf(url: string): string {
  return /^https?:\/\/([^/?#]+)/i.exec(url)?.[1] ?? "";
}
