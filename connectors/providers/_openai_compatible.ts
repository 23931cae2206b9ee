/**
 * The shared base of every vendor that speaks OpenAI's dialect: a vendor is a declaration.
 * @module
 */
import type { Detection, ProviderConnector, ProviderSettings } from "../../src/contracts/connector.ts";
import type { ChatCompletion, ChatCompletionChunk, ToolCallDelta } from "../../src/contracts/openai.ts";
import type {
  CallOptions,
  CapabilityPath,
  CompletionChunk,
  CompletionRequest,
  CompletionResponse,
  DatedPricing,
  Delivery,
  FailureKind,
  ModelInfo,
  ParameterRules,
  Provider,
  Quota,
  RateLimits,
  UsageReport,
} from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { classifyError, isRetryableKind } from "../../src/util/classify.ts";
import { editMembers } from "../../src/util/json_members.ts";
import { readSse } from "../../src/util/sse_parse.ts";
import { chunksOf } from "./_chunks.ts";
import { type FaultReader, parseObject, readBytes, readFault, readOpenAiError, upstreamError } from "./_http.ts";

/** What sets a vendor of OpenAI's dialect apart. */
export interface OpenAiCompatible {
  /** Connector id. */
  readonly id: string;
  /** Prefix of its models' names. */
  readonly vendor: string;
  /** Address with version prefix; left out when it has to be configured. */
  readonly baseUrl?: string;
  /** How it is found in the environment. */
  readonly detection?: Detection;
  /** Known models. */
  readonly models?: readonly ModelInfo[];
  /** Rewording all its models need. */
  readonly parameters?: ParameterRules;
  /** A server on one's own machine. */
  readonly local?: boolean;
  /** Works without a key. */
  readonly keyless?: boolean;
  /** Headers that carry the key; `Authorization: Bearer` unless said. */
  readonly authorize?: (credential: string) => Record<string, string>;
  /** Whether it takes `stream_options.include_usage`; most do. */
  readonly streamUsage?: boolean;
  /** A wait the vendor names in a place of its own. */
  readonly readRetryAfter?: FaultReader["readRetryAfter"];
}

/**
 * Makes a connector of a declaration.
 *
 * @param vendor What sets the vendor apart.
 *
 * @example
 * ```ts ignore
 * export const acme = openAiCompatible({
 *   id: "acme.llm.v1",
 *   vendor: "acme",
 *   baseUrl: "https://api.acme.example/v1",
 *   detection: { keys: ["ACME_API_KEY"] },
 * });
 * ```
 */
export function openAiCompatible(vendor: OpenAiCompatible): ProviderConnector {
  return {
    kind: "provider",
    id: vendor.id,
    vendor: vendor.vendor,
    models: vendor.models ?? [],
    needsBaseUrl: vendor.baseUrl === undefined,
    keyless: vendor.keyless ?? vendor.local ?? false,
    local: vendor.local ?? false,
    ...(vendor.detection === undefined ? {} : { detection: vendor.detection }),
    ...(vendor.parameters === undefined ? {} : { parameters: vendor.parameters }),
    create: (settings, runtime) => new OpenAiCompatibleProvider(vendor, settings as ProviderSettings, runtime),
  };
}

/** A provider of OpenAI's dialect. */
export class OpenAiCompatibleProvider implements Provider {
  /** The entry's id. */
  readonly id: string;
  readonly #vendor: OpenAiCompatible;
  readonly #baseUrl: string;
  readonly #runtime: Runtime;
  readonly #faults: FaultReader;

  /**
   * @param vendor What sets the vendor apart.
   * @param settings The entry's id and address.
   * @param runtime The door to the outside.
   */
  constructor(vendor: OpenAiCompatible, settings: ProviderSettings, runtime: Runtime) {
    this.id = settings.id;
    this.#vendor = vendor;
    this.#baseUrl = (settings.baseUrl ?? vendor.baseUrl ?? "").replace(/\/+$/, "");
    this.#runtime = runtime;
    this.#faults = {
      readError: readOpenAiError,
      ...(vendor.readRetryAfter === undefined ? {} : { readRetryAfter: vendor.readRetryAfter }),
    };
  }

  /** One whole answer, its bytes kept. */
  async complete(request: CompletionRequest, options: CallOptions): Promise<CompletionResponse> {
    const response = await this.#post(request, options);
    const bytes = await readBytes(response);
    return { body: completionOf(parseObject(new TextDecoder().decode(bytes))), wire: bytes };
  }

  /** A streamed answer, each event's text kept. */
  async *stream(request: CompletionRequest, options: CallOptions): AsyncGenerator<CompletionChunk> {
    const response = await this.#post(request, options);
    if (response.body === null) throw new UpstreamError("The provider sent no body", { kind: "invalid_response" });
    if (/json|html/.test(response.headers.get("content-type") ?? "")) {
      yield* chunksOf(completionOf(parseObject(new TextDecoder().decode(await readBytes(response)))));
      return;
    }
    let unfinished = "";
    let finished = false;
    let empty = true;
    for await (const { data } of readSse(response.body, (data) => unfinished = data)) {
      if (data === "[DONE]") {
        finished = true;
        break;
      }
      if (data === "") continue;
      const chunk = chunkOf(data);
      finished ||= chunk.value.choices.some((choice) =>
        choice.finish_reason !== null && choice.finish_reason !== undefined
      );
      empty = false;
      yield chunk;
    }
    if (!finished && unfinished !== "[DONE]") {
      throw new UpstreamError("The provider's stream ended before the answer did", { kind: "invalid_response" });
    }
    if (empty) throw new UpstreamError("The provider's stream was empty", { kind: "invalid_response" });
  }

  /** Asks `GET /models`. */
  async listModels(options: CallOptions): Promise<readonly ModelInfo[]> {
    const response = await options.send({
      url: `${this.#baseUrl}/models`,
      method: "GET",
      headers: this.#headers(options),
      signal: options.signal,
    });
    if (response.status < 200 || response.status > 299) throw await this.#fault(response);
    const { data } = parseObject(new TextDecoder().decode(await readBytes(response)));
    if (!Array.isArray(data)) {
      throw new UpstreamError("The provider's model list has no data", { kind: "invalid_response" });
    }
    return data.flatMap((entry) => typeof entry?.id === "string" ? [this.#known(entry.id) ?? { id: entry.id }] : []);
  }

  /** What the catalogue knows. */
  getModelInfo(model: string): Promise<ModelInfo | undefined> {
    return Promise.resolve(this.#known(model));
  }

  /** What the catalogue knows. */
  getCapabilities(model: string): readonly CapabilityPath[] {
    return this.#known(model)?.capabilities ?? [];
  }

  /** Sync and stream, for what the catalogue knows. */
  supports(model: string, capability: CapabilityPath, delivery: Delivery): boolean {
    return delivery !== "batch" && this.getCapabilities(model).includes(capability);
  }

  /** No vendor of this dialect tells. */
  checkQuota(): Promise<Quota | undefined> {
    return Promise.resolve(undefined);
  }

  /** Known only from answers. */
  getRateLimits(): RateLimits | undefined {
    return undefined;
  }

  /** The catalogue's prices. */
  getPricing(model: string): readonly DatedPricing[] | undefined {
    return this.#known(model)?.pricing;
  }

  /** Nothing to tell the vendor. */
  reportUsage(_usage: UsageReport): void {}

  /** By status, code and type. */
  classifyError(error: unknown): FailureKind {
    return classifyError(error);
  }

  /** By class. */
  isRetryable(error: unknown): boolean {
    return isRetryableKind(classifyError(error));
  }

  #known(model: string): ModelInfo | undefined {
    return this.#vendor.models?.find(({ id }) => id === model);
  }

  #headers({ credential }: CallOptions): Record<string, string> {
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (credential === undefined) return headers;
    return Object.assign(headers, this.#vendor.authorize?.(credential) ?? { authorization: `Bearer ${credential}` });
  }

  async #post(request: CompletionRequest, options: CallOptions): Promise<UpstreamResponse> {
    const response = await options.send({
      url: `${this.#baseUrl}/chat/completions`,
      headers: this.#headers(options),
      body: this.#write(request),
      signal: options.signal,
    });
    if (response.status < 200 || response.status > 299) throw await this.#fault(response);
    return response;
  }

  #write({ model, stream, body, wire }: CompletionRequest): string {
    const edits: Record<string, unknown> = { model: model.id };
    if (stream && this.#vendor.streamUsage !== false && body.stream_options?.include_usage !== true) {
      edits.stream_options = { ...body.stream_options, include_usage: true };
    }
    return wire === undefined
      ? JSON.stringify({ ...body, ...edits })
      : editMembers(wire.text, { ...wire.edits, ...edits });
  }

  #fault(response: UpstreamResponse): Promise<UpstreamError> {
    return readFault(response, this.#faults, this.#runtime.clock.now());
  }
}

function completionOf(body: Record<string, unknown>): ChatCompletion {
  if (hasError(body)) throw upstreamError(200, readOpenAiError(body, 200));
  if (!Array.isArray(body.choices) || body.choices.length === 0) {
    throw new UpstreamError("The provider's answer has no choices", { kind: "invalid_response" });
  }
  return body as unknown as ChatCompletion;
}

function hasError(body: Record<string, unknown>): boolean {
  return body.error !== undefined && body.error !== null && !Array.isArray(body.choices);
}

function chunkOf(data: string): CompletionChunk {
  const body = parseObject(data);
  if (body.error !== undefined && body.error !== null) throw upstreamError(200, readOpenAiError(body, 200));
  const value = body as unknown as ChatCompletionChunk;
  return normalise(value) ? { value } : { value, wire: data };
}

/** Fills in what clients rely on and some servers leave out. Whether anything had to be changed. */
function normalise(chunk: ChatCompletionChunk): boolean {
  let changed = false;
  if (!Array.isArray(chunk.choices)) {
    chunk.choices = [];
    changed = true;
  }
  for (const choice of chunk.choices) {
    if (typeof choice.delta !== "object" || choice.delta === null) {
      choice.delta = {};
      changed = true;
    }
    const calls = choice.delta.tool_calls;
    if (Array.isArray(calls)) changed = calls.map(normaliseCall).includes(true) || changed;
  }
  return changed;
}

function normaliseCall(call: ToolCallDelta, place: number): boolean {
  const complete = typeof call.index === "number" && (call.id === undefined || call.type === "function");
  if (typeof call.index !== "number") call.index = place;
  if (call.id !== undefined) call.type = "function";
  return !complete;
}
