/**
 * A provider with the Responses API, streaming or not as requested.
 * @module
 */
import { type Behaviour, formatHead, json, raw } from "./upstream.ts";

/** Content of a response. */
export interface ResponseReply {
  readonly text?: string;
  readonly thoughts?: string;
  /** Names of called functions. */
  readonly calls?: readonly string[];
  /** Additional output items. */
  readonly items?: readonly object[];
  /** Additional members of the response. */
  readonly more?: object;
  /** Number of events after which the stream breaks. */
  readonly breaksAfter?: number;
  /** Last event of the stream, instead of the regular one. */
  readonly last?: { readonly type: string; readonly [member: string]: unknown };
}

/** Responds, streaming or not as requested. */
export function respondWithResponse(reply: ResponseReply = {}): Behaviour {
  return {
    play: (exchange) =>
      (exchange.request.json().stream === true ? streamed(reply) : json(createResponse(reply))).play(exchange),
  };
}

/** Returns the response. */
export function createResponse(
  { text, thoughts, calls = [], items = [], more }: ResponseReply,
): Record<string, unknown> {
  return {
    ...{ id: "resp_1", object: "response", created_at: 7, model: "vendor-x", status: "completed", odd: 12 },
    output: [
      ...(thoughts === undefined ? [] : [createThoughtsItem(thoughts)]),
      ...items,
      ...(text === undefined ? [] : [createMessageItem(text)]),
      ...calls.map(createCallItem),
    ],
    usage: {
      ...{ input_tokens: 7, output_tokens: 3, total_tokens: 10 },
      ...{ input_tokens_details: { cached_tokens: 2 }, output_tokens_details: { reasoning_tokens: 1 } },
    },
    ...more,
  };
}

/** Returns the events of a stream as text. */
export function eventsText(reply: ResponseReply): string {
  const { text, thoughts, calls = [], items = [], last } = reply;
  const whole = createResponse(reply);
  const early = { ...whole, status: "in_progress", output: [], usage: null };
  const texts = (item: object, index: number, type: string, all: string) => [
    { type: "response.output_item.added", output_index: index, item },
    ...[...all].map((delta) => ({ type, output_index: index, delta })),
    { type: "response.output_item.done", output_index: index, item },
  ];
  let index = 0;
  const events: { readonly type: string }[] = [
    { type: "response.created", response: early } as never,
    ...(thoughts === undefined
      ? []
      : texts(createThoughtsItem(thoughts), index++, "response.reasoning_summary_text.delta", thoughts)),
    ...items.flatMap((item) => texts(item, index++, "", "")),
    ...(text === undefined ? [] : texts(createMessageItem(text), index++, "response.output_text.delta", text)),
    ...calls.flatMap((name, at) =>
      texts(createCallItem(name, at), index++, "response.function_call_arguments.delta", `{"of":"${name}"}`)
    ),
    last ?? { type: `response.${whole.status}`, response: whole } as never,
  ];
  return events.map((event, sequence_number) =>
    `event: ${event.type}\ndata: ${JSON.stringify({ sequence_number, ...event })}\n\n`
  ).join("");
}

function streamed(reply: ResponseReply): Behaviour {
  const head = formatHead(200, { "content-type": "text/event-stream" });
  const text = eventsText(reply);
  if (reply.breaksAfter === undefined) return raw(head + text);
  const events = text.split("\n\n").slice(0, reply.breaksAfter).map((event) => `${event}\n\n`).join("");
  return raw(head + events, "close");
}

function createMessageItem(text: string) {
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return { id: "msg_1", type: "message", role: "assistant", status: "completed", content };
}

function createThoughtsItem(text: string) {
  return { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text }], encrypted_content: "sealed" };
}

function createCallItem(name: string, index: number) {
  const value = `{"of":"${name}"}`;
  return { id: `fc_${index}`, type: "function_call", call_id: `call_${index}`, name, arguments: value };
}
