/**
 * Provider connectors: requests to vendors, their responses and streams.
 * @module
 */
import { toCitedAnnotations } from "../../connectors/providers/_anthropic_citations.ts";
import { readAnthropicError, readSpendLimitReset } from "../../connectors/providers/_anthropic_fault.ts";
import { isThinkingMissing, toConversation } from "../../connectors/providers/_anthropic_messages.ts";
import { findDroppedParams, toMessagesRequest } from "../../connectors/providers/_anthropic_request.ts";
import { toChatCompletion as fromMessage } from "../../connectors/providers/_anthropic_response.ts";
import { MessageStream } from "../../connectors/providers/_anthropic_stream.ts";
import { toTooling } from "../../connectors/providers/_anthropic_tools.ts";
import { toUsage } from "../../connectors/providers/_anthropic_usage.ts";
import { findGeneration } from "../../connectors/providers/anthropic.ts";
import { readAzureError } from "../../connectors/providers/_azure_provider.ts";
import { fromConverseBlock, toConverseBlocks } from "../../connectors/providers/_bedrock_blocks.ts";
import { readBedrockError } from "../../connectors/providers/_bedrock_fault.ts";
import { toConverseRequest } from "../../connectors/providers/_bedrock_request.ts";
import { ConverseStream, fromConverse } from "../../connectors/providers/_bedrock_response.ts";
import { EventFrameParser } from "../../connectors/providers/_event_frames.ts";
import { readGeminiError, readGeminiHint, readGeminiWait } from "../../connectors/providers/_gemini_fault.ts";
import { toNativeText } from "../../connectors/providers/_gemini_native.ts";
import { toAnnotations as toGroundingAnnotations } from "../../connectors/providers/_gemini_output.ts";
import { toGenerateContent } from "../../connectors/providers/_gemini_request.ts";
import { fromGenerateContent as fromContent } from "../../connectors/providers/_gemini_response.ts";
import { GeminiStream } from "../../connectors/providers/_gemini_stream.ts";
import { readOpenAiError } from "../../connectors/providers/_openai_error.ts";
import { toResponsesRequest } from "../../connectors/providers/_responses_request.ts";
import type { JsonObject } from "../../src/contracts/openai.ts";
import { event } from "../support/event_frames.ts";
import { type GrowthCase, prepared, refusable, times } from "./_case.ts";
import { chatRequests } from "./_chat_shapes.ts";

const facts = { model: "m", id: "x", created: 0, signs: true };
const requestOf = (body: unknown, id: string) => ({ model: { id }, stream: false, body }) as never;

/** Translators of a chat request. */
const requestTranslators: Readonly<Record<string, (body: never) => unknown>> = {
  "connectors/providers/_anthropic_request.ts#toMessagesRequest": (body) =>
    findDroppedParams(body, toMessagesRequest(requestOf(body, "claude-sonnet-5"))),
  "connectors/providers/_bedrock_request.ts#toConverseRequest": (body) =>
    toConverseRequest(requestOf(body, "anthropic.claude-sonnet-5")),
  "connectors/providers/_gemini_request.ts#toGenerateContent": (body) => toGenerateContent("gemini-3-pro", body),
  "connectors/providers/_responses_request.ts#toResponsesRequest": (body) =>
    toResponsesRequest(requestOf(body, "m") as never, "v"),
  "connectors/providers/_anthropic_messages.ts#toConversation": (body) => {
    const { messages } = body as { messages: never };
    const { turns } = toConversation(messages);
    toTooling(body, findGeneration("claude-sonnet-5"), turns);
    return [
      isThinkingMissing(messages),
      turns.map(({ content }) => toConverseBlocks(content, { thoughts: true, caches: true })),
    ];
  },
};

const claudeStart = { type: "message_start", message: { id: "x", model: "m", usage: { input_tokens: 1 } } };
const claudeDelta = (index: number, delta: JsonObject) => ({ type: "content_block_delta", index, delta });
const claudeBlock = (index: number, content_block: JsonObject) => ({
  type: "content_block_start",
  index,
  content_block,
});

/** Streams of Claude, by what there is much of. */
const claudeStreams: Readonly<Record<string, (size: number) => JsonObject[]>> = {
  "text": (size) => times(size, () => claudeDelta(0, { type: "text_delta", text: "a" })),
  "a thought": (size) => [
    claudeBlock(0, { type: "thinking", thinking: "" }),
    ...times(size, () => claudeDelta(0, { type: "thinking_delta", thinking: "a" })),
    { type: "content_block_stop", index: 0 },
  ],
  "citations": (size) => [
    claudeBlock(0, { type: "text", text: "" }),
    ...times(size, () => claudeDelta(0, { type: "citations_delta", citation: { url: "u" } })),
    { type: "content_block_stop", index: 0 },
  ],
  "blocks": (size) =>
    times(
      size,
      (
        index,
      ) => [
        claudeBlock(index, { type: "tool_use", id: `c${index}`, name: "f" }),
        claudeDelta(index, { type: "input_json_delta", partial_json: "{}" }),
      ],
    ).flat(),
  "counts": (size) => times(size, (at) => ({ type: "message_delta", usage: { [`c${at}`]: at } })),
};

/** Streams of Gemini, by what there is much of. */
const geminiStreams: Readonly<Record<string, (size: number) => JsonObject[]>> = {
  "text": (size) => times(size, () => ({ candidates: [{ content: { parts: [{ text: "a" }] } }] })),
  "calls": (size) => times(size, () => ({ candidates: [{ content: { parts: [{ functionCall: { name: "f" } }] } }] })),
  "candidates": (size) => times(size, (index) => ({ candidates: [{ index, content: { parts: [{ text: "a" }] } }] })),
  "sources": (size) => [
    ...times(
      size,
      (at) => ({ candidates: [{ groundingMetadata: { groundingChunks: [{ web: { uri: `u${at}` } }] } }] }),
    ),
    { candidates: [{ finishReason: "STOP", groundingMetadata: { groundingSupports: times(size, () => ({})) } }] },
  ],
  "images": (size) =>
    times(
      size,
      () => ({ candidates: [{ content: { parts: [{ inlineData: { mimeType: "image/png", data: "A" } }] } }] }),
    ),
  "counts": (size) => times(size, (at) => ({ candidates: [], usageMetadata: { [`c${at}`]: at } })),
};

const texts = [" ", "model ", "exceeds ", "token count ", "\n", "(", "a"];
const errorReaders: Readonly<Record<string, (body: unknown) => unknown>> = {
  "connectors/providers/_anthropic_fault.ts#readAnthropicError": (body) => readAnthropicError(body, 400),
  "connectors/providers/_anthropic_fault.ts#readSpendLimitReset": (body) => readSpendLimitReset(body, 0),
  "connectors/providers/_azure_provider.ts#readAzureError": (body) => readAzureError(body, 400),
  "connectors/providers/_bedrock_fault.ts#readBedrockError": (body) =>
    readBedrockError(`${(body as { message: string }).message}#ValidationException:`, body, 400),
  "connectors/providers/_gemini_fault.ts#readGeminiError": (body) => readGeminiError(body, 400),
  "connectors/providers/_gemini_fault.ts#readGeminiHint": (body) => readGeminiHint(body, 0),
  "connectors/providers/_gemini_fault.ts#readGeminiWait": (body) => readGeminiWait(body, 0),
  "connectors/providers/_openai_error.ts#readOpenAiError": (body) => readOpenAiError(body, 400),
};

/** What a translation performs for each message, part and tool. */
const within: Readonly<Record<string, readonly string[]>> = {
  "connectors/providers/_anthropic_messages.ts#toConversation": [
    "connectors/providers/_anthropic_thoughts.ts#readThoughts",
  ],
  "connectors/providers/_gemini_request.ts#toGenerateContent": [
    "connectors/providers/_gemini_messages.ts#toGeminiContents",
    "connectors/providers/_gemini_parts.ts#toGeminiParts",
    "connectors/providers/_gemini_request.ts#toGeminiTools",
  ],
};

/** Rows of provider connectors for chat. */
export const providerCases: readonly GrowthCase[] = [
  ...Object.entries(requestTranslators).flatMap(([name, translate]) =>
    Object.entries(chatRequests).map(([what, input]) =>
      prepared({
        covers: [name, ...within[name] ?? []],
        what,
        size: 1_500,
        input,
        work: (body) => refusable(() => translate(body as never)),
      })
    )
  ),
  prepared({
    covers: [
      "connectors/providers/_anthropic_response.ts#toChatCompletion",
      "connectors/providers/_anthropic_usage.ts#toUsage",
      "connectors/providers/_bedrock_response.ts#fromConverse",
      "connectors/providers/_bedrock_blocks.ts#fromConverseBlock",
      "connectors/providers/_bedrock_blocks.ts#toConverseBlocks",
      "connectors/providers/_anthropic_tools.ts#toTooling",
    ],
    what: "blocks",
    size: 2_000,
    input: (size) => size,
    work: (size) => [
      fromMessage({
        content: times(
          size,
          (at) => ({ type: at % 2 === 0 ? "thinking" : "tool_use", name: "n", thinking: "t", signature: "s" }),
        ),
        usage: {},
      }, facts),
      fromConverse({ output: { message: { content: times(size, () => ({ text: "a" })) } } }, facts),
      fromConverseBlock({ text: "a".repeat(size) }, true),
      toUsage(Object.fromEntries(times(size, (at) => [`c${at}`, at]))),
    ],
  }),
  prepared({
    covers: ["connectors/providers/_responses_request.ts#toResponsesRequest"],
    what: "forged positions in a long text",
    size: 1_500,
    input: (size) => {
      const items = times(size, () => ({ type: "message", start: 0, end: size }));
      const call = {
        id: "c",
        type: "function",
        function: { name: "f", arguments: "{}" },
        extra_content: { v: { items } },
      };
      return { messages: [{ role: "assistant", content: "a".repeat(size), tool_calls: [call] }] };
    },
    work: (body) => JSON.stringify(toResponsesRequest(requestOf(body, "m") as never, "v")).length,
  }),
  prepared({
    covers: ["connectors/providers/_gemini_response.ts#fromGenerateContent"],
    what: "parts and candidates",
    size: 2_000,
    input: (size) => ({
      candidates: [
        { content: { parts: times(size, (at) => at % 2 === 0 ? { text: "a" } : { functionCall: { name: "f" } }) } },
        ...times(size, () => ({ content: { parts: [{ text: "a" }] } })),
      ],
    }),
    work: (answer) => fromContent(answer, facts),
  }),
  prepared({
    covers: ["connectors/providers/_gemini_output.ts#toAnnotations"],
    what: "segments, and references to a source with a long URL",
    size: 5_000,
    input: (size) => ({
      groundingMetadata: {
        groundingChunks: [{ web: { uri: "a".repeat(size), title: "t" } }],
        groundingSupports: [
          { groundingChunkIndices: times(size, () => 0) },
          ...times(size, (at) => ({ segment: { startIndex: 0, endIndex: at }, groundingChunkIndices: [0] })),
        ],
      },
    }),
    work: (candidate) => JSON.stringify(toGroundingAnnotations(candidate, "ä".repeat(5_000))).length,
  }),
  prepared({
    covers: ["connectors/providers/_anthropic_citations.ts#toCitedAnnotations"],
    what: "citations",
    size: 5_000,
    input: (size) => times(size, (at) => ({ type: "char_location", document_title: `t${at}` })),
    work: (citations) => toCitedAnnotations(citations, { start: 0, end: 1 }),
  }),
  ...Object.entries(claudeStreams).map(([what, input]) =>
    prepared({
      covers: ["connectors/providers/_anthropic_stream.ts#MessageStream"],
      what,
      size: 2_000,
      input,
      work(events) {
        const stream = new MessageStream(facts);
        return [claudeStart, ...events, { type: "message_stop" }].map((one) => stream.take(one).length);
      },
    })
  ),
  prepared({
    covers: ["connectors/providers/_bedrock_response.ts#ConverseStream"],
    what: "events",
    size: 1_000,
    input: (size) => {
      const parser = new EventFrameParser();
      return times(
        size,
        (at) =>
          parser.push(
            event("contentBlockDelta", { contentBlockIndex: at, delta: { reasoningContent: { text: "a" } } }),
          ),
      ).flat();
    },
    work(frames) {
      const stream = new ConverseStream(facts);
      return frames.map((frame) => stream.push(frame).length);
    },
  }),
  ...Object.entries(geminiStreams).map(([what, input]) =>
    prepared({
      covers: ["connectors/providers/_gemini_stream.ts#GeminiStream"],
      what,
      size: 2_000,
      input,
      work(events) {
        const stream = new GeminiStream(facts);
        return [...events.map((one) => stream.push(one).length), refusable(() => stream.finish())];
      },
    })
  ),
  prepared({
    covers: ["connectors/providers/_gemini_native.ts#toNativeText"],
    what: "turns",
    size: 1_000,
    input: (size) => JSON.stringify({ contents: times(size, () => ({ parts: [{ functionCall: { name: "f" } }] })) }),
    work: (text) => toNativeText("gemini-3-pro", text),
  }),
  ...Object.entries(errorReaders).flatMap(([name, read]) =>
    texts.map((text) =>
      prepared({
        covers: [name],
        what: `an error of many ${JSON.stringify(text)}`,
        size: 2_000,
        input: (size) => {
          const message = text.repeat(size);
          const details = times(
            size,
            () => ({ retryDelay: "1s", violations: [{ quotaId: "PerDay" }], fieldViolations: [{ field: "f" }] }),
          );
          return {
            type: "error",
            message,
            error: { message, type: message, code: message, status: "INVALID_ARGUMENT", details },
          };
        },
        work: (body) => [read(body), read([body]), read(body.message === undefined ? body : { message: body.message })],
      })
    )
  ),
];
