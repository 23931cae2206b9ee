/**
 * Base class of providers that programs define in browsers: OpenAI's dialect, with hooks to replace each part.
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
import { createDefaults } from "../../src/util/normalize_completion.ts";
import { BaseProvider, isSuccess, readJsonObject } from "./_base.ts";
import { parseChunk, readHttpFault, throwIfError } from "./_http.ts";
import { readOpenAiError } from "./_openai_error.ts";
import { checkCompletion, findEdits, openChunkStream } from "./_openai_wire.ts";
import { requireResult } from "../../src/util/once.ts";

/**
 * A provider at a custom URL. By default it uses OpenAI's dialect; a subclass overrides what differs.
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
  /** The configuration. */
  readonly config: BrowserProviderConfig;
  #host: string | undefined;
  #runtime: Runtime | undefined;

  /**
   * Creates a provider.
   *
   * @param config The result of `createBrowserProviderConfig`.
   * @throws {ConfigError} If it is anything else.
   */
  constructor(config: BrowserProviderConfig) {
    // validated configurations are frozen
    if (typeof config !== "object" || config === null || !Object.isFrozen(config)) {
      throw new ConfigError([{
        path: "",
        message: "expected the result of createBrowserProviderConfig({ … })",
      }]);
    }
    super(config.id ?? "", config.models);
    this.config = config;
  }

  /** The configured id, or the host of its URL. */
  override get id(): string {
    return this.config.id ??
      (this.#host ??= parseHost(this.config.baseUrl || this.#endpoint(this.config.models[0]!.id)));
  }

  /**
   * The instance settings.
   *
   * @throws {ConfigError} If it has no URL.
   */
  override get instanceSettings(): BrowserProviderConfig {
    this.#endpoint(this.config.models[0]!.id); // throws when a client is created, not at its first call
    return this.config;
  }

  /**
   * Attaches the runtime; called before the first call.
   *
   * @param runtime Clock and network.
   */
  attach(runtime: Runtime): void {
    this.#runtime = runtime;
  }

  /**
   * The URL of chat requests.
   *
   * @param _model The model id, for URLs that contain it.
   * @throws {ConfigError} If the configuration has no URL.
   *
   * @example
   * ```ts
   * import { BrowserBaseProvider } from "@modelmesh/core/browser";
   *
   * class Acme extends BrowserBaseProvider {
   *   protected override _getCompletionEndpoint(model: string) {
   *     return `https://api.acme.example/v2/${encodeURIComponent(model)}/chat`;
   *   }
   * }
   * ```
   */
  protected _getCompletionEndpoint(_model: string): string {
    const { baseUrl } = this.config;
    if (baseUrl !== "") return `${baseUrl}/chat/completions`;
    const message = 'missing: set the URL, such as "https://api.example.com/v1", or override _getCompletionEndpoint';
    throw new ConfigError([{ path: "baseUrl", message }]);
  }

  /**
   * The headers of a request; names in lower case.
   *
   * @param credential The API key; undefined if there is none.
   *
   * @example
   * ```ts
   * import { BrowserBaseProvider } from "@modelmesh/core/browser";
   *
   * class Acme extends BrowserBaseProvider {
   *   protected override _buildHeaders(credential: string | undefined) {
   *     return { ...super._buildHeaders(credential), "x-acme-team": "web" };
   *   }
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
   * The request payload: an object is sent as JSON, a string unchanged.
   *
   * @param request The model, and the request in OpenAI's shape.
   *
   * @example
   * ```ts
   * import { BrowserBaseProvider, type CompletionRequest } from "@modelmesh/core/browser";
   *
   * class Acme extends BrowserBaseProvider {
   *   protected override _buildRequestPayload({ model, stream, body }: CompletionRequest) {
   *     return { engine: model.id, stream, prompt: body.messages.at(-1)?.content };
   *   }
   * }
   * ```
   */
  protected _buildRequestPayload(request: CompletionRequest): unknown {
    return { ...request.body, ...findEdits(request) };
  }

  /**
   * Converts a complete response to OpenAI's shape.
   *
   * @param data The parsed response body.
   *
   * @example
   * ```ts
   * import { BrowserBaseProvider } from "@modelmesh/core/browser";
   *
   * class Acme extends BrowserBaseProvider {
   *   protected override _parseResponse(data: Record<string, unknown>) {
   *     return {
   *       id: String(data.id),
   *       object: "chat.completion" as const,
   *       created: 0,
   *       model: "acme-small",
   *       choices: [{
   *         index: 0,
   *         message: { role: "assistant" as const, content: String(data.text), refusal: null },
   *         finish_reason: "stop" as const,
   *         logprobs: null,
   *       }],
   *     };
   *   }
   * }
   * ```
   */
  protected _parseResponse(data: Record<string, unknown>): ChatCompletion {
    return data as unknown as ChatCompletion;
  }

  /**
   * Converts an event of a streaming response to OpenAI's shape. The stream is complete at `[DONE]`, which is not
   * passed to this method, or when every choice has its finish reason: another end marker must be converted to a finish
   * reason.
   *
   * @returns Null or undefined if there is nothing to forward.
   *
   * @example
   * ```ts
   * import { BrowserBaseProvider } from "@modelmesh/core/browser";
   *
   * class Acme extends BrowserBaseProvider {
   *   protected override _parseSseChunk(data: string) {
   *     const { text, last } = JSON.parse(data);
   *     return {
   *       id: "acme",
   *       object: "chat.completion.chunk" as const,
   *       created: 0,
   *       model: "acme-small",
   *       choices: [{ index: 0, delta: { content: text }, finish_reason: last ? "stop" as const : null }],
   *     };
   *   }
   * }
   * ```
   */
  protected _parseSseChunk(data: string): ChatCompletionChunk | null | undefined {
    return parseChunk(data);
  }

  /**
   * The URL to which a request is sent: through `proxyUrl`, if configured. Applied to the result of
   * `_getCompletionEndpoint`.
   *
   * @param url The target URL.
   *
   * @example A forwarding proxy that expects the URL in its query
   * ```ts
   * import { BrowserBaseProvider } from "@modelmesh/core/browser";
   *
   * class Acme extends BrowserBaseProvider {
   *   protected override _resolveUrl(url: string) {
   *     return `https://forward.example/?to=${encodeURIComponent(url)}`;
   *   }
   * }
   * ```
   */
  protected _resolveUrl(url: string): string {
    const { proxyUrl } = this.config;
    return proxyUrl === undefined || url.startsWith(`${proxyUrl}/`) ? url : `${proxyUrl}/${url}`;
  }

  /** Requests a complete response. */
  protected override async chat(request: CompletionRequest, options: CallOptions): Promise<CompletionResponse> {
    return { body: this.#readComplete(await readJsonObject(await this.#post(request, options))) };
  }

  /** Requests a streaming response. */
  override stream(request: CompletionRequest, options: CallOptions): AsyncIterable<CompletionChunk> {
    return openChunkStream(this.#post(request, options), {
      readComplete: (body) => this.#readComplete(body),
      parse: (data) => runInTurn("_parseSseChunk", () => this._parseSseChunk(data)),
      defaults: createDefaults(request, this.#runtime!),
      reportComplete: options.reportComplete,
    });
  }

  /** The configured models. */
  listModels(_options: CallOptions): Promise<readonly ModelInfo[]> {
    return Promise.resolve(this.config.models);
  }

  #endpoint(model: string): string {
    return runInTurn("_getCompletionEndpoint", () => this._getCompletionEndpoint(model));
  }

  #readComplete(body: Record<string, unknown>): ChatCompletion {
    throwIfError(body);
    const completion = runInTurn("_parseResponse", () => this._parseResponse(body));
    return checkCompletion({ ...completion });
  }

  async #post(request: CompletionRequest, options: CallOptions): Promise<UpstreamResponse> {
    const endpoint = this.#endpoint(request.model.id);
    const payload = runInTurn("_buildRequestPayload", () => this._buildRequestPayload(request));
    const response = await options.send({
      url: runInTurn("_resolveUrl", () => this._resolveUrl(endpoint)),
      headers: runInTurn("_buildHeaders", () => this._buildHeaders(options.credential)),
      body: typeof payload === "string" ? payload : JSON.stringify(payload),
    });
    if (isSuccess(response)) {
      const model = response.headers.get("x-mesh-model");
      const provider = response.headers.get("x-mesh-provider");
      if (model !== null) options.reportServedBy?.({ model, ...(provider === null ? {} : { provider }) });
      return response;
    }
    if (this.#runtime === undefined) throw new MeshError("A provider is used through create(), which attaches it");
    throw await readHttpFault(response, { readError: readOpenAiError }, this.#runtime.clock);
  }
}

/** Identifies the hook that failed, and why; the engine redacts API keys from the message. */
function runInTurn<Result>(name: string, hook: () => Result): Result {
  try {
    return requireResult(hook());
  } catch (error) {
    if (MeshError.isInstance(error)) throw error;
    const what = error instanceof Error ? `${error.name}: ${error.message}` : "no Error";
    throw new UpstreamError(`The provider's ${name} threw ${what}`, {
      kind: name.startsWith("_parse") ? "invalid_response" : "misconfigured",
    });
  }
}

function parseHost(url: string): string {
  return /^https?:\/\/([^/?#]+)/i.exec(url)?.[1] ?? "";
}
