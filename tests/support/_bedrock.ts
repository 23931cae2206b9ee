/**
 * A scripted provider with Bedrock's Converse API, non-streaming responses or event streams.
 * @module
 */
import type { DialectFacts, Reply } from "./_dialects.ts";
import { event, exception } from "./event_frames.ts";
import { type Exchange, finish, formatHead, json } from "./upstream.ts";

/** Its dialect, for tests. */
export const bedrock: Pick<DialectFacts, "connector" | "model" | "eventsToContent" | "respond"> = {
  connector: "aws.bedrock.v1",
  model: "amazon.nova-lite-v1:0",
  eventsToContent: 2,
  respond: (reply = {}) => ({
    play: (exchange) =>
      exchange.request.path.endsWith("/converse-stream")
        ? playFrames(exchange, reply)
        : json(createConverse(reply)).play(exchange),
  }),
};

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const stopOf = ({ stop, calls }: Reply) => stop ?? (calls === undefined ? "end_turn" : "tool_use");

function createConverse(reply: Reply): unknown {
  const { pieces = [], calls = [] } = reply;
  const text = pieces.join("");
  const content = [
    ...(text === "" ? [] : [{ text }]),
    ...calls.map(({ id, name, input }) => ({ toolUse: { toolUseId: id, name, input } })),
  ];
  const output = { message: { role: "assistant", content } };
  return { output, stopReason: stopOf(reply), usage: reply.usage ?? usage, metrics: { latencyMs: 1 } };
}

async function playFrames(exchange: Exchange, reply: Reply): Promise<void> {
  const { gate, cut, failsAfter } = reply;
  const type = "application/vnd.amazon.eventstream";
  await exchange.write(formatHead(200, { "content-type": type, "transfer-encoding": "chunked" }));
  const frames = createFrames(reply);
  const sent = failsAfter === undefined
    ? frames
    : [...frames.slice(0, failsAfter), exception("serviceUnavailableException", "Busy")];
  for (const frame of sent.slice(0, cut?.after)) {
    await gate?.pass();
    await exchange.write(`${frame.length.toString(16)}\r\n`);
    await exchange.write(frame);
    await exchange.write("\r\n");
  }
  if (cut === undefined || cut.how === "end") await exchange.write("0\r\n\r\n");
  if (cut !== undefined) finish(exchange, cut.how);
}

function createFrames(reply: Reply): Uint8Array[] {
  const { pieces = [], calls = [] } = reply;
  const delta = (contentBlockIndex: number, delta: unknown) => event("contentBlockDelta", { contentBlockIndex, delta });
  const stop = (contentBlockIndex: number) => event("contentBlockStop", { contentBlockIndex });
  const first = pieces.length > 0 ? 1 : 0;
  return [
    event("messageStart", { role: "assistant" }),
    ...pieces.map((text) => delta(0, { text })),
    ...(first > 0 ? [stop(0)] : []),
    ...calls.flatMap(({ id, name, input }, index) => [
      event("contentBlockStart", { contentBlockIndex: first + index, start: { toolUse: { toolUseId: id, name } } }),
      delta(first + index, { toolUse: { input: JSON.stringify(input) } }),
      stop(first + index),
    ]),
    event("messageStop", { stopReason: stopOf(reply) }),
    event("metadata", { usage: reply.usage ?? usage, metrics: { latencyMs: 1 } }),
  ];
}
