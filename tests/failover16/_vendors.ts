/**
 * What a provider sends, in the format of its vendor: the same words, streamed or not, and errors.
 * @module
 */
import type { ReceivedRequest } from "../support/upstream.ts";

type Json = Record<string, unknown>;

/** What is sent. */
export interface Reply {
  /** The model's id. */
  readonly model: string;
  readonly words: readonly string[];
}

/** An error that a provider returns. */
export interface VendorError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** The format of a vendor. */
export interface Vendor {
  readonly connector: string;
  /** Further settings of its provider. */
  readonly settings?: Json;
  /** Returns a response that is not streamed. */
  whole(reply: Reply): Json;
  /** Returns the events of a stream. */
  events(reply: Reply): string[];
  /** Number of events before the first word. */
  readonly lead: number;
  /** Number of events after the last one with a finish reason and usage. */
  readonly marks: number;
  isStream(request: ReceivedRequest): boolean;
  /** Whether the last turn is the assistant's. */
  isPrefilled(request: ReceivedRequest): boolean;
  /** Returns the body of an error. */
  error(error: VendorError): Json;
}

/** Input and output tokens of every response. */
export const tokens = { input: 10, output: 60 } as const;

const data = (value: Json) => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: Json & { readonly type: string }) => `event: ${value.type}\n${data(value)}`;
const wantsStream = (request: ReceivedRequest) => request.json().stream === true;

const chatUsage = { prompt_tokens: tokens.input, completion_tokens: tokens.output, total_tokens: 70 };

const openai: Vendor = {
  connector: "openai.compatible.v1",
  lead: 1,
  marks: 1,
  isStream: wantsStream,
  isPrefilled: (request) => request.json().messages.at(-1).role === "assistant",
  whole: ({ model, words }) => ({
    ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model },
    choices: [{
      ...{ index: 0, logprobs: null, finish_reason: "stop" },
      message: { role: "assistant", content: words.join(""), refusal: null },
    }],
    usage: chatUsage,
  }),
  events({ model, words }) {
    const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model };
    const event = (delta: Json, finish_reason: string | null = null) =>
      data({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
    return [
      event({ role: "assistant", content: "" }),
      ...words.map((content) => event({ content })),
      event({}, "stop"),
      data({ ...head, choices: [], usage: chatUsage }),
      "data: [DONE]\n\n",
    ];
  },
  error: ({ code, message }) => ({ error: { message, type: "invalid_request_error", param: null, code } }),
};

const claudeUsage = { input_tokens: tokens.input, output_tokens: tokens.output };
const claudeTypes: Readonly<Record<number, string>> = { 429: "rate_limit_error", 400: "invalid_request_error" };

const anthropic: Vendor = {
  connector: "anthropic.claude.v1",
  lead: 2,
  marks: 1,
  isStream: wantsStream,
  isPrefilled: (request) => request.json().messages.at(-1).role === "assistant",
  whole: ({ model, words }) => ({
    ...{ id: "msg_1", type: "message", role: "assistant", model, stop_reason: "end_turn", stop_sequence: null },
    content: [{ type: "text", text: words.join("") }],
    usage: claudeUsage,
  }),
  events({ model, words }) {
    const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null };
    return [
      named({ type: "message_start", message: { ...message, usage: { ...claudeUsage, output_tokens: 1 } } }),
      named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
      ...words.map((text) => named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
      named({ type: "content_block_stop", index: 0 }),
      named({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: claudeUsage }),
      named({ type: "message_stop" }),
    ];
  },
  error: ({ status, message }) => ({ type: "error", error: { type: claudeTypes[status] ?? "api_error", message } }),
};

const googleStatuses: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
};

const gemini: Vendor = {
  connector: "google.gemini.v1",
  lead: 0,
  marks: 0,
  isStream: ({ path }) => path.includes(":streamGenerateContent"),
  isPrefilled: (request) => request.json().contents.at(-1).role === "model",
  whole: ({ model, words }) => geminiContent(model, words.join(""), true),
  events: ({ model, words }) => [
    ...words.map((word) => data(geminiContent(model, word, false))),
    data(geminiContent(model, "", true)),
  ],
  error: ({ status, message }) => ({ error: { code: status, message, status: googleStatuses[status] } }),
};

function geminiContent(modelVersion: string, text: string, isLast: boolean): Json {
  const counts = { promptTokenCount: tokens.input, candidatesTokenCount: tokens.output, totalTokenCount: 70 };
  const content = { role: "model", parts: text === "" ? [] : [{ text }] };
  return {
    candidates: [{ content, index: 0, ...(isLast ? { finishReason: "STOP" } : {}) }],
    ...(isLast ? { usageMetadata: counts } : {}),
    modelVersion,
    responseId: "resp-1",
  };
}

const responses: Vendor = {
  connector: "openai.llm.v1",
  settings: { config: { responses: true } },
  lead: 3,
  marks: 0,
  isStream: wantsStream,
  isPrefilled: (request) => request.json().input.at?.(-1)?.role === "assistant",
  whole: (reply) => toResponse(reply, "completed"),
  events(reply) {
    const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
    const whole = toResponse(reply, "completed");
    const [item] = whole.output as [{ readonly content: readonly Json[] }];
    const [part] = item.content;
    const events: (Json & { readonly type: string })[] = [
      { type: "response.created", response: { ...toResponse(reply, "in_progress"), output: [], usage: null } },
      { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } },
      { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
      ...reply.words.map((delta) => ({ type: "response.output_text.delta", ...place, delta, logprobs: [] })),
      { type: "response.output_text.done", ...place, text: reply.words.join(""), logprobs: [] },
      { type: "response.content_part.done", ...place, part },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: whole },
    ];
    return events.map((event, sequence_number) => named({ ...event, sequence_number }));
  },
  error: openai.error,
};

function toResponse({ model, words }: Reply, status: string): Json {
  const text = { type: "output_text", text: words.join(""), annotations: [], logprobs: [] };
  return {
    ...{ id: "resp_1", object: "response", created_at: 1, model, status, error: null, incomplete_details: null },
    ...{ instructions: null, metadata: {}, parallel_tool_calls: true, temperature: 1, tool_choice: "auto" },
    ...{ tools: [], top_p: 1 },
    output: [{ id: "msg_1", type: "message", role: "assistant", status, content: [text] }],
    usage: {
      ...{ input_tokens: tokens.input, output_tokens: tokens.output, total_tokens: 70 },
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  };
}

/** The vendors. */
export const vendors: Readonly<Record<"openai" | "anthropic" | "gemini" | "responses", Vendor>> = {
  openai,
  anthropic,
  gemini,
  responses,
};
