/**
 * Base of all OpenAI-compatible vendors: each vendor is only a declaration.
 * @module
 */
import type { ProviderConnector, ProviderSettings } from "../../src/contracts/connector.ts";
import type { Infrastructure } from "../../src/contracts/infrastructure.ts";
import type { ChatCompletionChunk, JsonObject } from "../../src/contracts/openai.ts";
import type {
  CallOptions,
  ChatApi,
  CompletionChunk,
  CompletionRequest,
  CompletionResponse,
  ModelInfo,
  NativeRequest,
  OperationCall,
  OperationTable,
  Provider,
  Quota,
} from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamRequest, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { createDefaults, normalizeCompletion } from "../../src/util/normalize_completion.ts";
import { stripTrailing } from "../../src/util/strip_trailing.ts";
import { BaseProvider, isSuccess, notOffered, readResponseText } from "./_base.ts";
import { type FaultReader, parseChunk, parseObject, readHttpFault, readWire, toWireText } from "./_http.ts";
import {
  checkCompletion,
  findEdits,
  openChunkStream,
  writeJson,
  writeMultipart,
  writeOperationBody,
} from "./_openai_wire.ts";
import { readOpenAiError } from "./_openai_error.ts";
import { lazyInfrastructure } from "./_openai_operations.ts";
import type { ResponsesCall } from "./_openai_responses.ts";
import type { ReceivedEvent } from "./_openai_stream.ts";
import {
  createDeclaration,
  listVendorModels,
  type NativeReading,
  type OpenAiCompatible,
  type Post,
} from "./_openai_vendor.ts";

/** A path that resolving leaves unchanged. */
const plainPath = /^\w[\w/-]*$/;

/**
 * Creates a connector from a declaration.
 *
 * @example
 * ```ts
 * import { ModelMesh, openAiCompatible } from "@modelmesh/core";
 *
 * const acme = openAiCompatible({
 *   id: "acme.llm.v1",
 *   vendor: "acme",
 *   baseUrl: "https://api.acme.example/v1",
 *   detection: { keys: ["ACME_API_KEY"] },
 * });
 * const mesh = new ModelMesh();
 * mesh.registerConnector(acme.id, acme);
 * ```
 */
export function openAiCompatible(vendor: OpenAiCompatible): ProviderConnector {
  return {
    ...createDeclaration(vendor),
    create: (settings, runtime) => new OpenAiCompatibleProvider(vendor, settings as ProviderSettings, runtime),
  };
}

/** An OpenAI-compatible provider. */
export class OpenAiCompatibleProvider extends BaseProvider {
  readonly #vendor: OpenAiCompatible;
  readonly #baseUrl: string;
  readonly #chatUrl: string;
  readonly #runtime: Runtime;
  readonly #faults: FaultReader;
  readonly #calls: OperationTable;
  /** Native dialects that it supports. */
  readonly dialects: readonly string[];
  /** The region in which calls are processed, if the base URL determines it. */
  readonly region: string | undefined;
  /** The APIs through which it sends chat requests. */
  readonly apis: readonly ChatApi[];
  /** Counts the input tokens of a Responses request; undefined if the vendor does not. */
  readonly countTokens?: NonNullable<Provider["countTokens"]>;
  readonly #infrastructure: Infrastructure | undefined;
  /** The URL to which paths of operations are relative. */
  #folder: string | undefined;
  #latest: { readonly credential: string | undefined; readonly headers: Record<string, string> } | undefined;

  /**
   * Creates a provider.
   *
   * @param settings Entry id and base URL.
   * @param runtime Clock and network.
   */
  constructor(vendor: OpenAiCompatible, settings: ProviderSettings, runtime: Runtime) {
    super(settings.id, listVendorModels(vendor));
    this.#vendor = vendor;
    const { baseUrl = "" } = vendor;
    const ownAddress = () => typeof baseUrl === "string" ? baseUrl : baseUrl(settings, runtime.env);
    this.#baseUrl = stripTrailing(settings.baseUrl ?? ownAddress(), "/");
    this.region = vendor.findRegion?.(this.#baseUrl);
    this.#chatUrl = `${this.#baseUrl}/chat/completions`;
    this.dialects = listDialects(vendor, settings);
    this.apis = listApis(vendor, settings);
    this.#runtime = runtime;
    this.#faults = {
      readError: vendor.readError ?? readOpenAiError,
      ...(vendor.readRetryAfter === undefined ? {} : { readRetryAfter: vendor.readRetryAfter }),
    };
    const post: Post = (path, request, options) => {
      const url = vendor.address?.(path, request.model.id) ?? this.#resolve(path);
      return this.#send({ url, ...postedBody(request, runtime) }, options);
    };
    this.#calls = Object.fromEntries(
      Object.entries(vendor.operations ?? {}).map((
        [name, createCall],
      ) => [name, readingBilled(createCall(post, runtime), vendor)]),
    );
    if (vendor.countsTokens) {
      this.countTokens = async (request, options) =>
        await (await import("./_openai_responses.ts")).countTokens(
          request,
          (path, body) => this.#send({ url: this.#dialectUrl(path, request.model.id), body }, options),
        );
    }
    this.#infrastructure = vendor.infrastructure && lazyInfrastructure({
      facts: vendor.infrastructure,
      runtime,
      send: (path, request, options) => this.#send({ url: this.#toUrl(path), ...request }, options),
    });
  }

  /** Files, batches and fine-tuning jobs; the implementation is imported with the first call. */
  override get infrastructure(): Infrastructure | undefined {
    return this.#infrastructure;
  }

  /** Calls of operations other than chat. */
  protected override get calls(): OperationTable {
    return this.#calls;
  }

  /** Requests a complete response, and retains its bytes. */
  protected override async chat(request: CompletionRequest, options: CallOptions): Promise<CompletionResponse> {
    if (this.#vendor.withoutChat) return super.chat(request, options);
    if (request.native !== undefined) {
      const reader = await loadNativeReader(request.native);
      return await reader.readComplete(await this.#postNative(request, options, reader), this.#createReading(request));
    }
    if (request.api === "responses") {
      const { completeChat } = await import("./_openai_responses.ts");
      return await completeChat(request, this.#createResponsesCall(request, options));
    }
    const response = await this.#post(request, options);
    if (!isSuccess(response)) throw await this.#fault(response);
    const received = readWire(response);
    const wire = received instanceof Promise ? await received : received;
    const body = checkCompletion(parseObject(toWireText(wire)));
    const billed = body.usage ? this.#vendor.readBilled?.(body) : undefined;
    const isChanged = normalizeCompletion(body, createDefaults(request, this.#runtime));
    return isChanged ? { body, billed } : { body, wire, billed };
  }

  /** Requests a streaming response, and retains the JSON of each event. */
  override stream(request: CompletionRequest, options: CallOptions): AsyncIterable<CompletionChunk> {
    if (this.#vendor.withoutChat) return notOffered("chat");
    if (request.native !== undefined) return this.#streamNative(request, options);
    if (request.api === "responses") return this.#streamByResponses(request, options);
    return openChunkStream(this.#open(request, options), {
      readComplete: checkCompletion,
      parse: parseChunk,
      toChunk: (value, event) => this.#toChunk(value, event),
      defaults: createDefaults(request, this.#runtime),
      joins: request.wire !== undefined,
      reportComplete: options.reportComplete,
    });
  }

  /** Requests `GET /models`. For a vendor without a model list, returns the catalogue once the vendor has responded. */
  async listModels(options: CallOptions): Promise<readonly ModelInfo[]> {
    const { list } = this.#vendor;
    const ids = list === undefined
      ? listed(await this.#get("models", options)).map(({ id }) => id)
      : await (await import("./_model_list.ts")).fetchModelIds(list, (path) => this.#get(path, options));
    return ids?.map((id) => this.findInfo(id) ?? { id }) ?? listVendorModels(this.#vendor);
  }

  /** Requests `GET /models` from a vendor whose list contains model facts. */
  async describeModels(options: CallOptions): Promise<readonly ModelInfo[] | undefined> {
    const { describe } = this.#vendor;
    if (describe === undefined) return undefined;
    return listed(await this.#get("models", options)).map((entry) => ({
      ...describe(entry, this.findInfo(entry.id)),
      id: entry.id,
    }));
  }

  /** Requests the remaining quota from a vendor that reports it. */
  override async checkQuota(options: CallOptions): Promise<Quota | undefined> {
    const { quota } = this.#vendor;
    return quota === undefined ? undefined : quota.read(await this.#get(quota.path, options));
  }

  /** Resolves a path of an operation. */
  #resolve(path: string): string {
    if (!plainPath.test(path)) return new URL(path, `${this.#baseUrl}/`).href;
    this.#folder ??= new URL(".", `${this.#baseUrl}/`).href;
    return this.#folder + path;
  }

  /** A base URL may have a query. */
  #toUrl(pathAndQuery: string): string {
    const [path = "", query] = pathAndQuery.split("?");
    const url = this.#vendor.address?.(path) ?? `${this.#baseUrl}/${path}`;
    return query === undefined ? url : `${url}${url.includes("?") ? "&" : "?"}${query}`;
  }

  async #get(path: string, options: CallOptions): Promise<JsonObject> {
    const text = await readResponseText(
      await this.#send({ url: new URL(this.#toUrl(path)).href, method: "GET" }, options),
    );
    // some vendors return their models, or voices, as a bare array
    return parseObject(text.trimStart().startsWith("[") ? `{"data":${text}}` : text);
  }

  /** The headers of calls with a key: the same object for the same key, so that a client can prepare them once. */
  #headers({ credential }: CallOptions): Readonly<Record<string, string>> {
    if (this.#latest !== undefined && this.#latest.credential === credential) return this.#latest.headers;
    const { credentialHeader, authorize } = this.#vendor;
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (credential !== undefined) {
      const own = credentialHeader === undefined ? authorize?.(credential) : { [credentialHeader]: credential };
      Object.assign(headers, own ?? { authorization: `Bearer ${credential}` });
    }
    if (authorize === undefined) this.#latest = { credential, headers };
    return headers;
  }

  /** Sends a chat request. The status of the response is left to the caller. */
  #post(request: CompletionRequest, options: CallOptions): Promise<UpstreamResponse> {
    const url = this.#vendor.address?.("chat/completions", request.model.id) ?? this.#chatUrl;
    const { streamUsage, adaptMessages } = this.#vendor;
    const { messages } = request.body;
    const adapted = adaptMessages?.(messages) ?? messages;
    const edits = findEdits(request, streamUsage);
    const body = writeJson(request, adapted === messages ? edits : { ...edits, messages: adapted });
    const headers = this.#headers(options);
    if (request.promptCache === undefined) return options.send({ url, body, headers });
    return withCacheMarks(body, request).then((marked) => options.send({ url, body: marked, headers }));
  }

  async #open(request: CompletionRequest, options: CallOptions): Promise<UpstreamResponse> {
    const response = await this.#post(request, options);
    if (!isSuccess(response)) throw await this.#fault(response);
    return response;
  }

  async *#streamNative(request: CompletionRequest, options: CallOptions): AsyncGenerator<CompletionChunk> {
    const reader = await loadNativeReader(request.native!);
    yield* reader.readEvents(this.#postNative(request, options, reader), {
      ...this.#createReading(request),
      reportComplete: options.reportComplete,
    });
  }

  async *#streamByResponses(request: CompletionRequest, options: CallOptions): AsyncGenerator<CompletionChunk> {
    const { streamChat } = await import("./_openai_responses.ts");
    yield* streamChat(request, this.#createResponsesCall(request, options));
  }

  #createResponsesCall({ model }: CompletionRequest, options: CallOptions): ResponsesCall {
    const { vendor, readBilled } = this.#vendor;
    const post = (body: string) => this.#send({ url: this.#dialectUrl("responses", model.id), body }, options);
    return { vendor, readBilled, runtime: this.#runtime, post };
  }

  #dialectUrl(path: string, model: string): string {
    return this.#vendor.address?.(path, model) ?? `${this.#baseUrl}/${path}`;
  }

  #createReading(request: CompletionRequest): NativeReading {
    return { ...createDefaults(request, this.#runtime), readBilled: this.#vendor.readBilled };
  }

  /** Some vendors send prompt annotations first, but many clients expect a choice in every chunk. */
  #toChunk(value: ChatCompletionChunk, { data, isChanged }: ReceivedEvent): CompletionChunk | undefined {
    if (value.choices.length === 0 && !value.usage) return undefined;
    const { readBilled } = this.#vendor;
    const isLast = value.usage || value.choices.some(({ finish_reason }) => finish_reason);
    const billed = isLast && readBilled !== undefined ? { billed: readBilled(value) } : undefined;
    // multi-line data would not fit into one `data:` line
    const wire = isChanged || data.includes("\n") ? JSON.stringify(value) : data;
    return { value, wire, ...billed };
  }

  #postNative(
    { model, native }: CompletionRequest,
    options: CallOptions,
    { sendAccepted }: NativeReader,
  ): Promise<UpstreamResponse> {
    const { dialect, text } = native!;
    const send = (body: string) => this.#send({ url: this.#dialectUrl(dialect, model.id), body }, options);
    return sendAccepted?.(text, send) ?? send(text);
  }

  /** Sends a request with the API key. Throws if the response status is not a success. */
  async #send(
    request: VendorRequest,
    options: CallOptions,
  ): Promise<UpstreamResponse> {
    const own = this.#headers(options);
    const headers = request.headers === undefined ? own : { ...own, ...request.headers };
    const response = await options.send({ ...request, headers });
    if (!isSuccess(response)) throw await this.#fault(response);
    return response;
  }

  #fault(response: UpstreamResponse): Promise<UpstreamError> {
    return readHttpFault(response, this.#faults, this.#runtime.clock);
  }
}

/** A request whose headers are added to those with the API key. */
type VendorRequest = Pick<UpstreamRequest, "url" | "method" | "body"> & {
  readonly headers?: UpstreamRequest["headers"] | undefined;
};

/** Marks the prompt for the cache. */
async function withCacheMarks(body: string, { model, promptCache }: CompletionRequest): Promise<string> {
  const { markChat } = await import("./_cache_marks.ts");
  return markChat(body, { ...promptCache!, model: model.id });
}

function listDialects(vendor: OpenAiCompatible, { baseUrl: address, config }: ProviderSettings): readonly string[] {
  const { dialects = {}, baseUrl, local } = vendor;
  // if no default URL was given, all URLs are the vendor's own
  const isOwn = local || !address || !baseUrl || address === baseUrl;
  const overrides = config as Readonly<Record<string, boolean | undefined>> | undefined;
  return Object.entries(dialects).flatMap(([name, has]) => overrides?.[name] ?? (has && isOwn) ? [name] : []);
}

/** Whether a model is called through the Responses API is declared with the model. */
function listApis({ dialects, withoutResponses = false }: OpenAiCompatible, { config }: ProviderSettings): ChatApi[] {
  const isDeclared = dialects?.responses !== undefined;
  const isGiven = isDeclared ? (config as Readonly<Record<string, unknown>> | undefined)?.responses : undefined;
  return isGiven ?? !withoutResponses ? ["chat", "responses"] : ["chat"];
}

/** Reads responses of a native dialect, which is named by its path. */
interface NativeReader {
  /** Sends a request without what the dialect rejects. */
  sendAccepted?(text: string, send: (text: string) => Promise<UpstreamResponse>): Promise<UpstreamResponse>;
  readComplete(response: UpstreamResponse, reading: NativeReading): Promise<CompletionResponse>;
  readEvents(opening: Promise<UpstreamResponse>, reading: NativeReading): AsyncIterable<CompletionChunk>;
}

function loadNativeReader({ dialect }: NativeRequest): Promise<NativeReader> {
  return dialect === "completions" ? import("./_openai_completions.ts") : import("./_openai_responses.ts");
}

/** A call of an operation that extracts what the vendor bills, as those for chat do. */
function readingBilled(call: OperationCall, { readBilled }: OpenAiCompatible): OperationCall {
  if (readBilled === undefined) return call;
  return async (request, options) => {
    const response = await call(request, options);
    const { body, billed = body.usage ? readBilled(body) : undefined } = response;
    return { ...response, billed };
  };
}

/** The client's own body, or the vendor-specific body in place of it. */
function postedBody(
  request: Parameters<Post>[1],
  runtime: Runtime,
): Omit<VendorRequest, "url"> {
  const { json, raw, fields, files = [], method, headers } = request;
  if (method === "GET") return { method, headers };
  if (raw !== undefined) return { body: raw.chunks, headers: { ...headers, "content-type": raw.type } };
  if (fields !== undefined) return writeMultipart({ files, fields }, runtime);
  return json === undefined ? writeOperationBody(request, runtime) : { body: JSON.stringify(json), headers };
}

/** The models of a list response. */
function listed({ data }: JsonObject): readonly (JsonObject & { readonly id: string })[] {
  if (!Array.isArray(data)) {
    throw new UpstreamError("The provider's model list has no data", { kind: "invalid_response" });
  }
  return data.filter((entry) => typeof entry?.id === "string");
}
