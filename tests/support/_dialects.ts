/**
 * Scripted providers of three dialects: the same reply in the format of OpenAI, Anthropic or Google, streaming or not.
 * @module
 */
import { type Behaviour, type Ending, type Exchange, finish, type Gate, respond } from "./upstream.ts";
import { formatHead, json, type ReceivedRequest, status } from "./upstream.ts";

/** The API of a provider. */
export type Dialect = "openai" | "anthropic" | "gemini";

/** All dialects. */
export const dialects: readonly Dialect[] = ["openai", "anthropic", "gemini"];

/** Any JSON object. */
export type Json = Record<string, unknown>;

/** A tool call in a reply. */
export interface ReplyCall {
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  /** Vendor-specific state that must be returned with the next request, such as a signature. */
  readonly state?: string;
}

/** The reply of a provider. */
export interface Reply {
  /** Id of the response; the same for all by default. */
  readonly id?: string;
  /** Text, in chunks as streamed. */
  readonly pieces?: readonly string[];
  readonly calls?: readonly ReplyCall[];
  readonly thoughts?: string;
  /** The vendor's finish reason. */
  readonly stop?: string;
  /** The vendor's token counts. */
  readonly usage?: Json;
  /** Gate that every event of a stream waits for. */
  readonly gate?: Gate;
  /** Number of events written before the stream breaks, and how. */
  readonly cut?: { readonly after: number; readonly how: Ending };
  /** Number of events after which the stream ends with an error event. */
  readonly failsAfter?: number;
}

/** A dialect, for tests. */
export interface DialectFacts {
  readonly connector: string;
  /** A model without special rules. */
  readonly model: string;
  /** Responds streaming or not, as requested. */
  respond(reply?: Reply): Behaviour;
  /** Number of events of a stream up to the first with content. */
  readonly eventsToContent: number;
  /** Returns the texts of all user messages in a request. */
  userTexts(request: ReceivedRequest): string[];
}

const hello = ["Hello", " wörld", ", how", " are you?"];

const openai: DialectFacts = {
  connector: "openai.compatible.v1",
  model: "small",
  eventsToContent: 2,
  respond: ({ id, pieces = hello, calls, thoughts, stop, usage, gate, cut, failsAfter } = {}) =>
    respond({
      ...(id === undefined ? {} : { id }),
      ...(calls === undefined || pieces !== hello && pieces.length > 0 ? { text: pieces.join(""), pieces } : {}),
      ...(calls === undefined
        ? {}
        : { toolCalls: calls.map(({ id, name, input }) => ({ id, name, arguments: JSON.stringify(input) })) }),
      ...(thoughts === undefined ? {} : { reasoning: thoughts }),
      ...(stop === undefined ? {} : { finishReason: stop }),
      ...(usage === undefined ? {} : { usage }),
      ...(gate === undefined ? {} : { gate }),
      ...(cut === undefined ? {} : { cut: { after: cut.after - 1, how: cut.how } }), // the role is an event
      ...(failsAfter === undefined ? {} : { error: { after: failsAfter - 1 } }),
    }),
  userTexts: (request) => request.json().messages.flatMap(userText),
};

const anthropic: DialectFacts = {
  connector: "anthropic.claude.v1",
  model: "claude-haiku-4-5",
  eventsToContent: 3,
  respond: (reply = {}) => ({
    play: (exchange) =>
      exchange.request.json().stream === true
        ? playEvents(exchange, messageEvents(reply), anthropicFault, reply)
        : json(toReplyMessage(reply)).play(exchange),
  }),
  userTexts: (request) => request.json().messages.flatMap(userText),
};

const gemini: DialectFacts = {
  connector: "google.gemini.v1",
  model: "gemini-2.5-flash",
  eventsToContent: 1,
  respond: (reply = {}) => ({
    play: (exchange) =>
      exchange.request.path.includes(":streamGenerateContent")
        ? playEvents(exchange, contentEvents(reply), geminiFault, reply)
        : json(toReplyContent(reply)).play(exchange),
  }),
  userTexts: (request) =>
    (request.json().contents as { role: string; parts: { text?: string }[] }[])
      .flatMap(({ role, parts }) => role === "user" ? parts.flatMap(({ text }) => text ?? []) : []),
};

/** The three dialects. */
export const speaking: Readonly<Record<Dialect, DialectFacts>> = { openai, anthropic, gemini };

/** An error response of Anthropic. */
export function anthropicError(
  code: number,
  type: string,
  message: string,
  headers: Record<string, string> = {},
): Behaviour {
  return status(code, { json: { type: "error", error: { type, message }, request_id: "req_1" }, headers });
}

/** An error response of Google. */
export function googleError(code: number, word: string, message: string, details: readonly Json[] = []): Behaviour {
  return status(code, { json: { error: { code, message, status: word, details } } });
}

function userText({ role, content }: { role: string; content: string | { text?: string }[] }): string[] {
  if (role !== "user") return [];
  return typeof content === "string" ? [content] : content.flatMap(({ text }) => text ?? []);
}

const anthropicFault = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Busy"}}\n\n';
const geminiFault = 'data: {"error":{"code":503,"message":"High demand","status":"UNAVAILABLE"}}\n\n';

async function playEvents(
  exchange: Exchange,
  events: readonly string[],
  fault: string,
  { gate, cut, failsAfter }: Reply,
): Promise<void> {
  await exchange.write(formatHead(200, { "content-type": "text/event-stream", "transfer-encoding": "chunked" }));
  const reported = failsAfter === undefined ? events : [...events.slice(0, failsAfter), fault];
  for (const event of reported.slice(0, cut?.after)) {
    await gate?.pass();
    const { length } = new TextEncoder().encode(event);
    await exchange.write(`${length.toString(16)}\r\n${event}\r\n`);
  }
  if (cut === undefined || cut.how === "end") await exchange.write("0\r\n\r\n");
  if (cut !== undefined) finish(exchange, cut.how);
}

function toReplyMessage(reply: Reply): Json {
  const { calls = [], thoughts } = reply;
  const text = toPieces(reply).join("");
  const state = calls[0]?.state;
  return {
    id: reply.id ?? "msg_scripted",
    type: "message",
    role: "assistant",
    model: "claude-haiku-4-5-20251001",
    content: [
      ...(state === undefined && thoughts === undefined ? [] : [thinking(thoughts ?? "", state)]),
      ...(text === "" ? [] : [{ type: "text", text }]),
      ...calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input })),
    ],
    stop_reason: toStop(reply),
    stop_sequence: null,
    usage: reply.usage ?? { input_tokens: 10, output_tokens: 5 },
  };
}

function thinking(thoughts: string, signature = ""): Json {
  return { type: "thinking", thinking: thoughts, signature };
}

function toStop({ stop, calls }: Reply): string {
  return stop ?? (calls === undefined ? "end_turn" : "tool_use");
}

function toPieces({ pieces, calls }: Reply): readonly string[] {
  return pieces ?? (calls === undefined ? hello : []);
}

function messageEvents(reply: Reply): string[] {
  const { content, ...message } = toReplyMessage(reply) as Json & { content: Json[] };
  const usage = message.usage as Json;
  const event = (type: string, rest: Json = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  const blocks = content.flatMap((block, index) => {
    const { opening, deltas } = blockEvents(block, reply);
    return [
      event("content_block_start", { index, content_block: opening }),
      ...deltas.map((delta) => event("content_block_delta", { index, delta })),
      event("content_block_stop", { index }),
    ];
  });
  return [
    event("message_start", { message: { ...message, content: [], stop_reason: null } }),
    ...blocks,
    event("message_delta", { delta: { stop_reason: message.stop_reason }, usage }),
    event("message_stop"),
  ];
}

function blockEvents(block: Json, reply: Reply): { opening: Json; deltas: Json[] } {
  if (block.type === "text") {
    const deltas = toPieces(reply).map((text) => ({ type: "text_delta", text }));
    return { opening: { type: "text", text: "" }, deltas };
  }
  if (block.type === "thinking") {
    const said = { type: "thinking_delta", thinking: block.thinking };
    return { opening: thinking(""), deltas: [said, { type: "signature_delta", signature: block.signature }] };
  }
  const input = JSON.stringify(block.input);
  const half = Math.ceil(input.length / 2);
  const deltas = [input.slice(0, half), input.slice(half)].map((partial_json) => ({
    type: "input_json_delta",
    partial_json,
  }));
  return { opening: { ...block, input: {} }, deltas };
}

function toReplyContent(reply: Reply, parts: readonly Json[] = toReplyParts(reply), isLast = true): Json {
  return {
    candidates: [{
      content: { parts, role: "model" },
      ...(isLast ? { finishReason: reply.stop ?? "STOP" } : {}),
      index: 0,
    }],
    ...(isLast
      ? { usageMetadata: reply.usage ?? { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 } }
      : {}),
    modelVersion: "gemini-2.5-flash",
    responseId: reply.id ?? "resp-scripted",
  };
}

function toReplyParts(reply: Reply): Json[] {
  const { calls = [], thoughts } = reply;
  return [
    ...(thoughts === undefined ? [] : [{ text: thoughts, thought: true }]),
    ...toPieces(reply).map((text) => ({ text })),
    ...calls.map(({ id, name, input, state }) => ({
      functionCall: { id, name, args: input },
      ...(state === undefined ? {} : { thoughtSignature: state }),
    })),
  ];
}

function contentEvents(reply: Reply): string[] {
  const events = [
    ...toReplyParts(reply).map((part) => toReplyContent(reply, [part], false)),
    toReplyContent(reply, []),
  ];
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
}
