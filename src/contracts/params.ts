/**
 * Requests as programs write them: every member by its name, so that a misspelt one does not compile. What is typed with the
 * package `openai` fits, too. Requests on their way through middleware and connectors are open (`ChatCompletionRequest`, …):
 * what a vendor adds passes through, and a program adds it by a spread.
 *
 * Source: OpenAI REST API reference, document version 2.3.0.
 * @module
 */
import type { ChatRole, RequestBody } from "./openai.ts";

/** How a request narrows its own routing. */
export interface MeshParams {
  /** Only these: names of models, provider entries or vendors of the pool. */
  only?: readonly string[];
  /** Not these. */
  ignore?: readonly string[];
  /** These first, in this order; the others after them. */
  order?: readonly string[];
  /** Most that the request may cost by estimate, USD. */
  max_price?: number;
  /** Longest time to an answer, such as `20s`. */
  deadline?: string;
  /** Whose request it is, for session-stickiness. */
  session?: string;
  /** What its records are marked with. */
  tags?: readonly string[] | Readonly<Record<string, string>>;
}

/** What the requests of all operations have in common. */
export interface CommonParams {
  /** A pool, capability, alias or model name; the client's own pool when left out. */
  model?: string;
  /** A list of further models or pools to try after `model`. */
  models?: readonly string[];
  /** Routing of this request; it is not sent to a provider. */
  mesh?: MeshParams;
  /** The end user, as the client names them. */
  user?: string;
}

/** A request of an operation, with its members by name alone. */
export type Params<Body extends RequestBody> = CommonParams & OwnMembers<Body>;

/** A request for images: OpenAI's may say `model: null` for none. */
export type ImageParams<Body extends RequestBody> = Omit<Params<Body>, "model"> & {
  /** A pool, capability, alias or model name; the client's own pool when left out or null. */
  model?: string | null;
};

/** The members that a request names, but for those that every request has. */
export type OwnMembers<Body> = {
  [Key in keyof Body as string extends Key ? never : Key extends keyof CommonParams ? never : Key]: Body[Key];
};

/** A part of a message whose content is a list. */
export interface ContentPartParam {
  /** `text`, `image_url`, `input_audio`, `file` or `refusal`. */
  type: string;
  /** Of a `text` part. */
  text?: string;
  /** Of an `image_url` part: an `https:` or `data:` URL. */
  image_url?: { url: string; detail?: string };
  /** Of an `input_audio` part, base64. */
  input_audio?: { data: string; format: string };
  /** Of a `file` part. */
  file?: { file_data?: string; file_id?: string; filename?: string };
  /** Of a `refusal` part. */
  refusal?: string;
  /** What a vendor with a prompt cache keeps up to here. */
  cache_control?: object | null;
}

/** A message of a conversation. */
export interface ChatMessageParam {
  /** Who says it. */
  role: ChatRole;
  /** The text, the parts, or null beside tool calls. */
  content?: string | readonly ContentPartParam[] | null;
  /** The participant's name. */
  name?: string;
  /** Calls an assistant message asked for. */
  tool_calls?: readonly object[];
  /** In a `tool` message: the call it answers. */
  tool_call_id?: string;
  /** A refusal of an assistant message. */
  refusal?: string | null;
  /** A spoken answer of an assistant message. */
  audio?: { id: string } | null;
  /** OpenAI's older form of a call. */
  function_call?: { name: string; arguments: string } | null;
  /** Thoughts of an assistant message, where its vendor takes them back. */
  reasoning_content?: string | null;
}

/** A function the model may call. */
export interface ToolParam {
  /** `function`; other types are vendors' hosted tools. */
  type: string;
  /** The function's name, purpose and JSON Schema. */
  function?: { name: string; description?: string; parameters?: object; strict?: boolean | null };
  /** A tool whose input is free text. */
  custom?: object;
  /** What a vendor with a prompt cache keeps up to here. */
  cache_control?: object | null;
}

/** The request of `client.chat.completions.create`. */
export interface ChatParams extends CommonParams {
  /** The conversation so far, oldest first. */
  messages: readonly ChatMessageParam[];
  /** Whether the response is a stream of chunks. */
  stream?: boolean | null;
  /** Options of a streamed response. */
  stream_options?: { include_usage?: boolean; include_obfuscation?: boolean } | null;
  /** Functions the model may call. */
  tools?: readonly ToolParam[];
  /** `none`, `auto`, `required` or one function. */
  tool_choice?: string | object;
  /** Whether several tool calls may come in one response. */
  parallel_tool_calls?: boolean;
  /** OpenAI's older form of `tools`. */
  functions?: readonly object[];
  /** OpenAI's older form of `tool_choice`. */
  function_call?: string | object;
  /** Token limit of the response, in tokens (older name). */
  max_tokens?: number | null;
  /** Token limit of the response, reasoning included, in tokens. */
  max_completion_tokens?: number | null;
  /** 0 to 2. */
  temperature?: number | null;
  /** 0 to 1. */
  top_p?: number | null;
  /** Only the most probable tokens, so many, where the vendor has it. */
  top_k?: number | null;
  /** -2 to 2. */
  presence_penalty?: number | null;
  /** -2 to 2. */
  frequency_penalty?: number | null;
  /** Tokens that are more or less likely, by their numbers. */
  logit_bias?: Readonly<Record<string, number>> | null;
  /** Whether the response has log probabilities. */
  logprobs?: boolean | null;
  /** How many of the likeliest tokens it has of each, 0 to 20. */
  top_logprobs?: number | null;
  /** How many choices. @default {1} */
  n?: number | null;
  /** The same number gives much the same response. */
  seed?: number | null;
  /** Up to four strings that end the response. */
  stop?: string | readonly string[] | null;
  /** The response's form: `text`, `json_object` or `json_schema`. */
  response_format?: { type: string; json_schema?: object } | null;
  /** `none`, `minimal`, `low`, `medium`, `high` or `xhigh`. */
  reasoning_effort?: string | null;
  /** `low`, `medium` or `high`: how much is written. */
  verbosity?: string | null;
  /** `text`, `audio`: what the response has. */
  modalities?: readonly string[] | null;
  /** Voice and format of a spoken response. */
  audio?: object | null;
  /** What most of the response is known to be. */
  prediction?: object | null;
  /** The vendor's own web search. */
  web_search_options?: object;
  /** Up to 16 strings that the vendor keeps with the response. */
  metadata?: object | null;
  /** Whether the vendor keeps the response. */
  store?: boolean | null;
  /** How fast, and for which price, the vendor works. */
  service_tier?: string | null;
  /** What keeps requests with the same beginning together. */
  prompt_cache_key?: string | null;
  /** How long the vendor's cache keeps the prompt. */
  prompt_cache_retention?: string | null;
  /** The end user, as a code. */
  safety_identifier?: string | null;
}
