/**
 * Chat requests, completions and chunks of any size.
 * @module
 */
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionRequest,
  JsonObject,
} from "../../src/contracts/openai.ts";
import { times } from "./_case.ts";

const user = { role: "user", content: "Hi" };
const call = (index: number, more: JsonObject = {}) => ({
  id: `call_${index}`,
  type: "function",
  function: { name: `f${index}`, arguments: '{"a":1}' },
  ...more,
});
const result = (index: number) => ({ role: "tool", tool_call_id: `call_${index}`, content: "{}" });
const thought = { anthropic: { thinking_blocks: [{ type: "thinking", thinking: "t", signature: "s" }] } };
const tool = (index: number) => ({ type: "function", function: { name: `f${index}`, parameters: { type: "object" } } });

/** Requests by what there is much of. */
export const chatRequests: Readonly<Record<string, (size: number) => ChatCompletionRequest>> = Object.fromEntries(
  Object.entries<(size: number) => JsonObject>({
    "messages of one role": (size) => ({ messages: times(5 * size, () => user) }),
    "messages of changing roles": (size) => ({
      messages: times(size, (at) => at % 2 === 0 ? user : { role: "assistant", content: "Hi" }),
    }),
    "system messages": (size) => ({ messages: [...times(size, () => ({ role: "system", content: "Hi" })), user] }),
    "parts": (size) => ({
      messages: [{ role: "user", content: times(size, () => ({ type: "text", text: "Hi" })) }],
    }),
    "calls and results": (size) => ({
      messages: [
        user,
        { role: "assistant", content: "Hi", tool_calls: times(size, (at) => call(at)) },
        ...times(size, result),
      ],
    }),
    "calls with thoughts": (size) => ({
      messages: [
        user,
        {
          role: "assistant",
          content: "x".repeat(size),
          tool_calls: times(size, (at) => call(at, { extra_content: thought })),
        },
        ...times(size, result),
      ],
    }),
    "rounds of calls": (size) => ({
      messages: [
        user,
        ...times(size, (at) => [{ role: "assistant", content: null, tool_calls: [call(at)] }, result(at)]).flat(),
      ],
    }),
    "tools, all of them allowed": (size) => ({
      messages: [user],
      tools: times(size, tool),
      tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: times(size, tool) } },
    }),
    "properties of a schema": (size) => ({
      messages: [user],
      tools: [{
        type: "function",
        function: {
          name: "f",
          parameters: {
            type: "object",
            properties: Object.fromEntries(times(size, (at) => [`p${at}`, { $ref: "#/$defs/d" }])),
            $defs: { d: { type: "object", properties: Object.fromEntries(times(size, (at) => [`q${at}`, {}])) } },
          },
        },
      }],
    }),
    "a data: URL of slashes": (size) => ({
      messages: [{
        role: "user",
        content: [{ type: "image_url", image_url: { url: `data:${"/".repeat(50 * size)}` } }],
      }],
    }),
    "a long id": (size) => ({
      messages: [user, { role: "assistant", tool_calls: [call(0, { id: "/".repeat(2 * size) })] }],
    }),
  }).map(([what, body]) => [what, (size) => ({ model: "m", ...body(size) }) as unknown as ChatCompletionRequest]),
);

const annotation = (end_index: number) => ({
  type: "url_citation",
  url_citation: { start_index: 0, end_index, url: `https://${end_index}.example`, title: "t" },
});
const image = (index: number) => ({ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" }, index });
const detail = (index: number) => ({ type: "reasoning.text", text: "Hm", index });

/** A chat completion with much of everything. */
export function completion(size: number): ChatCompletion {
  return {
    id: "x",
    object: "chat.completion",
    created: 0,
    model: "m",
    choices: [{
      index: 0,
      message: {
        ...{ role: "assistant", content: "Hi", refusal: null, tool_calls: times(size, (at) => call(at)) },
        reasoning_details: times(size, detail),
        images: times(size, image),
        annotations: times(size, annotation),
      },
      finish_reason: "tool_calls",
      logprobs: { content: times(size, () => ({ token: "a", logprob: 0, bytes: [], top_logprobs: [] })) },
    }],
  } as unknown as ChatCompletion;
}

const chunk = (delta: JsonObject, finish_reason: string | null = null): ChatCompletionChunk =>
  ({
    id: "x",
    object: "chat.completion.chunk",
    created: 0,
    model: "m",
    choices: [{ index: 0, delta, finish_reason, logprobs: null }],
  }) as unknown as ChatCompletionChunk;
const callChunk = (index: number, fn: JsonObject, more: JsonObject = {}) =>
  chunk({ tool_calls: [{ index, ...more, function: fn }] });
const fragment = (index: number, text: string) => callChunk(index, { arguments: text });
const begin = (index: number) =>
  callChunk(index, { name: `f${index}`, arguments: "" }, { id: `call_${index}`, type: "function" });

/** Streams by what there is much of. They are made anew, since chunks may be modified. */
export const chatStreams: Readonly<Record<string, (size: number) => ChatCompletionChunk[]>> = {
  "text": (size) => [...times(size, () => chunk({ content: "Hi" })), chunk({}, "stop")],
  "text and thoughts in turn": (size) =>
    times(size, (at) => chunk(at % 2 === 0 ? { content: "Hi" } : { reasoning_content: "Hm" })),
  "text and refusals in turn": (size) =>
    times(size, (at) => chunk(at % 2 === 0 ? { content: "Hi" } : { refusal: "No" })),
  "reasoning details, and fragments of one": (size) => [
    ...times(size, (at) => chunk({ reasoning_details: [detail(at)] })),
    ...times(size, () => chunk({ reasoning_details: [detail(size - 1)] })),
    chunk({}, "stop"),
  ],
  "text and citations of all of it in turn": (size) =>
    times(size, (at) => chunk(at % 2 === 0 ? { content: "Hi" } : { annotations: [annotation(at)] })),
  "images": (size) => [...times(size, (at) => chunk({ images: [image(at)] })), chunk({}, "stop")],
  "fragments of a call": (size) => [begin(0), ...times(size, () => fragment(0, '{"a":'))],
  "fragments of a call while another one waits": (
    size,
  ) => [begin(0), begin(1), ...times(size, () => fragment(0, "}{"))],
  "fragments of a call that waits": (size) => [begin(0), begin(1), ...times(size, () => fragment(1, "x"))],
  "calls that wait": (size) => [...times(size, begin), ...times(size, (at) => fragment(at, "{}"))],
  "calls in one event": (size) => [
    chunk({
      tool_calls: times(size, (index) => ({ index, id: `c${index}`, function: { name: "f", arguments: "{}" } })),
    }),
  ],
  "calls without an index": (size) =>
    times(size, (at) => chunk({ tool_calls: [{ id: `c${at}`, function: { name: "f", arguments: "{}" } }] })),
  "ends": (size) =>
    times(size, (at) => chunk({ tool_calls: [{ index: at, id: `c${at}`, function: { name: "f" } }] }, "stop")),
  "choices": (size) =>
    times(
      size,
      (index) => ({ ...chunk({}), choices: [{ index, delta: { content: "a" }, finish_reason: null }] }) as never,
    ),
  "counts of usage": (size) => times(size, (at) => ({ ...chunk({ content: "a" }), usage: { [`c${at}`]: 1 } }) as never),
};
