/**
 * What the mock upstream answers with, byte for byte, made before it is asked for.
 * @module
 */
import { Buffer } from "node:buffer";

const created = 1_700_000_000;
const idLength = 12;

/** @param {number} took How long the request lay here, µs: the load takes it off what it measured. */
export const idOf = (took) => String(Math.max(0, Math.round(took))).padStart(idLength, "0");

/**
 * A whole answer of a size.
 *
 * @param {number} size Of its body, bytes.
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

/** The pieces of a stream; every event is an HTTP chunk of its own. */
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
 * A whole stream in one piece.
 *
 * @param {number} events Tokens in it.
 * @param {boolean} withUsage Whether usage comes before its end.
 */
export function wholeStream(events, withUsage) {
  const tokens = Array.from({ length: events }, () => stream.token);
  return Buffer.concat([stream.head, ...tokens, withUsage ? stream.tailWithUsage : stream.tail]);
}
