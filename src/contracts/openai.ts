/**
 * The OpenAI wire shapes that every dialect is translated to and from. Field names are OpenAI's own.
 * Objects are open: a field this file does not name passes through untouched.
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

/** One part of a message whose content is a list. */
export interface ContentPart {
  /** `text`, `image_url`, `input_audio`, `file`, `refusal` or what a vendor adds. */
  type: string;
  /** The text of a `text` part. */
  text?: string;
  /** The image of an `image_url` part: an `https:` or `data:` URL. */
  image_url?: { url: string; detail?: string };
  /** The sound of an `input_audio` part, base64. */
  input_audio?: { data: string; format: string };
  /** What else a vendor adds. */
  [key: string]: unknown;
}

/** A tool call that a model asks for. */
export interface ToolCall {
  /** Id to answer with, in a `tool` message's `tool_call_id`. */
  id: string;
  /** Always `function` today. */
  type: "function";
  /** The function and its arguments, a JSON text. */
  function: { name: string; arguments: string };
  /** Vendor-bound state that has to come back with the call, keyed by vendor. */
  extra_content?: JsonObject;
}

/** Who says a message; `function` is OpenAI's older form of `tool`. */
export type ChatRole = "system" | "developer" | "user" | "assistant" | "tool" | "function";

/** A message of a conversation. */
export interface ChatMessage {
  /** Who says it. */
  role: ChatRole;
  /** The text, the parts, or null beside tool calls. */
  content?: string | ContentPart[] | null;
  /** Calls an assistant message asked for. */
  tool_calls?: ToolCall[];
  /** In a `tool` message: the call it answers. */
  tool_call_id?: string;
  /** What else a vendor adds. */
  [key: string]: unknown;
}

/** A function the model may call. */
export interface Tool {
  /** `function`; other types are vendors' hosted tools. */
  type: string;
  /** The function's name, purpose and JSON Schema. */
  function?: { name: string; description?: string; parameters?: JsonObject; strict?: boolean | null };
  /** What else a vendor adds. */
  [key: string]: unknown;
}

/** The body of `POST /v1/chat/completions`. */
export interface ChatCompletionRequest extends RequestBody {
  /** The conversation so far, oldest first. */
  messages: ChatMessage[];
  /** Whether the response is a stream of chunks. */
  stream?: boolean | null;
  /** Options of a streamed response. */
  stream_options?: { include_usage?: boolean; [key: string]: unknown } | null;
  /** Functions the model may call. */
  tools?: Tool[];
  /** `none`, `auto`, `required` or one function. */
  tool_choice?: string | { type: string; function?: { name: string } };
  /** Whether several tool calls may come in one response. */
  parallel_tool_calls?: boolean;
  /** Token limit of the response, in tokens (older name). */
  max_tokens?: number | null;
  /** Token limit of the response, reasoning included, in tokens. */
  max_completion_tokens?: number | null;
  /** 0 to 2. */
  temperature?: number | null;
  /** 0 to 1. */
  top_p?: number | null;
  /** How many choices. @default {1} */
  n?: number | null;
  /** Up to four strings that end the response. */
  stop?: string | string[] | null;
  /** The response's form: `text`, `json_object` or `json_schema`. */
  response_format?: { type: string; json_schema?: JsonObject };
  /** `none`, `minimal`, `low`, `medium`, `high` or `xhigh`. */
  reasoning_effort?: string | null;
  /** What else a vendor adds. */
  [key: string]: unknown;
}

/** How likely a token was. */
export interface TokenLogprob {
  /** The token. */
  token: string;
  /** Its natural logarithm. */
  logprob: number;
  /** Its UTF-8 bytes. */
  bytes: number[] | null;
  /** The likeliest tokens in its place. */
  top_logprobs: { token: string; logprob: number; bytes: number[] | null }[];
  /** What else a vendor adds. */
  [key: string]: unknown;
}

/** Log probabilities of a choice. */
export interface ChoiceLogprobs {
  /** Of the text. */
  content: TokenLogprob[] | null;
  /** Of a refusal. */
  refusal: TokenLogprob[] | null;
  /** What else a vendor adds. */
  [key: string]: unknown;
}

/** Why a choice ended. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "function_call";

/** Token counts of one request. */
export interface CompletionUsage {
  /** Tokens read. */
  prompt_tokens: number;
  /** Tokens written. */
  completion_tokens: number;
  /** Both together. */
  total_tokens: number;
  /** Of the tokens read: how many came from, or went into, a cache. */
  prompt_tokens_details?: { cached_tokens?: number; audio_tokens?: number; cache_write_tokens?: number };
  /** Of the tokens written: how many were reasoning. */
  completion_tokens_details?: { reasoning_tokens?: number; audio_tokens?: number; [key: string]: unknown };
  /** What else a vendor adds. */
  [key: string]: unknown;
}

/** The message of a complete response. */
export interface AssistantMessage {
  /** Always `assistant`. */
  role: "assistant";
  /** The text, or null when there is none. */
  content: string | null;
  /** A refusal in the model's words, or null. */
  refusal: string | null;
  /** Tools the model wants called. */
  tool_calls?: ToolCall[];
  /** The model's thoughts, where its vendor shows them. */
  reasoning_content?: string | null;
  /** What else a vendor adds. */
  [key: string]: unknown;
}

/** One of the choices asked for with `n`. */
export interface Choice {
  /** Its place, from 0. */
  index: number;
  /** The answer. */
  message: AssistantMessage;
  /** Why it ended. */
  finish_reason: FinishReason;
  /** Log probabilities, when asked for. */
  logprobs: ChoiceLogprobs | null;
  /** What else a vendor adds. */
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
  /** The concrete model, as its provider names it. */
  model: string;
  /** The answers. */
  choices: Choice[];
  /** Token counts, where the provider reported them. */
  usage?: CompletionUsage;
  /** What else a vendor adds. */
  [key: string]: unknown;
}

/** A chunk of a streamed tool call. */
export interface ToolCallDelta {
  /** Index of the call that this chunk belongs to, from 0. */
  index: number;
  /** The call's id, in its first chunk. */
  id?: string;
  /** `function`, in its first chunk. */
  type?: "function";
  /** The name, in the first chunk, and more of the arguments' text. */
  function?: { name?: string; arguments?: string };
  /** Vendor-bound state, keyed by vendor. */
  extra_content?: JsonObject;
}

/** What a chunk adds to a choice. */
export interface Delta {
  /** In the first chunk. */
  role?: "assistant";
  /** More text. */
  content?: string | null;
  /** More of a refusal. */
  refusal?: string | null;
  /** More of tool calls. */
  tool_calls?: ToolCallDelta[];
  /** More of the thoughts. */
  reasoning_content?: string | null;
  /** What else a vendor adds. */
  [key: string]: unknown;
}

/** One event of a streamed chat response. */
export interface ChatCompletionChunk {
  /** The same in every chunk of a response. */
  id: string;
  /** Always `chat.completion.chunk`. */
  object: "chat.completion.chunk";
  /** Unix time, seconds. */
  created: number;
  /** The concrete model, as its provider names it. */
  model: string;
  /** What is new; empty in the chunk that carries the usage. */
  choices: {
    index: number;
    delta: Delta;
    finish_reason: FinishReason | null;
    logprobs?: ChoiceLogprobs | null;
    /** What else a vendor adds. */
    [key: string]: unknown;
  }[];
  /** Token counts: in the last chunk, when asked for. */
  usage?: CompletionUsage | null;
  /** What else a vendor adds. */
  [key: string]: unknown;
}

/** The body of every error response: `{ "error": … }`. */
export interface ErrorBody {
  /** What went wrong. */
  error: OpenAiError;
}

/** The facts of an error response. */
export interface OpenAiError {
  /** What happened and what to do. */
  message: string;
  /** The class, such as `invalid_request_error`. */
  type: string;
  /** The request's field at fault. */
  param: string | null;
  /** The exact condition, such as `model_not_found`. */
  code: string | null;
}
