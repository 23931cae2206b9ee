/**
 * The OpenAI wire shapes, to and from which every dialect is translated. Field names are OpenAI's own. Objects are
 * open: fields that this file does not declare pass through unchanged.
 *
 * Source: OpenAI REST API reference, document version 2.3.0.
 * @module
 */
import type { JsonObject, RequestBody } from "./body.ts";

export type * from "./body.ts";
export type * from "./documents.ts";
export type * from "./embeddings.ts";
export type * from "./moderation.ts";
export type * from "./rerank.ts";
export type * from "./search.ts";

/** A content part of a message. */
export interface ContentPart {
  /** `text`, `image_url`, `input_audio`, `file`, `refusal`, or a vendor's own type. */
  type: string;
  /** The text of a `text` part. */
  text?: string;
  /** The image of an `image_url` part: an `https:` or `data:` URL. */
  image_url?: { url: string; detail?: string };
  /** The audio of an `input_audio` part, base64. */
  input_audio?: { data: string; format: string };
  /** Vendor extensions. */
  [key: string]: unknown;
}

/** A tool call requested by a model. */
export interface ToolCall {
  /** Id of the call; the result refers to it as `tool_call_id` of a `tool` message. */
  id: string;
  /** Always `function`. */
  type: "function";
  /** The function, and its arguments as a JSON string. */
  function: { name: string; arguments: string };
  /** Vendor-specific state to send back with the call, keyed by vendor. */
  extra_content?: JsonObject;
  /** A cache breakpoint after the call, for models that support them. */
  cache_control?: unknown;
}

/** The role of a message's author; `function` is OpenAI's older form of `tool`. */
export type ChatRole = "system" | "developer" | "user" | "assistant" | "tool" | "function";

/** A message of a conversation. */
export interface ChatMessage {
  /** Role of the author. */
  role: ChatRole;
  /** The text, the content parts, or null next to tool calls. */
  content?: string | ContentPart[] | null;
  /** Tool calls of an assistant message. */
  tool_calls?: ToolCall[];
  /** In a `tool` message: id of the call whose result it contains. */
  tool_call_id?: string;
  /** Vendor extensions. */
  [key: string]: unknown;
}

/** A tool that the model may call. */
export interface Tool {
  /** `function`, or the type of a vendor's hosted tool. */
  type: string;
  /** The function's name, description, and parameters as JSON Schema. */
  function?: { name: string; description?: string; parameters?: JsonObject; strict?: boolean | null };
  /** Vendor extensions. */
  [key: string]: unknown;
}

/** The body of `POST /v1/chat/completions`. */
export interface ChatCompletionRequest extends RequestBody {
  /** The conversation so far, oldest message first. */
  messages: ChatMessage[];
  /** Whether the response is a stream of chunks. */
  stream?: boolean | null;
  /** Options of a streaming response. */
  stream_options?: { include_usage?: boolean; [key: string]: unknown } | null;
  /** Tools that the model may call. */
  tools?: Tool[];
  /** `none`, `auto`, `required`, or a specific function. */
  tool_choice?: string | { type: string; function?: { name: string } };
  /** Whether one response may contain several tool calls. */
  parallel_tool_calls?: boolean;
  /** Maximum output tokens (older name). */
  max_tokens?: number | null;
  /** Maximum output tokens, including reasoning. */
  max_completion_tokens?: number | null;
  /** Sampling temperature, 0 to 2. */
  temperature?: number | null;
  /** Nucleus sampling: cumulative probability, 0 to 1. */
  top_p?: number | null;
  /** Number of choices. @default {1} */
  n?: number | null;
  /** Up to four stop sequences. */
  stop?: string | string[] | null;
  /** The response format: `text`, `json_object` or `json_schema`. */
  response_format?: { type: string; json_schema?: JsonObject };
  /** Reasoning effort: `none`, `minimal`, `low`, `medium`, `high` or `xhigh`. */
  reasoning_effort?: string | null;
  /** Vendor extensions. */
  [key: string]: unknown;
}

/** Log probability of a token. */
export interface TokenLogprob {
  /** The token. */
  token: string;
  /** Natural logarithm of its probability. */
  logprob: number;
  /** Its UTF-8 bytes. */
  bytes: number[] | null;
  /** The most likely tokens at this position. */
  top_logprobs: { token: string; logprob: number; bytes: number[] | null }[];
  /** Vendor extensions. */
  [key: string]: unknown;
}

/** Log probabilities of a choice. */
export interface ChoiceLogprobs {
  /** Log probabilities of the content tokens. */
  content: TokenLogprob[] | null;
  /** Log probabilities of the refusal tokens. */
  refusal: TokenLogprob[] | null;
  /** Vendor extensions. */
  [key: string]: unknown;
}

/** Why a choice ended. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "function_call";

/** Token counts of one request. */
export interface CompletionUsage {
  /** Input tokens. */
  prompt_tokens: number;
  /** Output tokens. */
  completion_tokens: number;
  /** Input and output tokens. */
  total_tokens: number;
  /** Details of the input tokens: read from a cache, audio, written to a cache. */
  prompt_tokens_details?: { cached_tokens?: number; audio_tokens?: number; cache_write_tokens?: number };
  /** Details of the output tokens: reasoning, audio. */
  completion_tokens_details?: { reasoning_tokens?: number; audio_tokens?: number; [key: string]: unknown };
  /** Vendor extensions. */
  [key: string]: unknown;
}

/** A source that a part of the text is based on. */
export interface Annotation {
  /** Always `url_citation`. */
  type: "url_citation";
  /** The source, and the part of the text: UTF-16 code units, both 0 if it is unknown. */
  url_citation: { start_index: number; end_index: number; url: string; title: string };
  /** Vendor-specific form of the citation, keyed by vendor. */
  extra_content?: JsonObject;
}

/** An image that a model has generated in a chat. */
export interface OutputImage {
  /** Always `image_url`. */
  type: "image_url";
  /** The image, a `data:` URL. */
  image_url: { url: string };
  /** Index of the image in the message, from 0. */
  index?: number;
  /** Vendor-specific state to send back with the image, keyed by vendor. */
  extra_content?: JsonObject;
}

/** The message of a complete response. */
export interface AssistantMessage {
  /** Always `assistant`. */
  role: "assistant";
  /** The text; null if there is none. */
  content: string | null;
  /** The refusal message; null if there is none. */
  refusal: string | null;
  /** Tool calls that the model requests. */
  tool_calls?: ToolCall[];
  /** The model's reasoning, if the vendor exposes it. */
  reasoning_content?: string | null;
  /** Reasoning state to send back with the message, in OpenRouter's form. */
  reasoning_details?: JsonObject[];
  /** Images that the model has generated, in OpenRouter's form. */
  images?: OutputImage[];
  /** Sources of the text. */
  annotations?: Annotation[];
  /** Vendor extensions. */
  [key: string]: unknown;
}

/** One of the `n` choices. */
export interface Choice {
  /** Index of the choice, from 0. */
  index: number;
  /** The message. */
  message: AssistantMessage;
  /** Why generation ended. */
  finish_reason: FinishReason;
  /** Log probabilities, if requested. */
  logprobs: ChoiceLogprobs | null;
  /** Vendor extensions. */
  [key: string]: unknown;
}

/** A complete chat response. */
export interface ChatCompletion {
  /** The response's id. */
  id: string;
  /** Always `chat.completion`. */
  object: "chat.completion";
  /** Unix time, seconds. */
  created: number;
  /** The upstream model id. */
  model: string;
  /** The choices. */
  choices: Choice[];
  /** Token counts, if the provider reported them. */
  usage?: CompletionUsage;
  /** Vendor extensions. */
  [key: string]: unknown;
}

/** A delta of a streamed tool call. */
export interface ToolCallDelta {
  /** Index of the tool call that this delta belongs to, from 0. */
  index: number;
  /** Id of the call; in its first delta only. */
  id?: string;
  /** `function`; in the first delta of the call only. */
  type?: "function";
  /** The name, in the first delta, and a fragment of the arguments' JSON. */
  function?: { name?: string; arguments?: string };
  /** Vendor-specific state, keyed by vendor. */
  extra_content?: JsonObject;
}

/** The delta of a choice. */
export interface Delta {
  /** The role; in the first chunk only. */
  role?: "assistant";
  /** Text to append. */
  content?: string | null;
  /** Refusal text to append. */
  refusal?: string | null;
  /** Tool call deltas. */
  tool_calls?: ToolCallDelta[];
  /** Reasoning text to append. */
  reasoning_content?: string | null;
  /** Reasoning state to append, in OpenRouter's form. */
  reasoning_details?: JsonObject[];
  /** Images that the model has generated, in OpenRouter's form. */
  images?: OutputImage[];
  /** Sources of the text. */
  annotations?: Annotation[];
  /** Vendor extensions. */
  [key: string]: unknown;
}

/** A chunk of a streaming chat response. */
export interface ChatCompletionChunk {
  /** The response's id, the same in every chunk. */
  id: string;
  /** Always `chat.completion.chunk`. */
  object: "chat.completion.chunk";
  /** Unix time, seconds. */
  created: number;
  /** The upstream model id. */
  model: string;
  /** Deltas per choice; empty in the chunk that carries the usage. */
  choices: {
    index: number;
    delta: Delta;
    finish_reason: FinishReason | null;
    logprobs?: ChoiceLogprobs | null;
    /** Vendor extensions. */
    [key: string]: unknown;
  }[];
  /** Token counts; in the last chunk, if requested. */
  usage?: CompletionUsage | null;
  /** Vendor extensions. */
  [key: string]: unknown;
}

/** The body of every error response: `{ "error": … }`. */
export interface ErrorBody {
  /** The error. */
  error: OpenAiError;
}

/** The error object of an error response. */
export interface OpenAiError {
  /** The message: what happened, and how to fix it. */
  message: string;
  /** The error type, such as `invalid_request_error`. */
  type: string;
  /** The invalid request parameter. */
  param: string | null;
  /** The error code, such as `model_not_found`. */
  code: string | null;
}
