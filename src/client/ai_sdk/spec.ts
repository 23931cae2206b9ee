/**
 * The shapes of models in the words of the `ai` package: specification version v4, of `@ai-sdk/provider` 4. They are written
 * down here, so that this package needs none of its types; what is made of them is assignable to those.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";

/** Options and metadata by the name of a provider; ours is `mesh`. */
export type ProviderOptions = Record<string, JsonObject>;

/** What a model could not do of what was asked. */
export type Warning =
  | { type: "unsupported"; feature: string; details?: string }
  | { type: "other"; message: string };

/** What calls of all kinds take. */
export interface CallOptions {
  /** Ends the call. */
  abortSignal?: AbortSignal | undefined;
  /** `x-request-id`, `x-mesh-session`, `x-mesh-route`. */
  headers?: Record<string, string | undefined> | undefined;
  /** Under `mesh`: further members of the request. */
  providerOptions?: Record<string, unknown> | undefined;
}

/** The bytes of a file, its address, or a text. */
export type FileData =
  | { type: "data"; data: Uint8Array | string }
  | { type: "url"; url: URL }
  | { type: "reference"; reference: unknown }
  | { type: "text"; text: string };

/** One part of a message. */
export interface PromptPart {
  /** `text`, `file`, `reasoning`, `tool-call`, `tool-result`, … */
  type: string;
  /** Of a text, or of thoughts. */
  text?: string;
  /** Of a file. */
  data?: unknown;
  /** Of a file: `image/png`, or `image` alone. */
  mediaType?: string;
  /** Of a file. */
  filename?: string;
  /** Of a call and its result. */
  toolCallId?: string;
  /** Of a call and its result. */
  toolName?: string;
  /** Of a call. */
  input?: unknown;
  /** Whether the provider itself made the call. */
  providerExecuted?: boolean;
  /** Of a result. */
  output?: unknown;
  /** What a call carried of its provider. */
  providerOptions?: Record<string, unknown>;
}

/** A message of a prompt. */
export interface PromptMessage {
  /** Who says it. */
  role: "system" | "user" | "assistant" | "tool";
  /** A system prompt is a text. */
  content: string | readonly PromptPart[];
}

/** What a language model is asked. */
export interface LanguageCallOptions extends CallOptions {
  /** The conversation, oldest first. */
  prompt: readonly PromptMessage[];
  /** Token limit of the answer. */
  maxOutputTokens?: number | undefined;
  /** Randomness. */
  temperature?: number | undefined;
  /** Nucleus sampling. */
  topP?: number | undefined;
  /** Top-k sampling. */
  topK?: number | undefined;
  /** Penalty for tokens that occurred. */
  presencePenalty?: number | undefined;
  /** Penalty for tokens by how often they occurred. */
  frequencyPenalty?: number | undefined;
  /** Texts that end the answer. */
  stopSequences?: readonly string[] | undefined;
  /** Seed. */
  seed?: number | undefined;
  /** The answer's form. */
  responseFormat?:
    | { type: "text" }
    | { type: "json"; schema?: unknown; name?: string; description?: string }
    | undefined;
  /** Tools; of these, functions can be called. */
  tools?: readonly LanguageTool[] | undefined;
  /** Which of them. */
  toolChoice?: { type: "auto" | "none" | "required" } | { type: "tool"; toolName: string } | undefined;
  /** How much to think. */
  reasoning?: string | undefined;
}

/** A tool of a language model. */
export interface LanguageTool {
  /** `function`, or `provider` for a tool of a provider's own. */
  type: string;
  /** Its name. */
  name: string;
  /** A provider's tool. */
  id?: string;
  /** What it is for. */
  description?: string;
  /** JSON Schema of its input. */
  inputSchema?: unknown;
  /** Whether inputs hold to the schema. */
  strict?: boolean;
}

/** One part of an answer. */
export type ContentPart =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | ToolCallPart;

/** A call of a function; `input` is JSON. */
export interface ToolCallPart {
  /** Always `tool-call`. */
  type: "tool-call";
  /** To be answered with. */
  toolCallId: string;
  /** The function. */
  toolName: string;
  /** JSON. */
  input: string;
  /** What its vendor wants to see again. */
  // deno-lint-ignore no-explicit-any -- the package's own type of JSON is no type of ours
  providerMetadata?: Record<string, any>;
}

/** Why an answer ended. */
export interface FinishReason {
  /** In the words of `ai`. */
  unified: "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other";
  /** The provider's own. */
  raw: string | undefined;
}

/** Token counts. */
export interface LanguageUsage {
  /** Tokens read. */
  inputTokens: {
    total: number | undefined;
    noCache: number | undefined;
    cacheRead: number | undefined;
    cacheWrite: number | undefined;
  };
  /** Tokens written. */
  outputTokens: { total: number | undefined; text: number | undefined; reasoning: number | undefined };
}

/** Where an answer comes from. */
export interface ResponseFacts {
  /** Its id. */
  id: string;
  /** When it began. */
  timestamp: Date;
  /** The concrete model. */
  modelId: string;
}

/** A whole answer. */
export interface GenerateResult {
  /** Its parts. */
  content: ContentPart[];
  /** Why it ended. */
  finishReason: FinishReason;
  /** Token counts. */
  usage: LanguageUsage;
  /** What was left out. */
  warnings: Warning[];
  /** Under `mesh`: `pool`, `model` and `provider` that answered. */
  // deno-lint-ignore no-explicit-any -- as above
  providerMetadata: Record<string, any>;
  /** As it was asked, in OpenAI's words. */
  request: { body: unknown };
  /** As it came, in OpenAI's words. */
  response: ResponseFacts & { body: unknown };
}

/** One part of a streamed answer. */
export type StreamPart =
  | { type: "stream-start"; warnings: Warning[] }
  | { type: "response-metadata"; id: string; timestamp: Date; modelId: string }
  | { type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end" | "tool-input-end"; id: string }
  | { type: "text-delta" | "reasoning-delta" | "tool-input-delta"; id: string; delta: string }
  | { type: "tool-input-start"; id: string; toolName: string }
  | ToolCallPart
  | {
    type: "finish";
    finishReason: FinishReason;
    usage: LanguageUsage;
    // deno-lint-ignore no-explicit-any -- as above
    providerMetadata: Record<string, any>;
  }
  | { type: "error"; error: unknown };

/** A streamed answer. */
export interface StreamResult {
  /** Its parts. */
  stream: ReadableStream<StreamPart>;
  /** As it was asked, in OpenAI's words. */
  request: { body: unknown };
}

/** What models of all kinds say of themselves. */
export interface ModelFacts {
  /** The version of the specification. */
  readonly specificationVersion: "v4";
  /** Always `mesh`. */
  readonly provider: string;
  /** What the model is asked by: a pool, an alias, a capability, a model. */
  readonly modelId: string;
}

/** A `LanguageModel` of `ai`. */
export interface LanguageModel extends ModelFacts {
  /** None: `ai` fetches files itself, since not every model can. */
  readonly supportedUrls: Record<string, RegExp[]>;
  /** Asks for a whole answer. */
  doGenerate(options: LanguageCallOptions): Promise<GenerateResult>;
  /** Asks for a streamed one. */
  doStream(options: LanguageCallOptions): Promise<StreamResult>;
}
