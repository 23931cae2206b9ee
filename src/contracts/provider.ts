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
import type { CapabilityPath, DatedPricing, Delivery, ModelInfo, OperationName, RateLimits } from "./model.ts";

export type * from "./call.ts";
export type * from "./model.ts";

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
