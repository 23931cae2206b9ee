/**
 * Responses of the mock upstream, serialized in advance.
 * @module
 */
import { Buffer } from "node:buffer";

const created = 1_700_000_000;
const idLength = 12;

/** @param {number} took Time that the request spent in the mock, µs; the load generator subtracts it. */
export const idOf = (took) => String(Math.max(0, Math.round(took))).padStart(idLength, "0");

/**
 * Returns a complete response.
 *
 * @param {number} size Size of its body, bytes.
 */
export function wholeAnswer(size) {
  const make = (text) =>
    JSON.stringify({
      id: `chatcmpl-${idOf(0)}`,
      object: "chat.completion",
      created,
      model: "mock-model",
      choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 },
    });
  const body = make("token ".repeat(size).slice(0, Math.max(1, size - make("").length)));
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  const bytes = Buffer.from(head + body);
  return { bytes, idAt: bytes.indexOf("chatcmpl-") + "chatcmpl-".length };
}

const part = (text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

function event(delta, { id = idOf(0), finish = null, usage } = {}) {
  const choices = usage === undefined ? [{ index: 0, delta, finish_reason: finish }] : [];
  const chunk = { id: `chatcmpl-${id}`, object: "chat.completion.chunk", created, model: "mock-model", choices, usage };
  return part(`data: ${JSON.stringify(chunk)}\n\n`);
}

const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
const finish = event({}, { finish: "stop" });
const done = part("data: [DONE]\n\n") + "0\r\n\r\n";

/** Parts of a stream. Every event is a separate HTTP chunk. */
export const stream = {
  head: Buffer.from(
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n" +
      event({ role: "assistant", content: "" }),
  ),
  token: Buffer.from(event({ content: "token " })),
  /** @param {number} took See {@linkcode idOf}. */
  first: (took) => event({ content: "token " }, { id: idOf(took) }),
  tail: Buffer.from(finish + done),
  tailWithUsage: Buffer.from(finish + event({}, { usage }) + done),
};

/**
 * Returns a complete stream in one buffer.
 *
 * @param {number} events Number of tokens.
 * @param {boolean} withUsage Whether an event with usage precedes `[DONE]`.
 */
export function wholeStream(events, withUsage) {
  const tokens = Array.from({ length: events }, () => stream.token);
  return Buffer.concat([stream.head, ...tokens, withUsage ? stream.tailWithUsage : stream.tail]);
}
