/**
 * OpenAI's dialect for scripted providers: non-streaming and streaming responses, well-formed or broken.
 * @module
 */
import {
  type Behaviour,
  type Ending,
  errorBody,
  finish,
  formatHead,
  type Gate,
  json,
  type ResponseHeaders,
} from "./_behaviours.ts";
import type { Exchange, ReceivedRequest } from "./_raw_http.ts";

/** A tool call of a model. */
export interface ScriptedToolCall {
  /** Name of the function. */
  readonly name: string;
  /** Arguments, as JSON. */
  readonly arguments: string;
  /** Id; `call_1`, `call_2`, … by default. */
  readonly id?: string;
}

/** Token counts. */
export interface ScriptedUsage {
  /** Input tokens. */
  readonly prompt_tokens: number;
  /** Output tokens. */
  readonly completion_tokens: number;
  /** Their sum. */
  readonly total_tokens: number;
}

/** Content of a response, streaming or not. */
export interface ResponseOptions {
  /** Id; the same for all by default. */
  readonly id?: string;
  /** Text; `Hello world` by default. */
  readonly text?: string | null;
  /** Tool calls; the text is then empty by default. */
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** Reasoning, as `reasoning_content`. */
  readonly reasoning?: string;
  /** Finish reason; `stop` (or `tool_calls`) by default; null for none. */
  readonly finishReason?: string | null;
  /** Usage; 10 input and 5 output tokens by default; null for none. */
  readonly usage?: unknown;
  /** Model; that of the request by default. */
  readonly model?: string;
  /** Response headers. */
  readonly headers?: ResponseHeaders;
}

/**
 * Position in a stream: before its first event (`headers`), or after a number of text chunks; 0 is after the role only.
 */
export type StreamPosition = "headers" | number;

/** Options of a stream. */
export interface StreamOptions extends ResponseOptions {
  /** Text in chunks; in words by default. */
  readonly pieces?: readonly string[];
  /** Whether an event with the role comes first. @default {true} */
  readonly role?: boolean;
  /** Whether `[DONE]` is sent; `unfinished` omits the empty line after it. */
  readonly done?: boolean | "unfinished";
  /** Line ending. @default {"\n"} */
  readonly lineEnd?: "\n" | "\r\n" | "\r";
  /** Text written before every event, such as `: ping` or `event: ping\ndata: {}`. */
  readonly interlude?: string;
  /** Splits every event into parts of this many bytes, also within characters. */
  readonly split?: number;
  /** Gate that every event waits for. */
  readonly gate?: Gate;
  /** Where the stream breaks, and how: `end` (as if complete), `close`, `reset` or `hang`. */
  readonly cut?: { readonly after: StreamPosition; readonly how: Ending };
  /** Where an error event is sent, which ends the stream. */
  readonly error?: { readonly after: StreamPosition; readonly error?: Readonly<Record<string, unknown>> };
  /** Text written instead of an event, such as `data: {"broken`. */
  readonly garbage?: { readonly after: StreamPosition; readonly text: string };
  /** Content type. @default {"text/event-stream"} */
  readonly contentType?: string;
}

const created = 1_767_225_600;
const someUsage: ScriptedUsage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** Returns a chat completion. */
export function completion(options: ResponseOptions & { model: string }): Record<string, unknown> {
  const { id = "chatcmpl-scripted", toolCalls, reasoning, usage = someUsage, model } = options;
  return {
    id,
    object: "chat.completion",
    created,
    model,
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: chooseText(options),
        refusal: null,
        ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
        ...(toolCalls === undefined ? {} : { tool_calls: toolCalls.map(wireToolCall) }),
      },
      logprobs: null,
      finish_reason: toFinish(options),
    }],
    ...(usage === null ? {} : { usage }),
  };
}

/** Responds with a complete chat completion, even if a stream was requested. */
export function ok(options: ResponseOptions = {}): Behaviour {
  return {
    play: (exchange) =>
      json(completion({ model: readModel(exchange.request), ...options }), options.headers).play(exchange),
  };
}

/** Responds with an empty chat completion. */
export function respondEmpty(): Behaviour {
  return respond({ text: "" });
}

/** Responds with a chat completion, streaming or not as requested. */
export function respond(options: StreamOptions = {}): Behaviour {
  return {
    play: (exchange) =>
      (exchange.request.method === "POST" && exchange.request.json().stream === true ? stream(options) : ok(options))
        .play(exchange),
  };
}

/** Responds with a vector per input. */
export function embeddings(dimensions = 3): Behaviour {
  return {
    play(exchange) {
      const { input, model } = exchange.request.json();
      const inputs: unknown[] = Array.isArray(input) ? input : [input];
      const embedding = Array.from({ length: dimensions }, (_, index) => (index + 1) / 10);
      const data = inputs.map((_, index) => ({ object: "embedding", index, embedding }));
      const usage = { prompt_tokens: inputs.length, total_tokens: inputs.length };
      return json({ object: "list", data, model, usage }).play(exchange);
    },
  };
}

/** Responds with a streamed chat completion, even if none was requested. */
export function stream(options: StreamOptions = {}): Behaviour {
  return { play: (exchange) => playStream(exchange, options) };
}

async function playStream(exchange: Exchange, options: StreamOptions): Promise<void> {
  const { headers = {}, contentType = "text/event-stream", cut, gate } = options;
  const value = Array.isArray(headers) ? headers : Object.entries(headers);
  const own: [string, string][] = [["content-type", contentType], ["transfer-encoding", "chunked"]];
  await exchange.write(formatHead(200, [...own, ...value]));
  for (const text of streamTexts(exchange.request, options)) {
    await gate?.pass();
    for (const part of splitBytes(text, options.split)) await exchange.write(chunk(part));
  }
  const how = cut?.how ?? "end";
  if (how === "end") await exchange.write("0\r\n\r\n");
  finish(exchange, how);
}

/** Returns the events as written, up to where the stream breaks. */
function streamTexts(request: ReceivedRequest, options: StreamOptions): string[] {
  const { done = true, lineEnd = "\n", interlude, cut, error, garbage } = options;
  const { opening, pieces, closing } = streamEvents(request, options);
  const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
  let texts = [...opening, ...pieces, ...closing].map(data);
  const positionOf = (after: StreamPosition) => after === "headers" ? 0 : opening.length + after;
  if (done !== false) texts.push(done === "unfinished" ? "data: [DONE]\n" : "data: [DONE]\n\n");
  if (garbage !== undefined) texts[positionOf(garbage.after)] = `${garbage.text}\n\n`;
  if (error !== undefined) texts = [...texts.slice(0, positionOf(error.after)), data(errorBody(500, error.error))];
  if (cut !== undefined) texts = texts.slice(0, positionOf(cut.after));
  if (interlude !== undefined) texts = texts.map((text) => `${interlude}\n\n${text}`);
  return lineEnd === "\n" ? texts : texts.map((text) => text.replaceAll("\n", lineEnd));
}

function streamEvents(
  request: ReceivedRequest,
  options: StreamOptions,
): { opening: unknown[]; pieces: unknown[]; closing: unknown[] } {
  const { toolCalls = [], reasoning, role = true, usage } = options;
  const base = {
    id: options.id ?? "chatcmpl-scripted",
    object: "chat.completion.chunk",
    created,
    model: options.model ?? readModel(request),
  };
  const event = (delta: unknown, finish_reason: string | null = null) => ({
    ...base,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
  const texts = options.pieces ?? chooseText(options)?.match(/\s*\S+/g) ?? [];
  const reason = toFinish(options);
  const wantsUsage = request.json().stream_options?.include_usage === true;
  const counts = usage === undefined ? wantsUsage ? someUsage : null : usage;
  return {
    opening: role ? [event({ role: "assistant", content: "", refusal: null })] : [],
    pieces: [
      ...(reasoning === undefined ? [] : [event({ reasoning_content: reasoning })]),
      ...texts.map((content) => event({ content })),
      ...toolCalls.flatMap((call, index) => toolCallDeltas(call, index).map((delta) => event(delta))),
    ],
    closing: [
      ...(reason === null ? [] : [event({}, reason)]),
      ...(counts === null ? [] : [{ ...base, choices: [], usage: counts }]),
    ],
  };
}

function toolCallDeltas(call: ScriptedToolCall, index: number): unknown[] {
  const wire = wireToolCall(call, index);
  const half = Math.ceil(call.arguments.length / 2);
  const parts = [call.arguments.slice(0, half), call.arguments.slice(half)].filter((part) => part !== "");
  const deltas = parts.map((part) => ({ index, function: { arguments: part } }));
  return [{ ...wire, index, function: { name: call.name, arguments: "" } }, ...deltas]
    .map((delta) => ({ tool_calls: [delta] }));
}

function wireToolCall(call: ScriptedToolCall, index: number) {
  const { id = `call_${index + 1}`, name } = call;
  return { id, type: "function", function: { name, arguments: call.arguments } };
}

function chooseText({ text, toolCalls }: ResponseOptions): string | null {
  return text === undefined ? toolCalls === undefined ? "Hello world" : null : text;
}

function toFinish({ finishReason, toolCalls }: ResponseOptions): string | null {
  return finishReason === undefined ? toolCalls === undefined ? "stop" : "tool_calls" : finishReason;
}

function readModel(request: ReceivedRequest): string {
  return request.method === "POST" && request.headers["content-type"]?.includes("json")
    ? request.json().model ?? "unknown"
    : "unknown";
}

function splitBytes(text: string, size: number | undefined): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  if (size === undefined) return [bytes];
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, part) => bytes.subarray(part * size, (part + 1) * size));
}

/** Returns a chunk of a chunked body. */
function chunk(bytes: Uint8Array): Uint8Array {
  const head = new TextEncoder().encode(`${bytes.length.toString(16)}\r\n`);
  const all = new Uint8Array(head.length + bytes.length + 2);
  all.set(head);
  all.set(bytes, head.length);
  all.set([13, 10], head.length + bytes.length);
  return all;
}
