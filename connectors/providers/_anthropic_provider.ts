/**
 * Anthropic: Claude through the Messages API, translated from and to OpenAI's chat shape.
 *
 * Source: https://platform.claude.com/docs/en/api/overview
 * @module
 */
import type { ProviderConnector, ProviderSettings } from "../../src/contracts/connector.ts";
import type { ChatCompletionChunk, JsonObject } from "../../src/contracts/openai.ts";
import type {
  CallOptions,
  CompletionChunk,
  CompletionRequest,
  CompletionResponse,
  ModelInfo,
  NativeRequest,
  Provider,
  RateLimits,
} from "../../src/contracts/provider.ts";
import type { BodyReader, Runtime, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { NetworkError, UpstreamError } from "../../src/errors.ts";
import { appendAll } from "../../src/util/append_all.ts";
import { editMembers } from "../../src/util/json_members.ts";
import { readSse, type SseEvent } from "../../src/util/sse_parse.ts";
import { stripTrailing } from "../../src/util/strip_trailing.ts";
import { readAnthropicError, readSpendLimitReset } from "./_anthropic_fault.ts";
import { nativeText } from "./_anthropic_native.ts";
import { anthropic, anthropicModels, knownModel, listedModel } from "./anthropic.ts";
import { findDroppedParams, toMessagesRequest } from "./_anthropic_request.ts";
import { type MessageFacts, toChatCompletion } from "./_anthropic_response.ts";
import { readClaudeBilled } from "./_anthropic_usage.ts";
import { MessageStream, toChunks } from "./_anthropic_stream.ts";
import { BaseProvider, isSuccess, readJsonObject } from "./_base.ts";
import { splitIntoChunks } from "../../src/util/split_completion.ts";
import { type FaultReader, parseObject, readBytes, readHttpFault } from "./_http.ts";
import { openStreamBody, ping } from "./_stream_body.ts";

const defaultBaseUrl = "https://api.anthropic.com/v1";
const apiVersion = "2023-06-01";
const maxModelPages = 20;

const decoder = new TextDecoder();

/**
 * The Anthropic connector with its implementation.
 *
 * @param headers Headers added to every call; names in lower case.
 */
export function anthropicConnector(headers: Readonly<Record<string, string>> = {}): ProviderConnector {
  return {
    ...anthropic,
    create: (settings, runtime) => {
      return new AnthropicProvider(settings as ProviderSettings, {
        runtime,
        headers: { "anthropic-version": apiVersion, ...headers },
      });
    },
  };
}

/** How the Messages API differs on another cloud. */
export interface MessagesHost {
  /** The URL for calls to a model. */
  address(model: string, isStream: boolean): string;
  /** Members to change in the request body; undefined removes a member. */
  readonly edits: JsonObject;
  /** Parses error responses. */
  readonly faults: FaultReader;
}

/** Dependencies of a Messages API provider. */
export interface MessagesParts {
  /** Clock and random source. */
  readonly runtime: Runtime;
  /** Headers added to every call; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The hosting cloud; Anthropic's own API when omitted. */
  readonly host?: MessagesHost;
}

/** A provider for the Messages API. */
export class AnthropicProvider extends BaseProvider {
  readonly #baseUrl: string;
  readonly #runtime: Runtime;
  readonly #ownHeaders: Readonly<Record<string, string>>;
  readonly #host: MessagesHost | undefined;
  readonly #limits = new Map<string, RateLimits>();

  constructor(settings: ProviderSettings, { runtime, headers, host }: MessagesParts) {
    super(settings.id, anthropicModels());
    this.#host = host;
    this.#baseUrl = versioned(settings.baseUrl ?? defaultBaseUrl);
    this.#runtime = runtime;
    this.#ownHeaders = headers;
  }

  /** Native dialects. Clouds use the same dialect at another URL, with a few members changed. */
  readonly dialects: NonNullable<Provider["dialects"]> = ["messages"];

  protected override async chat(request: CompletionRequest, options: CallOptions): Promise<CompletionResponse> {
    const response = await this.#post(request, options);
    const bytes = await readBytes(response);
    const message = parseObject(decoder.decode(bytes));
    const body = toChatCompletion(message, this.#facts(request));
    const billed = readClaudeBilled(message.usage);
    return request.native === undefined ? { body, billed } : { body, billed, native: bytes };
  }

  override async *stream(request: CompletionRequest, options: CallOptions): AsyncGenerator<CompletionChunk> {
    const { events, text = "" } = await openStreamBody(await this.#post(request, options));
    const facts = this.#facts(request);
    if (events === undefined) {
      const message = parseObject(text);
      yield* splitIntoChunks(toChatCompletion(message, facts), readClaudeBilled(message.usage));
      return;
    }
    const stream = new MessageStream(facts);
    for await (const event of readMessageEvents(events, stream)) {
      const values = stream.push(event.data);
      if (values === undefined) continue;
      if (event.isComment) yield ping;
      else if (request.native !== undefined) yield nativeChunk(event, values, stream);
      else if (event.event === "ping") yield ping;
      else yield* toChunks(values, stream);
      if (stream.finished) return;
      if (stream.isComplete) options.reportComplete?.();
    }
    throw new UpstreamError("The provider's stream ended before the response was complete", {
      kind: "invalid_response",
    });
  }

  /** Counts the input tokens through the API's own endpoint, which is free of charge. */
  async countTokens(request: CompletionRequest, options: CallOptions): Promise<number> {
    const body = parseObject(this.#writeBody(request, { ...options, reportDropped: () => {} }));
    const counted = Object.fromEntries(Object.entries(body).filter(([name]) => countedMembers.has(name)));
    const response = await options.send({
      url: this.#host?.address("count-tokens", false) ?? `${this.#baseUrl}/messages/count_tokens`,
      headers: this.#headers(options, request.native),
      body: JSON.stringify({ ...counted, model: request.model.id }),
    });
    const { input_tokens: tokens } = await readJsonObject(await this.#accepted(response));
    return Number(tokens ?? NaN);
  }

  async listModels(options: CallOptions): Promise<readonly ModelInfo[]> {
    const models: ModelInfo[] = [];
    let after: string | undefined;
    for (let page = 0; page < maxModelPages; page++) {
      const { data, has_more, last_id } = await this.#modelPage(after, options);
      if (!Array.isArray(data)) {
        throw new UpstreamError("The provider's model list has no data", { kind: "invalid_response" });
      }
      appendAll(models, data.flatMap((entry) => listedModel(entry) ?? []));
      if (has_more !== true || typeof last_id !== "string" || last_id === after) break;
      after = last_id;
    }
    return models;
  }

  protected override findInfo(model: string): ModelInfo | undefined {
    return knownModel(model);
  }

  override getRateLimits(model: string): RateLimits | undefined {
    return this.#limits.get(model);
  }

  #facts({ model, native }: CompletionRequest): MessageFacts {
    const created = Math.floor(this.#runtime.clock.now() / 1000);
    return { model: model.id, created, isNative: native !== undefined };
  }

  #headers({ credential }: CallOptions, native?: NativeRequest): Record<string, string> {
    return {
      "content-type": "application/json",
      ...this.#ownHeaders,
      ...native?.headers,
      ...(credential === undefined ? {} : { "x-api-key": credential }),
    };
  }

  async #post(request: CompletionRequest, options: CallOptions): Promise<UpstreamResponse> {
    const response = await options.send({
      url: this.#host?.address(request.model.id, request.stream) ?? `${this.#baseUrl}/messages`,
      headers: this.#headers(options, request.native),
      body: await withCacheMarks(this.#writeBody(request, options), request),
    });
    const limits = readLimits(response.headers);
    if (limits !== undefined) this.#limits.set(request.model.id, limits);
    return this.#accepted(response);
  }

  #writeBody(request: CompletionRequest, options: CallOptions): string {
    const edits = this.#host?.edits;
    const { native } = request;
    if (native !== undefined) {
      const text = nativeText(native.text);
      return edits === undefined ? text : editMembers(text, edits);
    }
    const message = toMessagesRequest(request);
    options.reportDropped?.(findDroppedParams(request.body, message));
    return JSON.stringify(edits === undefined ? message : { ...message, ...edits });
  }

  async #modelPage(after: string | undefined, options: CallOptions): Promise<Record<string, unknown>> {
    const cursor = after === undefined ? "" : `&after_id=${encodeURIComponent(after)}`;
    const response = await options.send({
      url: `${this.#baseUrl}/models?limit=1000${cursor}`,
      method: "GET",
      headers: this.#headers(options),
    });
    return readJsonObject(await this.#accepted(response));
  }

  async #accepted(response: UpstreamResponse): Promise<UpstreamResponse> {
    if (isSuccess(response)) return response;
    const { clock } = this.#runtime;
    const readRetryAfter = (body: unknown) => readSpendLimitReset(body, clock.now());
    const faults = this.#host?.faults ?? { readError: readAnthropicError, readRetryAfter };
    throw await readHttpFault(response, faults, clock);
  }
}

/** Marks the prompt for the cache, if that is requested. */
async function withCacheMarks(
  body: string,
  { model, promptCache }: Pick<CompletionRequest, "model" | "promptCache">,
): Promise<string> {
  if (promptCache === undefined) return body;
  const { markMessages } = await import("./_cache_marks.ts");
  return markMessages(body, { ...promptCache, model: model.id });
}

/** Members of a request that count, and that the endpoint for it accepts. */
const countedMembers: ReadonlySet<string> = new Set([
  ...["messages", "system", "tools", "tool_choice", "thinking", "output_config", "output_format", "cache_control"],
  ...["context_management", "mcp_servers", "anthropic_version"],
]);

/** Reads events. After the reason of its end, a response is complete even if its last event is missing. */
async function* readMessageEvents(body: BodyReader, stream: MessageStream): AsyncGenerator<SseEvent> {
  try {
    for await (const events of readSse(body)) yield* events;
  } catch (error) {
    // a connection reset after the end of the response is harmless
    if (!NetworkError.isInstance(error) || !stream.isComplete) throw error;
  }
  if (stream.isComplete) yield { event: "message_stop", data: '{"type":"message_stop"}' };
}

/**
 * A native event together with its translation. Events without a meaning in chat, such as a ping, are also passed
 * through.
 */
function nativeChunk(
  { event, data }: SseEvent,
  values: readonly ChatCompletionChunk[],
  stream: MessageStream,
): CompletionChunk {
  const name = event === "" ? "" : `event: ${event}\n`;
  const native = `${name}data: ${data.replaceAll("\n", "\ndata: ")}\n\n`;
  const [first = stream.emptyChunk] = values;
  const usage = values.at(-1)?.usage;
  const choices = values.flatMap((value) => value.choices);
  if (usage === undefined) return { value: { ...first, choices }, native };
  return { value: { ...first, choices, usage }, billed: stream.billed, native };
}

/** Anthropic's own tools use base URLs without the version, ModelMesh with it: both are accepted. */
function versioned(baseUrl: string): string {
  const address = stripTrailing(baseUrl, "/");
  return /\/v\d+$/.test(address) ? address : `${address}/v1`;
}

function readLimits(headers: UpstreamResponse["headers"]): RateLimits | undefined {
  const rpm = Number(headers.get("anthropic-ratelimit-requests-limit"));
  const tpm = Number(headers.get("anthropic-ratelimit-tokens-limit"));
  if (!(rpm > 0) && !(tpm > 0)) return undefined;
  return { ...(rpm > 0 ? { rpm } : {}), ...(tpm > 0 ? { tpm } : {}) };
}
