/**
 * The interface between the engine and a provider.
 * @module
 */
import type { Infrastructure } from "./infrastructure.ts";
import type { CallOptions, ResponseContent } from "./call.ts";
import type { AudioRequest, AudioResponse } from "./audio.ts";
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
  JsonObject,
  OpenAiError,
  RequestBody,
} from "./openai.ts";

export type * from "./call.ts";

/** A dotted path of the capability tree. */
export type CapabilityPath = string;

/** What a request asks for: one for each kind of endpoint. */
export type OperationName =
  | "chat"
  | "embeddings"
  | "speech"
  | "transcription"
  | "audio-translation"
  | "image"
  | "image-edit"
  | "moderation"
  | "rerank"
  | "search"
  | "documents";

/** How a response is delivered. */
export type Delivery = "sync" | "stream" | "batch";

/** What a model can do; an explicit `false` rules it out for a request that needs it. */
export interface ModelFeatures {
  /** Calls functions. */
  readonly tool_calling?: boolean;
  /** Answers by a JSON Schema. */
  readonly structured_output?: boolean;
  /** Answers in some JSON. */
  readonly json_mode?: boolean;
  /** Takes a system prompt. */
  readonly system_prompt?: boolean;
  /** Grounds responses in sources. */
  readonly grounding?: boolean;
  /** Reports log probabilities. */
  readonly logprobs?: boolean;
  /** Can be fine-tuned. */
  readonly fine_tunable?: boolean;
  /** Reads images. */
  readonly vision?: boolean;
  /** Reads sound. */
  readonly audio_input?: boolean;
  /** Thinks before it answers. */
  readonly reasoning?: boolean;
}

/** Sizes a model works within. */
export interface ModelConstraints {
  /** Tokens read and written together. */
  readonly context_window?: number;
  /** Tokens written per request. */
  readonly max_output_tokens?: number;
  /** Images per request. */
  readonly max_images?: number;
  /** Largest input file, bytes. */
  readonly max_file_size?: number;
  /** ISO language codes. */
  readonly supported_languages?: readonly string[];
}

/** Prices in USD; tokens per million. Unknown prices are left out, never 0. */
export interface Pricing {
  /** Per million tokens read. */
  readonly input?: number;
  /** Per million tokens written. */
  readonly output?: number;
  /** Per million tokens read from a cache. */
  readonly cached_input?: number;
  /** Per million tokens written into a cache. */
  readonly cache_write?: number;
  /** Per million tokens of sound read. */
  readonly audio_input?: number;
  /** Per million tokens of sound written. */
  readonly audio_output?: number;
  /** Per request. */
  readonly per_request?: number;
  /** Per image. */
  readonly per_image?: number;
  /** Per search. */
  readonly per_search?: number;
  /** Per minute of sound. */
  readonly per_minute?: number;
  /** Per million characters. */
  readonly per_million_characters?: number;
}

/** A price from a date and a prompt size on. The last one that applies is used. */
export interface DatedPricing extends Pricing {
  /** ISO date the price applies from; always, when left out. */
  readonly from?: string;
  /** The price applies to prompts over this many tokens. */
  readonly above_tokens?: number;
}

/** How a request has to be reworded for a model. */
export interface ParameterRules {
  /** Other name for a field, such as `max_tokens` for `max_completion_tokens`. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Sampling parameters the model refuses: dropped and named in `x-mesh-dropped-params`. */
  readonly drop?: readonly string[];
  /** Parameters that matter and that the model refuses: it is skipped for a request that carries one. */
  readonly refuse?: readonly string[];
  /** Filled in when the request has none. */
  readonly fill?: Readonly<Record<string, unknown>>;
  /** The same, for requests that carry tools. */
  readonly fill_with_tools?: Readonly<Record<string, unknown>>;
  /** What takes the place of a `reasoning_effort`, by that effort, where the model has other words for it. */
  readonly efforts?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /**
   * How thoughts of earlier answers go back to it: under the name `reasoning`, or not at all, where it refuses a request
   * for them. As they came, which is `reasoning_content` for answers of ours, when left out.
   */
  readonly thoughts?: "reasoning" | "none";
  /**
   * Whether it takes marks of what to cache, `cache_control` in messages, parts and tools, as they came; false: they are left
   * out, since it refuses a request for them.
   * @default {true}
   */
  readonly cache_control?: boolean;
}

/** What is known of a model from the catalogue, the configuration or its provider. */
export interface ModelInfo {
  /** The id its provider knows it by. */
  readonly id: string;
  /** Capability leaves, as full paths or short names. */
  readonly capabilities?: readonly CapabilityPath[];
  /** What it can do. */
  readonly features?: ModelFeatures;
  /** What it works within. */
  readonly constraints?: ModelConstraints;
  /** What it costs, oldest price first. */
  readonly pricing?: readonly DatedPricing[];
  /** How requests are reworded for it. */
  readonly parameters?: ParameterRules;
  /** Capabilities (short names) this model is its provider's default choice for. */
  readonly defaultFor?: readonly string[];
  /** Numbers in an embedding, unless a request asks for fewer. */
  readonly dimensions?: number;
  /** Response formats of a transcription or of images, or formats of the sound of a speech. */
  readonly response_formats?: readonly string[];
  /** Embeddings of one space can be compared; models of one space replace one another. */
  readonly embedding_space?: string;
  /** The vendor's voice for each voice asked for; `default` for any other. */
  readonly voices?: Readonly<Record<string, string>>;
  /** Operations of its leaves that it does not perform, such as `audio-translation`. */
  readonly lacks?: readonly OperationName[];
  /** ISO date from which its provider does not answer for it any more, where one is announced. */
  readonly retires?: string;
  /** Where the facts come from. */
  readonly source?: string;
  /** ISO date on which the source was read. */
  readonly asOf?: string;
}

/** A file of a request that came as a form. */
export interface UploadedFile {
  /** The field it came in, such as `file`. */
  readonly field: string;
  /** Its file name. */
  readonly name: string;
  /** Media type, such as `audio/mpeg`. */
  readonly type: string;
  /** A view over the body as it was received: never changed, and not copied for a further provider. */
  readonly bytes: Uint8Array;
}

/** A request in the words of another API, for a provider that speaks those itself. */
export interface NativeRequest {
  /** One of {@linkcode Provider.dialects}. */
  readonly dialect: string;
  /** The client's own JSON, but for the model's id and what is not for providers. */
  readonly text: string;
  /** Headers of the client that belong to it; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request to one model. */
export interface CompletionRequest<Body extends RequestBody = ChatCompletionRequest> {
  /**
   * What is asked for; a provider gets no other operation than chat unless {@linkcode Provider.operations} names it.
   * @default {"chat"}
   */
  readonly operation?: OperationName;
  /** The model to ask. */
  readonly model: ModelInfo;
  /** Whether the response is a stream. */
  readonly stream: boolean;
  /** The parsed body in OpenAI's shape, already reworded for the model; never changed by a provider. */
  readonly body: Body;
  /**
   * The body's own JSON text, as the client wrote it, and what differs from it in `body`: a provider that
   * speaks OpenAI's dialect can splice instead of writing the whole again. A value of undefined means removed.
   */
  readonly wire?: { readonly text: string; readonly edits: Readonly<Record<string, unknown>> };
  /** Files, where the request came as a form. */
  readonly files?: readonly UploadedFile[];
  /** The same as the specification's AudioRequest, where sound is asked for or sent. */
  readonly extra?: AudioRequest;
  /**
   * The request as the client wrote it, in a dialect of this provider, in place of `body`; the response is returned in
   * that dialect, too: as `native`.
   */
  readonly native?: NativeRequest;
}

/** A complete response in both views. */
export interface CompletionResponse<Body = ChatCompletion> {
  /** The response in OpenAI's shape. */
  readonly body: Body;
  /** The bytes it came in, when they are OpenAI's shape already. */
  readonly wire?: Uint8Array;
  /** The bytes it came in, as the response to a {@linkcode CompletionRequest.native}. */
  readonly native?: Uint8Array;
  /** The response in place of JSON; then `body` has what else is known of it, such as its usage. */
  readonly content?: ResponseContent;
}

/** A complete response as the specification's AudioResponse alone: of operations with sound. */
export interface ExtraResponse {
  /** The response. */
  readonly extra: AudioResponse;
}

/** One event of a streamed response in both views. */
export interface CompletionChunk {
  /** The event in OpenAI's shape. */
  readonly value: ChatCompletionChunk;
  /** The JSON text it came in, when that is OpenAI's shape already. */
  readonly wire?: string;
  /**
   * The event's text with its blank line, in the response to a {@linkcode CompletionRequest.native}. Every event has one,
   * also where `value` has no choices.
   */
  readonly native?: string;
  /** Further events in the same text, if it has several. */
  readonly others?: readonly ChatCompletionChunk[];
  /** The next event has arrived already: both may be forwarded at once. */
  more?: boolean;
}

/**
 * Why a call failed.
 *
 * - `network`: no connection, or it broke
 * - `timeout`: a time limit of ours
 * - `server`: the provider's own fault (500, 502, 503, 504, 529, 408, 409, 425)
 * - `rate_limited`: too much for now (429)
 * - `quota_exhausted`: the account has nothing left (402, `insufficient_quota`)
 * - `auth`: our key was refused (401, 403)
 * - `request`: the request is at fault (400, 413, 422)
 * - `model_not_found`: the provider does not have the model
 * - `misconfigured`: probably a wrong address (plain 404, 405, 415, 451, redirects)
 * - `invalid_response`: unreadable, empty or cut short
 */
export type FailureKind =
  | "network"
  | "timeout"
  | "server"
  | "rate_limited"
  | "quota_exhausted"
  | "auth"
  | "request"
  | "model_not_found"
  | "misconfigured"
  | "invalid_response";

/** A request of any operation. */
export type OperationRequest = CompletionRequest<RequestBody>;

/** A complete response of any operation. */
export type OperationResponse = CompletionResponse<JsonObject>;

/** Performs one operation: what {@linkcode ModelExecution.complete} does for requests of that operation. */
export type OperationCall = (request: OperationRequest, options: CallOptions) => Promise<OperationResponse>;

/** How a provider performs operations other than chat, by their names. */
export type OperationTable = { readonly [name in Exclude<OperationName, "chat">]?: OperationCall };

/** Spec: Model Execution. */
export interface ModelExecution {
  /** One complete response. Throws an `UpstreamError`, a `NetworkError` or the signal's reason. */
  complete(request: CompletionRequest, options: CallOptions): Promise<CompletionResponse | ExtraResponse>;
  /**
   * A streamed response. Throws as {@linkcode ModelExecution.complete} does, before the first event or at any
   * later one. It ends normally only when the provider reported the end; leaving the loop early ends the call.
   */
  stream(request: CompletionRequest, options: CallOptions): AsyncIterable<CompletionChunk>;
}

/** Spec: Capabilities. */
export interface Capabilities {
  /** The leaves a model serves; empty when the provider does not know it. */
  getCapabilities(model: string): readonly CapabilityPath[];
  /** Whether a model serves a capability that way. */
  supports(model: string, capability: CapabilityPath, delivery: Delivery): boolean;
}

/** The result of asking a provider for its models. */
export interface ModelListing {
  /** Its models; left out when it did not list any. */
  readonly models?: readonly ModelInfo[];
  /** Why it did not, such as `did not list its models: …`. */
  readonly problem?: string;
}

/** Spec: Model Catalogue. */
export interface ModelCatalogue {
  /** Asks the provider which models it has. */
  listModels(options: CallOptions): Promise<readonly ModelInfo[]>;
  /** What is known of one model. */
  getModelInfo(model: string): Promise<ModelInfo | undefined>;
  /**
   * Asks the vendor what its models are like: sizes, features, capabilities, prices, of each as much as it reports. Called
   * at the start where `discovery.model_details`, `discovery.capability_query` or `pricing.query` say so; undefined where
   * the vendor does not report it.
   */
  describeModels?(options: CallOptions): Promise<readonly ModelInfo[] | undefined>;
}

/** What is left of an account's allowance. */
export interface Quota {
  /** Share used, 0 to 1. */
  readonly used?: number;
  /** What remains, in the vendor's unit. */
  readonly remaining?: number;
  /** Wall-clock time, ms since 1970. */
  readonly resetsAt?: number;
}

/** How much a model takes per time. */
export interface RateLimits {
  /** Requests a minute. */
  readonly rpm?: number;
  /** Tokens a minute. */
  readonly tpm?: number;
  /** Requests a day. */
  readonly rpd?: number;
  /** Requests at once. */
  readonly concurrent?: number;
}

/** Spec: Quota and Rate Limits. */
export interface QuotaAndRateLimits {
  /** What is left, where the vendor reports it. */
  checkQuota(options: CallOptions): Promise<Quota | undefined>;
  /** The limits last reported for a model. */
  getRateLimits(model: string): RateLimits | undefined;
}

/** Tokens and money of one call. */
export interface UsageReport {
  /** Upstream model id. */
  readonly model: string;
  /** Tokens read. */
  readonly tokensIn: number;
  /** Tokens written. */
  readonly tokensOut: number;
  /** USD; undefined when the price is unknown. */
  readonly costUsd?: number;
}

/** Spec: Cost and Pricing. */
export interface CostAndPricing {
  /** A model's prices, oldest first; undefined when they are unknown. */
  getPricing(model: string): readonly DatedPricing[] | undefined;
  /** Called after each response that reports plausible usage. */
  reportUsage(usage: UsageReport): void;
}

/** Spec: Error Classification. */
export interface ErrorClassification {
  /** Why a call failed. Never throws. */
  classifyError(error: unknown): FailureKind;
  /** Whether the same model may be asked again. */
  isRetryable(error: unknown): boolean;
}

/** A provider: one account at one vendor. */
export interface Provider
  extends ModelExecution, Capabilities, ModelCatalogue, QuotaAndRateLimits, CostAndPricing, ErrorClassification {
  /** The entry's id in the configuration. */
  readonly id: string;
  /**
   * The operations other than chat for which `complete` takes requests; without it a provider is asked for chat alone.
   * Which of its models do what, their capabilities say.
   */
  readonly operations?: readonly OperationName[];
  /**
   * Dialects beside OpenAI's in which it takes requests, of all its models or of one: see
   * {@linkcode CompletionRequest.native}.
   */
  readonly dialects?: readonly string[] | ((model: string) => readonly string[]);
  /** Files, batches and fine-tuning jobs, where its vendor has them. */
  readonly infrastructure?: Infrastructure | undefined;
}

/** An error response as a provider's connector read it. */
export interface ProviderFault {
  /** HTTP status. */
  readonly status: number;
  /** The error, in OpenAI's terms. */
  readonly error: OpenAiError;
  /** The wait it asks for, ms. */
  readonly retryAfterMs?: number;
}
