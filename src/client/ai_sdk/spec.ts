/**
 * Types of the `ai` package: specification version v4, of `@ai-sdk/provider` 4. They are declared here so that this
 * package does not depend on it; values of these types are assignable to the originals.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";

/** Options and metadata by provider name; this package's is `mesh`. */
export type ProviderOptions = Record<string, JsonObject>;

/** An option or a feature of the call that was ignored. */
export type Warning =
  | { type: "unsupported"; feature: string; details?: string }
  | { type: "other"; message: string };

/** Call options that all kinds of models share. */
export interface CallOptions {
  /** Aborts the call. */
  abortSignal?: AbortSignal | undefined;
  /** Request headers: `x-request-id`, `x-mesh-session`, `x-mesh-route`, `x-mesh-priority`. */
  headers?: Record<string, string | undefined> | undefined;
  /** Under `mesh`: further members of the request. */
  providerOptions?: Record<string, unknown> | undefined;
}

/** A file: bytes or Base64, a URL, or text. */
export type FileData =
  | { type: "data"; data: Uint8Array | string }
  | { type: "url"; url: URL }
  | { type: "reference"; reference: unknown }
  | { type: "text"; text: string };

/** One part of a message. */
export interface PromptPart {
  /** The type: `text`, `file`, `reasoning`, `tool-call`, `tool-result`, … */
  type: string;
  /** Text, of `text` and `reasoning`. */
  text?: string;
  /** Content, of `file`. */
  data?: unknown;
  /** Media type, of `file`: `image/png`, or `image` alone. */
  mediaType?: string;
  /** File name, of `file`. */
  filename?: string;
  /** Id of the call, of `tool-call` and `tool-result`. */
  toolCallId?: string;
  /** Name of the tool, of `tool-call` and `tool-result`. */
  toolName?: string;
  /** Arguments, of `tool-call`. */
  input?: unknown;
  /** Whether the provider executed the call. */
  providerExecuted?: boolean;
  /** Output, of `tool-result`. */
  output?: unknown;
  /** Provider-specific metadata, returned from an earlier response. */
  providerOptions?: Record<string, unknown>;
}

/** A message of a prompt. */
export interface PromptMessage {
  /** Author of the message. */
  role: "system" | "user" | "assistant" | "tool";
  /** Content; of a system message, a string. */
  content: string | readonly PromptPart[];
}

/** Call options of a language model. */
export interface LanguageCallOptions extends CallOptions {
  /** The conversation, oldest message first. */
  prompt: readonly PromptMessage[];
  /** Maximum number of output tokens. */
  maxOutputTokens?: number | undefined;
  /** Sampling temperature. */
  temperature?: number | undefined;
  /** Nucleus sampling (top-p). */
  topP?: number | undefined;
  /** Top-k sampling. */
  topK?: number | undefined;
  /** Penalty for tokens that have occurred. */
  presencePenalty?: number | undefined;
  /** Penalty for tokens by the number of their occurrences. */
  frequencyPenalty?: number | undefined;
  /** Sequences at which generation stops. */
  stopSequences?: readonly string[] | undefined;
  /** Random seed. */
  seed?: number | undefined;
  /** Format of the response: text or JSON, optionally with a schema. */
  responseFormat?:
    | { type: "text" }
    | { type: "json"; schema?: unknown; name?: string; description?: string }
    | undefined;
  /** Tools the model may call. Only tools of type `function` are supported. */
  tools?: readonly LanguageTool[] | undefined;
  /** Which tool the model may or must call. */
  toolChoice?: { type: "auto" | "none" | "required" } | { type: "tool"; toolName: string } | undefined;
  /** Reasoning effort. */
  reasoning?: string | undefined;
}

/** A tool of a language model. */
export interface LanguageTool {
  /** `function`, or `provider` for a tool that the provider executes. */
  type: string;
  /** Name. */
  name: string;
  /** Id of a provider's tool. */
  id?: string;
  /** Description for the model. */
  description?: string;
  /** JSON Schema of its input. */
  inputSchema?: unknown;
  /** Whether the input must conform to the schema. */
  strict?: boolean;
}

/** A part of a response. */
export type ContentPart =
  | { type: "text"; text: string }
  | {
    type: "reasoning";
    text: string;
    // deno-lint-ignore no-explicit-any -- as below
    providerMetadata?: Record<string, any>;
  }
  | FilePart
  | SourcePart
  | ToolCallPart;

/** A file that the model has generated. */
export interface FilePart {
  /** Always `file`. */
  type: "file";
  /** Media type, such as `image/png`. */
  mediaType: string;
  /** Content, Base64 or a URL. */
  data: { type: "data"; data: string } | { type: "url"; url: URL };
  /** Provider-specific state, which has to be returned with the next request. */
  // deno-lint-ignore no-explicit-any -- as below
  providerMetadata?: Record<string, any>;
}

/** A source of the text: a page, or a document without a URL. */
export type SourcePart =
  | { type: "source"; sourceType: "url"; id: string; url: string; title: string }
  | { type: "source"; sourceType: "document"; id: string; mediaType: string; title: string };

/** A tool call. */
export interface ToolCallPart {
  /** Always `tool-call`. */
  type: "tool-call";
  /** Id of the call, repeated by its result. */
  toolCallId: string;
  /** Name of the tool. */
  toolName: string;
  /** Arguments, as JSON. */
  input: string;
  /** Provider-specific state, which has to be returned with the next request. */
  // deno-lint-ignore no-explicit-any -- `ai` types it so
  providerMetadata?: Record<string, any>;
}

/** Why generation finished. */
export interface FinishReason {
  /** The reason as `ai` names it. */
  unified: "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";
  /** The provider's `finish_reason`. */
  raw: string | undefined;
}

/** Token counts. */
export interface LanguageUsage {
  /** Input tokens. */
  inputTokens: {
    total: number | undefined;
    noCache: number | undefined;
    cacheRead: number | undefined;
    cacheWrite: number | undefined;
  };
  /** Output tokens. */
  outputTokens: { total: number | undefined; text: number | undefined; reasoning: number | undefined };
}

/** Metadata of a response. */
export interface ResponseFacts {
  /** Id. */
  id: string;
  /** Creation time. */
  timestamp: Date;
  /** The model that generated it. */
  modelId: string;
}

/** Result of a call that does not stream. */
export interface GenerateResult {
  /** Parts of the response. */
  content: ContentPart[];
  /** Why generation finished. */
  finishReason: FinishReason;
  /** Token counts. */
  usage: LanguageUsage;
  /** Options that were ignored. */
  warnings: Warning[];
  /** Under `mesh`: the `pool`, `model` and `provider` that served the response. */
  // deno-lint-ignore no-explicit-any -- as above
  providerMetadata: Record<string, any>;
  /** The chat request, in OpenAI's shape. */
  request: { body: unknown };
  /** The response, with its body in OpenAI's shape. */
  response: ResponseFacts & { body: unknown };
}

/** A part of a streamed response. */
export type StreamPart =
  | { type: "stream-start"; warnings: Warning[] }
  | { type: "response-metadata"; id: string; timestamp: Date; modelId: string }
  | { type: "text-start" | "text-end" | "reasoning-start" | "tool-input-end"; id: string }
  | {
    type: "reasoning-end";
    id: string;
    // deno-lint-ignore no-explicit-any -- as above
    providerMetadata?: Record<string, any>;
  }
  | { type: "text-delta" | "reasoning-delta" | "tool-input-delta"; id: string; delta: string }
  | { type: "tool-input-start"; id: string; toolName: string }
  | FilePart
  | SourcePart
  | ToolCallPart
  | {
    type: "finish";
    finishReason: FinishReason;
    usage: LanguageUsage;
    // deno-lint-ignore no-explicit-any -- as above
    providerMetadata: Record<string, any>;
  }
  | { type: "error"; error: unknown };

/** Result of a call that streams. */
export interface StreamResult {
  /** Parts of the response. */
  stream: ReadableStream<StreamPart>;
  /** The chat request, in OpenAI's shape. */
  request: { body: unknown };
}

/** Members that identify a model, whatever its kind. */
export interface ModelFacts {
  /** Version of the specification. */
  readonly specificationVersion: "v4";
  /** Always `mesh`. */
  readonly provider: string;
  /** The name requests are sent to: a pool, an alias, a capability or a model. */
  readonly modelId: string;
}

/** A `LanguageModel` of `ai`. */
export interface LanguageModel extends ModelFacts {
  /** Empty: `ai` downloads files itself, since not every model accepts URLs. */
  readonly supportedUrls: Record<string, RegExp[]>;
  /** Generates a response. */
  doGenerate(options: LanguageCallOptions): Promise<GenerateResult>;
  /** Generates a response as a stream. */
  doStream(options: LanguageCallOptions): Promise<StreamResult>;
}
