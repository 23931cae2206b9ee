/**
 * Request parameters as programs write them. Every member is declared by name, so that a misspelled one fails to
 * compile; values typed with the package `openai` are assignable. Inside middleware and connectors, request types are
 * open (`ChatCompletionRequest`, …): vendor extensions pass through, and a program adds one by spreading an object.
 *
 * Source: OpenAI REST API reference, document version 2.3.0.
 * @module
 */
import type { ChatRole, RequestBody } from "./openai.ts";

/** Routing constraints of a request. */
export interface MeshParams {
  /** Allowlist: names of models, provider entries or vendors of the pool. */
  only?: readonly string[];
  /** Denylist: names of models, provider entries or vendors. */
  ignore?: readonly string[];
  /** Preferred models, provider entries or vendors, in order. Others follow. */
  order?: readonly string[];
  /** Maximum estimated cost of the request, USD. */
  max_price?: number;
  /** Deadline for the response, such as `20s`. */
  deadline?: string;
  /** Limit of each model for the first content of a stream, such as `5s`. */
  first_token?: string;
  /** Priority in the queue of a pool, from 0 to 100: the highest is served first. */
  priority?: number;
  /** Session id, for the session-stickiness strategy. */
  session?: string;
  /** Tags of the request, for its records and for the limits of `tags`. */
  tags?: readonly string[] | Readonly<Record<string, string>>;
  /** The end user, for the records of the request and for the limits of `users`. By default the request's `user`. */
  user?: string;
  /**
   * What the cache may do: nothing (`no-store`), nothing but repeat a response (`only`), or repeat one that is not older, such as
   * `{ ttl: "60s" }`.
   */
  cache?: "no-store" | "only" | { readonly ttl: string | number };
}

/** Parameters that the requests of all operations share. */
export interface CommonParams {
  /** A pool, capability, alias or model name. When omitted, the client's default pool is used. */
  model?: string;
  /** Further models or pools, tried in order after `model`. */
  models?: readonly string[];
  /** Routing constraints; not sent to a provider. */
  mesh?: MeshParams;
  /** The end user, as the client identifies them. */
  user?: string;
}

/** The request of an operation, with declared members only. */
export type Params<Body extends RequestBody> = CommonParams & OwnMembers<Body>;

/** An image request. OpenAI's type allows `model: null`. */
export type ImageParams<Body extends RequestBody> = Omit<Params<Body>, "model"> & {
  /** A pool, capability, alias or model name. When omitted or null, the client's default pool is used. */
  model?: string | null;
};

/** The declared members of a request, except those that all requests share. */
export type OwnMembers<Body> = {
  [Key in keyof Body as string extends Key ? never : Key extends keyof CommonParams ? never : Key]: Body[Key];
};

/** A content part of a message. */
export interface ContentPartParam {
  /** `text`, `image_url`, `input_audio`, `file` or `refusal`. */
  type: string;
  /** The text of a `text` part. */
  text?: string;
  /** The image of an `image_url` part: an `https:` or `data:` URL. */
  image_url?: { url: string; detail?: string };
  /** The audio of an `input_audio` part, base64. */
  input_audio?: { data: string; format: string };
  /** The file of a `file` part. */
  file?: { file_data?: string; file_id?: string; filename?: string };
  /** The refusal of a `refusal` part. */
  refusal?: string;
  /** Prompt cache breakpoint: the vendor caches the prompt up to here. */
  cache_control?: object | null;
}

/** A message of a conversation. */
export interface ChatMessageParam {
  /** Role of the author. */
  role: ChatRole;
  /** The text, the content parts, or null next to tool calls. */
  content?: string | readonly ContentPartParam[] | null;
  /** The participant's name. */
  name?: string;
  /** Tool calls of an assistant message. */
  tool_calls?: readonly object[];
  /** In a `tool` message: id of the call whose result it contains. */
  tool_call_id?: string;
  /** The refusal of an assistant message. */
  refusal?: string | null;
  /** The audio of an assistant message, by the id of the earlier response. */
  audio?: { id: string } | null;
  /** OpenAI's older form of a tool call. */
  function_call?: { name: string; arguments: string } | null;
  /** The reasoning of an assistant message, on vendors that accept it back. */
  reasoning_content?: string | null;
}

/** A tool that the model may call. */
export interface ToolParam {
  /** `function`, or the type of a vendor's hosted tool. */
  type: string;
  /** The function's name, description, and parameters as JSON Schema. */
  function?: { name: string; description?: string; parameters?: object; strict?: boolean | null };
  /** A custom tool, whose input is free text. */
  custom?: object;
  /** Prompt cache breakpoint: the vendor caches the prompt up to here. */
  cache_control?: object | null;
}

/** The request of `client.chat.completions.create`. */
export interface ChatParams extends CommonParams {
  /** The conversation so far, oldest message first. */
  messages: readonly ChatMessageParam[];
  /** Whether the response is a stream of chunks. */
  stream?: boolean | null;
  /** Options of a streaming response. */
  stream_options?: { include_usage?: boolean; include_obfuscation?: boolean } | null;
  /** Tools that the model may call. */
  tools?: readonly ToolParam[];
  /** `none`, `auto`, `required`, or a specific function. */
  tool_choice?: string | object;
  /** Whether one response may contain several tool calls. */
  parallel_tool_calls?: boolean;
  /** OpenAI's older form of `tools`. */
  functions?: readonly object[];
  /** OpenAI's older form of `tool_choice`. */
  function_call?: string | object;
  /** Maximum output tokens (older name). */
  max_tokens?: number | null;
  /** Maximum output tokens, including reasoning. */
  max_completion_tokens?: number | null;
  /** Sampling temperature, 0 to 2. */
  temperature?: number | null;
  /** Nucleus sampling: cumulative probability, 0 to 1. */
  top_p?: number | null;
  /** Samples only from the `top_k` most likely tokens, on vendors that support it. */
  top_k?: number | null;
  /** Penalty for tokens that have occurred, -2 to 2. */
  presence_penalty?: number | null;
  /** Penalty for tokens by their frequency so far, -2 to 2. */
  frequency_penalty?: number | null;
  /** Bias per token id, -100 to 100. */
  logit_bias?: Readonly<Record<string, number>> | null;
  /** Whether the response includes log probabilities. */
  logprobs?: boolean | null;
  /** Number of most likely tokens to report per position, 0 to 20. */
  top_logprobs?: number | null;
  /** Number of choices. @default {1} */
  n?: number | null;
  /** Seed: best-effort deterministic sampling. */
  seed?: number | null;
  /** Up to four stop sequences. */
  stop?: string | readonly string[] | null;
  /** The response format: `text`, `json_object` or `json_schema`. */
  response_format?: { type: string; json_schema?: object } | null;
  /** Reasoning effort: `none`, `minimal`, `low`, `medium`, `high` or `xhigh`. */
  reasoning_effort?: string | null;
  /** Verbosity of the response: `low`, `medium` or `high`. */
  verbosity?: string | null;
  /** Output modalities: `text`, `audio`. */
  modalities?: readonly string[] | null;
  /** Voice and format of audio output. */
  audio?: object | null;
  /** Predicted output: content that most of the response is expected to repeat. */
  prediction?: object | null;
  /** Options of the vendor's web search tool. */
  web_search_options?: object;
  /** Up to 16 key-value pairs that the vendor stores with the response. */
  metadata?: object | null;
  /** Whether the vendor stores the response. */
  store?: boolean | null;
  /** The vendor's processing tier, which determines speed and price. */
  service_tier?: string | null;
  /** Key that routes requests with the same prefix to the same prompt cache. */
  prompt_cache_key?: string | null;
  /** Retention of the vendor's prompt cache. */
  prompt_cache_retention?: string | null;
  /** Stable identifier of the end user, preferably hashed. */
  safety_identifier?: string | null;
}
