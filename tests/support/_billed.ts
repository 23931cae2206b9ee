/**
 * Providers whose responses state a usage, streaming or not as requested, in several dialects.
 * @module
 */
import { respondWithResponse } from "./_responses_behaviours.ts";
import { type Behaviour, formatHead, json, raw, type ResponseHeaders } from "./upstream.ts";

type Json = Readonly<Record<string, unknown>>;

/** What a response states. */
export interface Billed {
  /** The vendor's usage. */
  readonly usage: Json;
  /** Further members of the response, or of the last event of a stream. */
  readonly more?: Json;
  /** Items of the output, in the Responses API. */
  readonly items?: readonly object[];
  readonly headers?: ResponseHeaders;
}

/** The dialects that vendors respond in. */
export type BilledDialect = "chat" | "messages" | "responses" | "gemini";

/** A response that states its usage. */
export function billedResponse(dialect: BilledDialect, billed: Billed): Behaviour {
  const { usage, more = {}, items = [], headers = {} } = billed;
  if (dialect === "responses") return respondWithResponse({ text: "Hello", items, more: { usage, ...more } });
  const isStreamed = (request: { path: string; json(): Json }) =>
    request.path.includes(":stream") || request.json().stream === true;
  const [whole, events] = written[dialect](usage, more);
  return {
    play: (exchange) => (isStreamed(exchange.request) ? sse(events, headers) : json(whole, headers)).play(exchange),
  };
}

function sse(events: readonly Json[], headers: ResponseHeaders): Behaviour {
  const lines = events.map((event) => {
    const name = typeof event.type === "string" ? `event: ${event.type}\n` : "";
    return `${name}data: ${JSON.stringify(event)}\n\n`;
  });
  const isChat = events.at(-1)?.object === "chat.completion.chunk";
  const type = { "content-type": "text/event-stream" };
  return raw(`${formatHead(200, { ...headers, ...type })}${lines.join("")}${isChat ? "data: [DONE]\n\n" : ""}`);
}

type Write = (usage: Json, more: Json) => readonly [whole: Json, events: readonly Json[]];

const written: Readonly<Record<Exclude<BilledDialect, "responses">, Write>> = {
  chat(usage, more) {
    const head = { id: "c-1", created: 7, model: "m" };
    const chunk = (delta: Json, finish_reason: string | null = null) => ({
      ...{ ...head, object: "chat.completion.chunk" },
      choices: [{ index: 0, delta, finish_reason, logprobs: null }],
    });
    const message = { role: "assistant", content: "Hello", refusal: null };
    return [
      {
        ...{ ...head, object: "chat.completion" },
        choices: [{ index: 0, message, finish_reason: "stop", logprobs: null }],
        usage,
        ...more,
      },
      [
        chunk({ role: "assistant", content: "Hello" }),
        chunk({}, "stop"),
        { ...head, object: "chat.completion.chunk", choices: [], usage, ...more },
      ],
    ];
  },
  messages(usage, more) {
    const head = { id: "msg_1", type: "message", role: "assistant", model: "m" };
    const delta = { type: "text_delta", text: "Hello" };
    return [
      { ...head, content: [{ type: "text", text: "Hello" }], stop_reason: "end_turn", usage, ...more },
      [
        { type: "message_start", message: { ...head, content: [], usage: { ...usage, output_tokens: 1 } } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
        { type: "message_stop" },
      ],
    ];
  },
  gemini(usageMetadata, more) {
    const content = { role: "model", parts: [{ text: "Hello" }] };
    const last = { candidates: [{ index: 0, content, finishReason: "STOP", ...more }], usageMetadata };
    return [last, [{ candidates: [{ index: 0, content }] }, last]];
  },
};
