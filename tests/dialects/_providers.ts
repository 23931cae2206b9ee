/**
 * Providers of three dialects, for tests that go from a client to a provider and back: what they send for a response, whole
 * and in events, how their connectors read it, and what they are sent for a conversation.
 * @module
 */
import { toMessagesRequest } from "../../connectors/providers/_anthropic_request.ts";
import { toChatCompletion as fromMessage } from "../../connectors/providers/_anthropic_response.ts";
import { MessageStream } from "../../connectors/providers/_anthropic_stream.ts";
import { toGenerateContent } from "../../connectors/providers/_gemini_request.ts";
import { fromGenerateContent as fromContent } from "../../connectors/providers/_gemini_response.ts";
import { GeminiStream } from "../../connectors/providers/_gemini_stream.ts";
import { OutputEvents } from "../../connectors/providers/_responses_events.ts";
import { toCompletion as fromResponse } from "../../connectors/providers/_responses_output.ts";
import { toResponsesRequest } from "../../connectors/providers/_responses_request.ts";
import type { ChatCompletion, ChatCompletionChunk, ChatCompletionRequest } from "../../src/contracts/openai.ts";
import { ChunkNormalizer } from "../../src/util/normalize_chunk.ts";
import { normalizeCompletion } from "../../src/util/normalize_completion.ts";
import type { Json } from "../support/_dialects.ts";
import { type Any, type Said, splitDataUrl } from "../support/_said.ts";
import type { Dice } from "./_chance.ts";

/** A response whose text consists of parts, some of which have sources. */
export interface CitedResponse extends Said {
  readonly parts: readonly { readonly text: string; readonly sources: readonly { url: string; title: string }[] }[];
}

/** What a request has, in order: who says what. */
export type Item = readonly [kind: string, ...values: unknown[]];

/** A provider. */
export interface ProviderDialect {
  readonly whole: (answer: CitedResponse) => ChatCompletion;
  readonly streamed: (answer: CitedResponse, dice: Dice) => ChatCompletionChunk[];
  /** What it is sent for a chat request. */
  readonly sent: (chat: ChatCompletionRequest) => Item[];
  /** What it cannot express in a response. */
  readonly lacks: readonly (keyof Said)[];
  /** What it cannot be sent. */
  readonly refuses: readonly string[];
}

const facts = { id: "c1", created: 1, model: "m", signs: true };
const defaults = { model: "m", keepsFunctionCall: false, random: () => 0.5, now: () => 1_000 };
const flat = (lists: Any[][]) => lists.flat();

/** Cuts a text in two, anywhere. */
function cut(text: string, dice: Dice): string[] {
  const at = dice.roll(text.length + 1);
  return [text.slice(0, at), text.slice(at)].filter((piece) => piece !== "");
}

function toAnnotations({ parts }: CitedResponse): Json[] {
  let end = 0;
  return parts.flatMap(({ text, sources }) => {
    const start_index = end;
    end += text.length;
    return sources.map((source) => ({
      type: "url_citation",
      url_citation: { start_index, end_index: end, ...source },
    }));
  });
}

const imagesOf = ({ images }: Said) => images.map((url, index) => ({ type: "image_url", image_url: { url }, index }));
const callOf = ({ id, name, input }: Said["calls"][number]) => ({
  ...{ id, type: "function", function: { name, arguments: JSON.stringify(input) } },
});
const usageOf = ({ tokens: [prompt_tokens, cached_tokens, completion_tokens] }: Said) => ({
  ...{ prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  prompt_tokens_details: { cached_tokens },
});

const openai: ProviderDialect = {
  lacks: [],
  refuses: [],
  whole(answer) {
    const { text, thoughts, calls, images, citations, finish } = answer;
    const message = {
      ...{ role: "assistant", content: text === "" ? null : text, refusal: null },
      ...(thoughts === "" ? {} : { reasoning: thoughts }),
      ...(images.length === 0 ? {} : { images: imagesOf(answer) }),
      ...(citations.length === 0 ? {} : { annotations: toAnnotations(answer) }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(callOf) }),
    };
    const body: Any = { ...facts, object: "chat.completion", choices: [{ index: 0, message, finish_reason: finish }] };
    body.usage = usageOf(answer);
    normalizeCompletion(body, defaults);
    return body;
  },
  streamed(answer, dice) {
    const { text, thoughts, calls, finish } = answer;
    const annotated = toAnnotations(answer).map((annotation) => ({ annotations: [annotation] }));
    const isLate = dice.roll(2) === 0;
    const deltas: Json[] = [
      { role: "assistant", content: "" },
      ...cut(thoughts, dice).map((reasoning) => ({ reasoning })),
      ...cut(text, dice).map((content) => ({ content })),
      ...imagesOf(answer).map((image) => ({ images: [image] })),
      ...(isLate ? [] : annotated),
      ...calls.map((call, index) => ({ tool_calls: [{ index, ...callOf(call) }] })),
      ...(isLate ? annotated : []),
    ];
    const head = { ...facts, object: "chat.completion.chunk" };
    const chunks: Any[] = [
      ...deltas.map((delta) => ({ ...head, choices: [{ index: 0, delta, finish_reason: null }] })),
      { ...head, choices: [{ index: 0, delta: {}, finish_reason: finish }] },
      { ...head, choices: [], usage: usageOf(answer) },
    ];
    const normalizer = new ChunkNormalizer(defaults);
    for (const chunk of chunks) normalizer.normalize(chunk);
    return chunks;
  },
  sent: ({ messages }) =>
    flat(
      messages.map((
        { role, content, tool_calls = [], tool_call_id, images = [], reasoning_content: thoughts }: Any,
      ) => [
        ...(thoughts === undefined ? [] : [["thoughts", thoughts]]),
        ...(role === "tool"
          ? [["result", tool_call_id, content]]
          : toGeminiParts(content).map((part) =>
            part.text === undefined ? [`${role} image`, part.image_url.url] : [role, part.text]
          )),
        ...images.map(({ image_url }: Any) => ["assistant image", image_url.url]),
        ...tool_calls.map(({ id, function: fn }: Any) => ["call", id, fn.name, JSON.parse(fn.arguments)]),
      ]),
    ),
};

function toGeminiParts(content: unknown): Any[] {
  return typeof content === "string" ? content === "" ? [] : [{ text: content }] : content as Any[] ?? [];
}

const claude: ProviderDialect = {
  lacks: ["images"],
  refuses: ["assistant image", "thoughts"],
  whole: (answer) => fromMessage(toAnthropicMessage(answer), facts),
  streamed(answer, dice) {
    const { content, stop_reason, usage, ...message } = toAnthropicMessage(answer) as Any;
    const blocks = content.flatMap((block: Any, index: number) => {
      const { text, thinking, signature, input, citations = [], ...opening } = block;
      const deltas = [
        ...cut(thinking ?? "", dice).map((piece) => ({ type: "thinking_delta", thinking: piece })),
        ...(signature === undefined ? [] : [{ type: "signature_delta", signature }]),
        ...cut(text ?? "", dice).map((piece) => ({ type: "text_delta", text: piece })),
        ...citations.map((citation: Json) => ({ type: "citations_delta", citation })),
        ...(input === undefined
          ? []
          : cut(JSON.stringify(input), dice).map((piece) => ({ type: "input_json_delta", partial_json: piece }))),
      ];
      const empty = opening.type === "text"
        ? { text: "" }
        : opening.type === "tool_use"
        ? { input: {} }
        : { thinking: "" };
      return [
        { type: "content_block_start", index, content_block: { ...opening, ...empty } },
        ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
        { type: "content_block_stop", index },
      ];
    });
    const stream = new MessageStream(facts);
    return [
      { type: "message_start", message: { ...message, content: [], usage: { ...usage, output_tokens: 1 } } },
      ...blocks,
      { type: "message_delta", delta: { stop_reason }, usage },
      { type: "message_stop" },
    ].flatMap((event) => stream.take(event));
  },
  sent(chat) {
    const request: Any = toMessagesRequest({ model: { id: "claude-haiku-4-5" }, stream: false, body: chat });
    return flat([
      (request.system ?? []).map(({ text }: Any) => ["system", text]),
      ...request.messages.map(({ role, content }: Any) =>
        content.map((block: Any) => {
          if (block.type === "tool_use") return ["call", block.id, block.name, block.input];
          if (block.type === "tool_result") return ["result", block.tool_use_id, block.content?.[0].text ?? ""];
          if (block.type !== "image") return [role, block.text];
          return [`${role} image`, `data:${block.source.media_type};base64,${block.source.data}`];
        })
      ),
    ]);
  },
};

function toAnthropicMessage({ parts, thoughts, calls, finish, tokens: [input, cached, output] }: CitedResponse): Json {
  const words: Json = { stop: "end_turn", length: "max_tokens", tool_calls: "tool_use", content_filter: "refusal" };
  return {
    ...{ id: "c1", type: "message", role: "assistant", model: "m", stop_reason: words[finish], stop_sequence: null },
    content: [
      ...(thoughts === "" ? [] : [{ type: "thinking", thinking: thoughts, signature: "c2VhbA==" }]),
      ...parts.map(({ text, sources }) => {
        const citations = sources.map((source) => ({
          ...{ type: "web_search_result_location", cited_text: text, encrypted_index: "RQ==", ...source },
        }));
        return { type: "text", text, ...(citations.length === 0 ? {} : { citations }) };
      }),
      ...calls.map((call) => ({ type: "tool_use", ...call })),
    ],
    usage: { input_tokens: input - cached, cache_read_input_tokens: cached, output_tokens: output },
  };
}

const bytes = (text: string) => new TextEncoder().encode(text).length;

const gemini: ProviderDialect = {
  lacks: [],
  refuses: ["thoughts"],
  whole: (answer) => fromContent(toGeminiAnswer(answer), facts),
  streamed(answer, dice) {
    const { parts, thoughts, text } = answer;
    const { candidates: [{ finishReason, content, groundingMetadata }], usageMetadata }: Any = toGeminiAnswer(answer);
    // positions in a stream are those of the text of all events
    const offsets = parts.map((_, at) => bytes(parts.slice(0, at).map(({ text }) => text).join("")));
    for (const { segment } of groundingMetadata?.groundingSupports ?? []) {
      const offset = offsets[segment.partIndex - (thoughts === "" ? 0 : 1)]!;
      segment.startIndex += offset;
      segment.endIndex += offset;
      delete segment.partIndex;
    }
    const streamed = [
      ...cut(thoughts, dice).map((piece) => ({ text: piece, thought: true })),
      ...cut(text, dice).map((piece) => ({ text: piece })),
      ...content.parts.filter(({ text }: Any) => text === undefined),
    ];
    const stream = new GeminiStream(facts);
    const chunks = [
      ...streamed.map((part) => ({ candidates: [{ content: { parts: [part], role: "model" }, index: 0 }] })),
      { candidates: [{ content: { parts: [] }, finishReason, groundingMetadata, index: 0 }], usageMetadata },
    ].flatMap((event) => stream.push(event));
    return [...chunks, ...stream.finish()];
  },
  sent(chat) {
    const { systemInstruction: system, contents }: Any = toGenerateContent("gemini-2.5-flash", chat);
    return flat([
      (system?.parts ?? []).map(({ text }: Any) => ["system", text]),
      ...contents.map(({ role, parts }: Any) =>
        parts.map(({ text, inlineData, functionCall: call, functionResponse: result }: Any) => {
          const who = role === "model" ? "assistant" : role;
          if (call) return ["call", call.id, call.name, call.args];
          if (result) return ["result", result.id, JSON.stringify(result.response)];
          return inlineData ? [`${who} image`, `data:${inlineData.mimeType};base64,${inlineData.data}`] : [who, text];
        })
      ),
    ]);
  },
};

function toGeminiAnswer(
  { parts, thoughts, calls, images, finish, tokens: [input, cached, output] }: CitedResponse,
): Json {
  const before = thoughts === "" ? 0 : 1;
  const sources = parts.flatMap(({ sources }) => sources);
  const supports = parts.flatMap(({ text, sources: own }, at) => {
    const segment = { partIndex: before + at, startIndex: 0, endIndex: bytes(text), text };
    return own.length === 0 ? [] : [{ segment, groundingChunkIndices: own.map((source) => sources.indexOf(source)) }];
  });
  const groundingChunks = sources.map(({ url, title }) => ({ web: { uri: url, title } }));
  return {
    candidates: [{
      content: {
        role: "model",
        parts: [
          ...(thoughts === "" ? [] : [{ text: thoughts, thought: true }]),
          ...parts.map(({ text }) => ({ text })),
          ...images.map((url) => ({ inlineData: { mimeType: splitDataUrl(url)[0], data: splitDataUrl(url)[1] } })),
          ...calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } })),
        ],
      },
      finishReason: { length: "MAX_TOKENS", content_filter: "SAFETY" }[finish] ?? "STOP",
      ...(sources.length === 0 ? {} : { groundingMetadata: { groundingChunks, groundingSupports: supports } }),
      index: 0,
    }],
    usageMetadata: {
      ...{ promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
      cachedContentTokenCount: cached,
    },
    ...{ modelVersion: "m", responseId: "c1" },
  };
}

const responses: ProviderDialect = {
  lacks: ["images"],
  refuses: ["assistant image", "thoughts"],
  whole: (answer) => fromResponse(toResponseObject(answer), { vendor: "v" }),
  streamed(answer, dice) {
    const response: Any = toResponseObject(answer);
    const reader = new OutputEvents({ vendor: "v" });
    const normalizer = new ChunkNormalizer(defaults);
    const events = response.output.flatMap((item: Any, output_index: number) => {
      const { type, content = [], summary = [], arguments: given = "" } = item;
      const deltas = (kind: string, text: string) =>
        cut(text, dice).map((delta) => ({ type: `response.${kind}.delta`, output_index, delta }));
      return [
        {
          type: "response.output_item.added",
          output_index,
          item: { ...item, content: [], summary: [], arguments: "" },
        },
        ...summary.flatMap(({ text }: Any) => deltas("reasoning_summary_text", text)),
        ...content.flatMap(({ text, annotations }: Any) => [
          ...deltas("output_text", text),
          ...annotations.map((annotation: Json) => ({
            ...{ type: "response.output_text.annotation.added", output_index, annotation },
          })),
        ]),
        // some servers send arguments with the complete item only
        ...(type === "function_call" && dice.roll(3) > 0 ? deltas("function_call_arguments", given) : []),
        { type: "response.output_item.done", output_index, item },
      ];
    });
    const chunks = [...events, { type: `response.${response.status}`, response }].map((event) => reader.read(event));
    for (const chunk of chunks) normalizer.normalize(chunk);
    return chunks;
  },
  sent(chat) {
    const { input }: Any = toResponsesRequest({ model: { id: "m" }, stream: false, body: chat }, "v");
    return flat(input.map(({ type, role, content, call_id, name, arguments: given, output }: Any) => {
      if (type === "function_call") return [["call", call_id, name, JSON.parse(given)]];
      if (type === "function_call_output") return [["result", call_id, output]];
      const parts: Any[] = typeof content === "string" ? [{ text: content }] : content;
      return parts.map(({ text, image_url }) => image_url ? [`${role} image`, image_url] : [role, text]);
    }));
  },
};

function toResponseObject({ parts, thoughts, calls, finish, tokens: [input, cached, output] }: CitedResponse): Json {
  const reason = { length: "max_output_tokens", content_filter: "content_filter" }[finish];
  const encrypted_content = "c2VhbA==";
  return {
    ...{ id: "c1", object: "response", created_at: 1, model: "m", status: reason ? "incomplete" : "completed" },
    ...(reason ? { incomplete_details: { reason } } : {}),
    output: [
      ...(thoughts === ""
        ? []
        : [{ type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: thoughts }], encrypted_content }]),
      ...parts.map(({ text, sources }) => {
        const annotations = sources.map((source) => ({
          ...{ type: "url_citation", start_index: 0, end_index: text.length, ...source },
        }));
        return { type: "message", role: "assistant", content: [{ type: "output_text", text, annotations }] };
      }),
      ...calls.map(({ id, name, input: given }) => ({
        ...{ type: "function_call", call_id: id, name, arguments: JSON.stringify(given) },
      })),
    ],
    usage: {
      ...{ input_tokens: input, output_tokens: output, total_tokens: input + output },
      input_tokens_details: { cached_tokens: cached },
    },
  };
}

/** The providers, by dialect. */
export const providers: Readonly<Record<string, ProviderDialect>> = { openai, claude, gemini, responses };
