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
import type { BilledUsage } from "./usage.ts";
import type { CapabilityPath, ChatApi, DatedPricing, Delivery, ModelInfo, OperationName, RateLimits } from "./model.ts";

export type * from "./call.ts";
export type * from "./model.ts";

/** A file of a multipart form request. */
export interface UploadedFile {
  /** Name of the form field, such as `file`. */
  readonly field: string;
  /** Its file name. */
  readonly name: string;
  /** Media type, such as `audio/mpeg`. */
  readonly type: string;
  /**
   * The content: a view of the request body as received. It is never modified, and not copied when another provider is
   * tried.
   */
  readonly bytes: Uint8Array;
}

/** A request in the dialect of another API, for a provider that supports it natively. */
export interface NativeRequest {
  /** One of {@linkcode Provider.dialects}. */
  readonly dialect: string;
  /** The client's JSON, in which only the model id is replaced and fields for ModelMesh are removed. */
  readonly text: string;
  /** Headers of the client to forward; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request to one model. */
export interface CompletionRequest<Body extends RequestBody = ChatCompletionRequest> {
  /**
   * The operation. A provider receives operations other than `chat` only if {@linkcode Provider.operations} lists them.
   * @default {"chat"}
   */
  readonly operation?: OperationName;
  /** The model. */
  readonly model: ModelInfo;
  /** Whether the response is streamed. */
  readonly stream: boolean;
  /**
   * The API through which a chat request is to be sent, one of {@linkcode Provider.apis}. Request and response are in the
   * form of chat in any case.
   * @default {"chat"}
   */
  readonly api?: ChatApi;
  /** The parsed body in OpenAI's shape, adapted to the model. A provider must not modify it. */
  readonly body: Body;
  /**
   * The JSON string of the body as the client sent it, and the edits that turn it into `body`; a value of undefined
   * removes a member. A provider with OpenAI's dialect can splice the edits instead of serializing the whole body.
   */
  readonly wire?: { readonly text: string; readonly edits: Readonly<Record<string, unknown>> };
  /** Uploaded files of a multipart form request. */
  readonly files?: readonly UploadedFile[];
  /** The audio part of the request, if its input or output is audio. */
  readonly extra?: AudioRequest;
  /**
   * The request in one of the provider's native dialects, in place of `body`. The response uses the same dialect, in
   * `native`.
   */
  readonly native?: NativeRequest;
  /**
   * Set if the provider is to mark the prompt for its cache, where the client has set no marks. Only providers that
   * declare `promptCache.marks`, and those of programs, receive it.
   */
  readonly promptCache?: PromptCacheMarks;
}

/** Marks that a provider is to set in a prompt. */
export interface PromptCacheMarks {
  /** How long the cache is to last. */
  readonly ttl: "5m" | "1h";
}

/** A complete response, parsed and as received. */
export interface CompletionResponse<Body = ChatCompletion> {
  /** The response in OpenAI's shape. */
  readonly body: Body;
  /** The response as received, bytes or their text, if it is already in OpenAI's shape. */
  readonly wire?: Uint8Array | string;
  /** The response bytes, for a {@linkcode CompletionRequest.native} request. */
  readonly native?: Uint8Array;
  /** A response that is not JSON; `body` then has only what else is known, such as usage. */
  readonly content?: ResponseContent;
  /** What the vendor bills, as far as the usage in `body` does not contain it. */
  readonly billed?: BilledUsage | undefined;
  /** Whether the vendor has left nothing of the response because of its content, for operations without a finish reason. */
  readonly isFiltered?: true;
}

/** A complete response that consists of its audio part, for audio operations. */
export interface ExtraResponse {
  /** The audio response. */
  readonly extra: AudioResponse;
}

/** An event of a streaming response, parsed and as received. */
export interface CompletionChunk {
  /** The event in OpenAI's shape. */
  readonly value: ChatCompletionChunk;
  /** The JSON string of the event, if it is already in OpenAI's shape. */
  readonly wire?: string;
  /**
   * The event as received, including its final blank line, for a {@linkcode CompletionRequest.native} request. Every
   * event has one, even if `value` has no choices.
   */
  readonly native?: string;
  /** What the vendor bills, as far as the usage in `value` does not contain it. Later chunks add to earlier ones. */
  readonly billed?: BilledUsage | undefined;
  /** Further events contained in the same string. */
  readonly others?: readonly ChatCompletionChunk[];
  /** Whether it is a comment or a ping, which shows that the provider is alive; `value` has no choices. */
  readonly isPing?: true;
  /** Whether the next event has already arrived, so that both may be forwarded together. */
  more?: boolean;
}

/**
 * The class of a failed call.
 *
 * - `network`: connection failed or was reset
 * - `timeout`: a timeout of the mesh expired
 * - `server`: server error (500, 502, 503, 504, 529, 408, 409, 425)
 * - `rate_limited`: rate limit exceeded (429)
 * - `quota_exhausted`: the account's quota or credit is exhausted (402, `insufficient_quota`)
 * - `auth`: the API key was rejected (401, 403)
 * - `request`: the request is invalid (400, 413, 422)
 * - `model_not_found`: the provider does not have the model
 * - `misconfigured`: probably a wrong URL (plain 404, 405, 415, 451, redirects)
 * - `invalid_response`: response unreadable, empty or truncated
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

/** Performs one operation, as {@linkcode ModelExecution.complete} does for requests of that operation. */
export type OperationCall = (request: OperationRequest, options: CallOptions) => Promise<OperationResponse>;

/** The operations other than chat that a provider performs, by name. */
export type OperationTable = { readonly [name in Exclude<OperationName, "chat">]?: OperationCall };

/** Execution of requests. */
export interface ModelExecution {
  /**
   * Requests a complete response.
   *
   * @throws An `UpstreamError`, a `NetworkError`, or the signal's reason.
   */
  complete(request: CompletionRequest, options: CallOptions): Promise<CompletionResponse | ExtraResponse>;
  /**
   * Requests a streaming response. The iteration throws as {@linkcode ModelExecution.complete} does, before the first
   * event or at any later one. It ends normally only if the provider reported the end of the stream. Ending the
   * iteration early aborts the call.
   *
   * Without this method, `complete` is called for streams as well, with `stream` false, and its response is streamed.
   */
  stream?(request: CompletionRequest, options: CallOptions): AsyncIterable<CompletionChunk>;
}

/** Counting of tokens by the vendor. */
export interface TokenCounting {
  /**
   * Counts the input tokens of a chat request, or of its {@linkcode CompletionRequest.native} form. The call is free of
   * charge: a provider whose vendor cannot count, or charges for it, does not have this method.
   *
   * @throws As {@linkcode ModelExecution.complete} does.
   */
  countTokens?(request: CompletionRequest, options: CallOptions): Promise<number>;
}

/** Capabilities of models. */
export interface Capabilities {
  /** The capability leaves that a model serves; empty if the provider does not know the model. */
  getCapabilities(model: string): readonly CapabilityPath[];
  /** Whether a model serves a capability in the given delivery mode. */
  supports(model: string, capability: CapabilityPath, delivery: Delivery): boolean;
}

/** The result of requesting a provider's model list. */
export interface ModelListing {
  /** The models; omitted if the list could not be retrieved. */
  readonly models?: readonly ModelInfo[];
  /** Why the list could not be retrieved, such as `did not list its models: …`. */
  readonly problem?: string;
}

/** The models of a provider. */
export interface ModelCatalogue {
  /** Requests the provider's model list. Health probes use it too: it should be the cheapest call. */
  listModels(options: CallOptions): Promise<readonly ModelInfo[]>;
  /**
   * Requests the models to register, at startup and by registry syncs.
   * `listModels` is used when omitted.
   */
  discoverModels?(options: CallOptions): Promise<readonly ModelInfo[]>;
  /** Facts about one model; undefined if it is unknown. */
  getModelInfo(model: string): Promise<ModelInfo | undefined>;
  /**
   * Requests model facts from the vendor: constraints, features, capabilities and prices, as far as it reports them.
   * Called at startup if `discovery.model_details`, `discovery.capability_query` or `pricing.query` is enabled.
   * Undefined if the vendor does not report facts.
   */
  describeModels?(options: CallOptions): Promise<readonly ModelInfo[] | undefined>;
}

/** The remaining quota of an account. */
export interface Quota {
  /** Used fraction of the quota, 0 to 1. */
  readonly used?: number;
  /** Remaining quota, in the vendor's unit. */
  readonly remaining?: number;
  /** Time at which the quota resets, ms since the Unix epoch. */
  readonly resetsAt?: number;
}

/** Quota and rate limits of the account. */
export interface QuotaAndRateLimits {
  /** Retrieves the remaining quota, if the vendor reports it. */
  checkQuota(options: CallOptions): Promise<Quota | undefined>;
  /** The rate limits last reported for a model. */
  getRateLimits(model: string): RateLimits | undefined;
}

/** Token usage and cost of one call. */
export interface UsageReport {
  /** The upstream model id. */
  readonly model: string;
  /** Input tokens. */
  readonly tokensIn: number;
  /** Output tokens. */
  readonly tokensOut: number;
  /** Cost in USD; undefined if the price is unknown. */
  readonly costUsd?: number;
}

/** Prices of models, and reports of usage. */
export interface CostAndPricing {
  /** A model's prices, in order of their start dates; undefined if unknown. */
  getPricing(model: string): readonly DatedPricing[] | undefined;
  /** Called after each response with plausible usage. */
  reportUsage(usage: UsageReport): void;
}

/** Classification of failed calls. */
export interface ErrorClassification {
  /** Classifies the error of a failed call. Never throws. */
  classifyError(error: unknown): FailureKind;
  /** Whether a retry on the same model may succeed. */
  isRetryable(error: unknown): boolean;
}

/** A provider: one account at one vendor. */
export interface Provider
  extends
    ModelExecution,
    TokenCounting,
    Capabilities,
    ModelCatalogue,
    QuotaAndRateLimits,
    CostAndPricing,
    ErrorClassification {
  /** The entry's id in the configuration. */
  readonly id: string;
  /**
   * The operations other than chat that `complete` accepts; chat only when omitted. The capabilities of each model
   * determine which of them it serves.
   */
  readonly operations?: readonly OperationName[];
  /**
   * Native dialects in addition to OpenAI's, of all models or of a given one: see {@linkcode CompletionRequest.native}.
   * A provider without {@linkcode ModelExecution.stream} has none.
   */
  readonly dialects?: readonly string[] | ((model: string) => readonly string[]);
  /** The APIs through which it can send a chat request; its own alone when omitted. */
  readonly apis?: readonly ChatApi[];
  /** Files, batches and fine-tuning jobs, if the vendor supports them. */
  readonly infrastructure?: Infrastructure | undefined;
  /**
   * The region in which calls are processed, if the address determines it. Prices may depend on it. A region that a
   * response names takes precedence.
   */
  readonly region?: string | undefined;
}

/** An error response, as parsed by a provider's connector. */
export interface ProviderFault {
  /** HTTP status. */
  readonly status: number;
  /** The error, in OpenAI's shape. */
  readonly error: OpenAiError;
  /** The delay that the provider requests before a retry (`Retry-After`), ms. */
  readonly retryAfterMs?: number;
  /** The same as a time, ms since the Unix epoch, if the provider states a date: a standby then lasts until that date. */
  readonly retryAt?: number;
}
