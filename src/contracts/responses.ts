/**
 * The shapes of OpenAI's Responses API. Field names are OpenAI's own; the types are assignable to those of the official
 * client.
 *
 * Source: OpenAI REST API reference, document version 2.3.0.
 * @module
 */
import type { JsonObject } from "./openai.ts";

/** The body of `POST /v1/responses`. ModelMesh stores no state between requests. */
export interface ResponseRequest {
  /** A pool, capability, alias or model name. When omitted, the client's default pool is used. */
  model?: string;
  /** Further models or pools, tried in order after `model`. */
  models?: string[];
  /** Routing constraints of this request. */
  mesh?: object;
  /** The conversation so far: a string, or items. */
  input?: string | readonly object[];
  /** The system prompt. */
  instructions?: string | null;
  /** Whether the response is a stream of events. */
  stream?: boolean | null;
  /** Options of a streaming response. */
  stream_options?: object | null;
  /** Tools that the model may call. */
  tools?: readonly object[];
  /** `none`, `auto`, `required`, or a specific function. */
  tool_choice?: string | object;
  /** Whether one response may contain several tool calls. */
  parallel_tool_calls?: boolean | null;
  /** Format of the text output. */
  text?: object;
  /** Reasoning options, such as the effort. */
  reasoning?: object | null;
  /** Maximum output tokens, including reasoning. */
  max_output_tokens?: number | null;
  /** Sampling temperature, 0 to 2. */
  temperature?: number | null;
  /** Nucleus sampling: cumulative probability, 0 to 1. */
  top_p?: number | null;
  /** Number of most likely tokens to report per position, 0 to 20. */
  top_logprobs?: number | null;
  /** Additional output data to include in the response. */
  include?: readonly string[] | null;
  /** Up to 16 key-value pairs, returned with the response. */
  metadata?: object | null;
  /** The end user, as the client identifies them. */
  user?: string;
  /** Stable identifier of the end user, preferably hashed. */
  safety_identifier?: string | null;
  /** Key that routes requests with the same prefix to the same prompt cache. */
  prompt_cache_key?: string | null;
  /** Whether the provider stores the response. Needs a single provider that stores responses. */
  store?: boolean | null;
  /** Whether to run in the background. Needs a single provider that stores responses. */
  background?: boolean | null;
  /** Id of the previous response. Needs a single provider that stores responses. */
  previous_response_id?: string | null;
  /** The conversation to continue. Needs a single provider that stores responses. */
  conversation?: string | object | null;
  /** A stored prompt template. Needs a single provider that stores responses. */
  prompt?: object | null;
  /** Truncation strategy. Sent only to models that support the Responses API natively, as are the members below. */
  truncation?: string | null;
  /** Maximum calls of built-in tools; see `truncation`. */
  max_tool_calls?: number | null;
  /** The vendor's processing tier; see `truncation`. */
  service_tier?: string | null;
  /** Retention of the vendor's prompt cache; see `truncation`. */
  prompt_cache_retention?: string | null;
  /** Context management options; see `truncation`. */
  context_management?: readonly object[] | null;
}

/** The status of an output item. */
export type ResponseItemStatus = "in_progress" | "completed" | "incomplete";

/** Log probability of a token. */
export interface ResponseLogprob {
  /** The token. */
  token: string;
  /** Natural logarithm of its probability. */
  logprob: number;
  /** Its UTF-8 bytes. */
  bytes: number[];
  /** The most likely tokens at this position. */
  top_logprobs: { token: string; logprob: number; bytes: number[] }[];
}

/** Text output of a message. */
export interface ResponseText {
  /** Always `output_text`. */
  type: "output_text";
  /** The text. */
  text: string;
  /** Always empty; only native responses have annotations. */
  annotations: never[];
  /** Log probabilities, if requested. */
  logprobs?: ResponseLogprob[];
}

/** A refusal by the model. */
export interface ResponseRefusal {
  /** Always `refusal`. */
  type: "refusal";
  /** The refusal message. */
  refusal: string;
}

/** A message of the model. */
export interface ResponseMessage {
  /** The item's id. */
  id: string;
  /** Always `message`. */
  type: "message";
  /** Always `assistant`. */
  role: "assistant";
  /** Status of the item. */
  status: ResponseItemStatus;
  /** Text and refusal parts. */
  content: (ResponseText | ResponseRefusal)[];
}

/** A function call requested by a model. */
export interface ResponseFunctionCall {
  /** The item's id. */
  id: string;
  /** Always `function_call`. */
  type: "function_call";
  /** Status of the item. */
  status: ResponseItemStatus;
  /** Id of the call; a `function_call_output` refers to it. */
  call_id: string;
  /** Name of the function. */
  name: string;
  /** Arguments as a JSON string. */
  arguments: string;
}

/** Reasoning of the model. Send it back unchanged with the conversation. */
export interface ResponseReasoning {
  /** The item's id. */
  id: string;
  /** Always `reasoning`. */
  type: "reasoning";
  /** Status of the item. */
  status: ResponseItemStatus;
  /** Reasoning text, if the vendor exposes it. */
  summary: { type: "summary_text"; text: string }[];
  /** Opaque state that the vendor needs back. */
  encrypted_content: string | null;
}

/** An output item. */
export type ResponseItem = ResponseMessage | ResponseFunctionCall | ResponseReasoning;

/** Token counts of one request. */
export interface ResponseUsage {
  /** Input tokens. */
  input_tokens: number;
  /** Input tokens read from a cache, and written to one. */
  input_tokens_details: { cached_tokens: number; cache_write_tokens: number };
  /** Output tokens. */
  output_tokens: number;
  /** Output tokens used for reasoning. */
  output_tokens_details: { reasoning_tokens: number };
  /** Input and output tokens. */
  total_tokens: number;
}

/** The response to a {@linkcode ResponseRequest}. */
export interface ModelResponse {
  /** The response's id. */
  id: string;
  /** Always `response`. */
  object: "response";
  /** Unix time, seconds. */
  created_at: number;
  /** Status of the response. */
  status: "completed" | "incomplete" | "in_progress" | "failed";
  /** Always null: errors are thrown. */
  error: null;
  /** Why it is incomplete. */
  incomplete_details: { reason: "max_output_tokens" | "content_filter" } | null;
  /** `instructions` of the request. */
  instructions: string | null;
  /** The upstream model id. */
  model: string;
  /** Output items: messages, reasoning and function calls. */
  output: ResponseItem[];
  /** The concatenated text of all output items. */
  output_text: string;
  /** `parallel_tool_calls` of the request. */
  parallel_tool_calls: boolean;
  /** `metadata` of the request. */
  metadata: Record<string, string>;
  /** `temperature` of the request. */
  temperature: number | null;
  /** `top_p` of the request. */
  top_p: number | null;
  /** `tools` of the request. */
  tools: { type: "function"; name: string; parameters: JsonObject | null; strict: boolean | null }[];
  /** `tool_choice` of the request. */
  tool_choice: "none" | "auto" | "required" | { type: "function"; name: string };
  /** Token counts, if the provider reported them. */
  usage?: ResponseUsage;
  /** Always null: a member of the official client's type. */
  access_programs: null;
}

/** The members that all events share. */
export interface NumberedEvent {
  /** Sequence number of the event, from 0. */
  sequence_number: number;
}

/** The members that events of an output item share. */
export interface ItemEvent extends NumberedEvent {
  /** The item's id. */
  item_id: string;
  /** Index of the item in the output. */
  output_index: number;
}

/** The members that events of a content part share. */
export interface PartEvent extends ItemEvent {
  /** Index of the part in the message. */
  content_index: number;
}

/** The members that events of a reasoning summary share. */
export interface ThoughtEvent extends ItemEvent {
  /** Index of the summary part in the item. */
  summary_index: number;
}

/** An event of a streaming response. */
export type ResponseEvent =
  | NumberedEvent & {
    type:
      | "response.created"
      | "response.in_progress"
      | "response.completed"
      | "response.incomplete"
      | "response.failed";
    response: ModelResponse;
  }
  | NumberedEvent & {
    type: "response.output_item.added" | "response.output_item.done";
    output_index: number;
    item: ResponseItem;
  }
  | PartEvent & {
    type: "response.content_part.added" | "response.content_part.done";
    part: ResponseText | ResponseRefusal;
  }
  | PartEvent & { type: "response.output_text.delta"; delta: string; logprobs: ResponseLogprob[] }
  | PartEvent & { type: "response.output_text.done"; text: string; logprobs: ResponseLogprob[] }
  | PartEvent & { type: "response.refusal.delta"; delta: string }
  | PartEvent & { type: "response.refusal.done"; refusal: string }
  | ItemEvent & { type: "response.function_call_arguments.delta"; delta: string }
  | ItemEvent & { type: "response.function_call_arguments.done"; name: string; arguments: string }
  | ThoughtEvent & {
    type: "response.reasoning_summary_part.added" | "response.reasoning_summary_part.done";
    part: { type: "summary_text"; text: string };
  }
  | ThoughtEvent & { type: "response.reasoning_summary_text.delta"; delta: string }
  | ThoughtEvent & { type: "response.reasoning_summary_text.done"; text: string };
