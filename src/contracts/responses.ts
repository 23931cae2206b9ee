/**
 * The shapes of OpenAI's Responses API. Field names are its own; types can be used where the official client's are expected.
 *
 * Source: OpenAI REST API reference, document version 2.3.0.
 * @module
 */
import type { JsonObject } from "./openai.ts";

/** The body of `POST /v1/responses`. Nothing is kept between two requests. */
export interface ResponseRequest {
  /** A pool, capability, alias or model name; the client's own pool when left out. */
  model?: string;
  /** A list of further models or pools to try after `model`. */
  models?: string[];
  /** Routing of this request. */
  mesh?: object;
  /** The conversation so far: a text, or items. */
  input?: string | readonly object[];
  /** The system prompt. */
  instructions?: string | null;
  /** Whether the response is a stream of events. */
  stream?: boolean | null;
  /** Options of a streamed response. */
  stream_options?: object | null;
  /** Functions the model may call. */
  tools?: readonly object[];
  /** `none`, `auto`, `required` or one function. */
  tool_choice?: string | object;
  /** Whether several calls may come in one response. */
  parallel_tool_calls?: boolean | null;
  /** The answer's form. */
  text?: object;
  /** How much to think. */
  reasoning?: object | null;
  /** Token limit of the response, reasoning included. */
  max_output_tokens?: number | null;
  /** 0 to 2. */
  temperature?: number | null;
  /** 0 to 1. */
  top_p?: number | null;
  /** Alternatives per token, 0 to 20. */
  top_logprobs?: number | null;
  /** What else the response shall have. */
  include?: readonly string[] | null;
  /** Up to 16 texts, which come back with the response. */
  metadata?: object | null;
  /** The end user, as the client names them. */
  user?: string;
  /** The end user, as a code. */
  safety_identifier?: string | null;
  /** What keeps requests with the same beginning together. */
  prompt_cache_key?: string | null;
  /** For one provider that keeps responses. */
  store?: boolean | null;
  /** Likewise. */
  background?: boolean | null;
  /** Likewise. */
  previous_response_id?: string | null;
  /** Likewise. */
  conversation?: string | object | null;
  /** Likewise. */
  prompt?: object | null;
  /** Left out for other models, and so are the members below. */
  truncation?: string | null;
  /** See `truncation`. */
  max_tool_calls?: number | null;
  /** See `truncation`. */
  service_tier?: string | null;
  /** See `truncation`. */
  prompt_cache_retention?: string | null;
  /** See `truncation`. */
  context_management?: readonly object[] | null;
}

/** Where an item is on its way. */
export type ResponseItemStatus = "in_progress" | "completed" | "incomplete";

/** How likely a token was. */
export interface ResponseLogprob {
  /** The token. */
  token: string;
  /** Its natural logarithm. */
  logprob: number;
  /** Its UTF-8 bytes. */
  bytes: number[];
  /** The likeliest tokens in its place. */
  top_logprobs: { token: string; logprob: number; bytes: number[] }[];
}

/** A text of an answer. */
export interface ResponseText {
  /** Always `output_text`. */
  type: "output_text";
  /** The text. */
  text: string;
  /** None but a provider's own. */
  annotations: never[];
  /** Where they were asked for. */
  logprobs?: ResponseLogprob[];
}

/** A refusal in the model's words. */
export interface ResponseRefusal {
  /** Always `refusal`. */
  type: "refusal";
  /** Its words. */
  refusal: string;
}

/** What a model says. */
export interface ResponseMessage {
  /** The item's id. */
  id: string;
  /** Always `message`. */
  type: "message";
  /** Always `assistant`. */
  role: "assistant";
  /** Whether it is complete. */
  status: ResponseItemStatus;
  /** Texts and refusals. */
  content: (ResponseText | ResponseRefusal)[];
}

/** A call that a model asks for. */
export interface ResponseFunctionCall {
  /** The item's id. */
  id: string;
  /** Always `function_call`. */
  type: "function_call";
  /** Whether it is complete. */
  status: ResponseItemStatus;
  /** Id to answer with, in a `function_call_output`. */
  call_id: string;
  /** The function. */
  name: string;
  /** Its arguments, a JSON text. */
  arguments: string;
}

/** What a model thinks; to be sent back with the conversation as it came. */
export interface ResponseReasoning {
  /** The item's id. */
  id: string;
  /** Always `reasoning`. */
  type: "reasoning";
  /** Whether it is complete. */
  status: ResponseItemStatus;
  /** The thoughts, where their vendor shows them. */
  summary: { type: "summary_text"; text: string }[];
  /** What its vendor wants to see again. */
  encrypted_content: string | null;
}

/** An item of an answer. */
export type ResponseItem = ResponseMessage | ResponseFunctionCall | ResponseReasoning;

/** Token counts of one request. */
export interface ResponseUsage {
  /** Tokens read. */
  input_tokens: number;
  /** Of them, how many came from, or went into, a cache. */
  input_tokens_details: { cached_tokens: number; cache_write_tokens: number };
  /** Tokens written. */
  output_tokens: number;
  /** Of them, how many were reasoning. */
  output_tokens_details: { reasoning_tokens: number };
  /** Both together. */
  total_tokens: number;
}

/** The answer to a {@linkcode ResponseRequest}. */
export interface ModelResponse {
  /** The response's id. */
  id: string;
  /** Always `response`. */
  object: "response";
  /** Unix time, seconds. */
  created_at: number;
  /** Whether it is complete. */
  status: "completed" | "incomplete" | "in_progress" | "failed";
  /** None: what fails is thrown. */
  error: null;
  /** Why it is incomplete. */
  incomplete_details: { reason: "max_output_tokens" | "content_filter" } | null;
  /** The request's. */
  instructions: string | null;
  /** The concrete model, as its provider names it. */
  model: string;
  /** What the model says, thinks and asks for. */
  output: ResponseItem[];
  /** All texts of the output. */
  output_text: string;
  /** The request's. */
  parallel_tool_calls: boolean;
  /** The request's. */
  metadata: Record<string, string>;
  /** The request's. */
  temperature: number | null;
  /** The request's. */
  top_p: number | null;
  /** The request's. */
  tools: { type: "function"; name: string; parameters: JsonObject | null; strict: boolean | null }[];
  /** The request's. */
  tool_choice: "none" | "auto" | "required" | { type: "function"; name: string };
  /** Token counts, where the provider reported them. */
  usage?: ResponseUsage;
  /** None: a member of the official client's. */
  access_programs: null;
}

/** What all events have. */
export interface NumberedEvent {
  /** From 0. */
  sequence_number: number;
}

/** What events of an item have. */
export interface ItemEvent extends NumberedEvent {
  /** The item's id. */
  item_id: string;
  /** Its place in the output. */
  output_index: number;
}

/** What events of a message's part have. */
export interface PartEvent extends ItemEvent {
  /** Its place in the message. */
  content_index: number;
}

/** What events of a thought have. */
export interface ThoughtEvent extends ItemEvent {
  /** Its place in the item. */
  summary_index: number;
}

/** An event of a streamed response. */
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
