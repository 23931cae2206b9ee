/**
 * Requests and responses of other dialects: Messages and Gemini.
 * @module
 */
import type { Json } from "./_dialects.ts";
import { type Any, type ClientDialect, finishes, parsed, splitDataUrl, type Turn } from "./_said.ts";

/** Texts of one kind that follow each other are one, as they are after a stream. */
function joined<Item extends Json>(items: readonly Item[], name: string, isOne: (item: Item, next: Item) => boolean) {
  const all: Item[] = [];
  for (const item of items) {
    const last = all.at(-1);
    if (last !== undefined && isOne(last, item)) Object.assign(last, { [name]: `${last[name]}${item[name]}` });
    else all.push({ ...item });
  }
  return all;
}

const imageBlock = (url: string) => {
  const [media_type, data] = splitDataUrl(url);
  return { type: "image", source: { type: "base64", media_type, data } };
};

/** Messages. */
export const messages: ClientDialect = {
  path: () => "/v1/messages",
  ask: (turns, system) => ({
    ...{ model: "chat", max_tokens: 999, messages: turns.flatMap(messagesTurn) },
    ...(system ? { system } : {}),
  }),
  read({ content, stop_reason, usage }: Any) {
    const of = (kind: string) => content.filter(({ type }: Any) => type === kind);
    const { cache_read_input_tokens: cached = 0, cache_creation_input_tokens: written = 0 } = usage;
    return {
      text: of("text").map(({ text }: Any) => text).join(""),
      thoughts: of("thinking").map(({ thinking }: Any) => thinking).join(""),
      calls: of("tool_use").map(({ id, name, input }: Any) => ({ id, name, input })),
      images: of("image").map(({ source: { media_type, data } }: Any) => `data:${media_type};base64,${data}`),
      citations: of("text").flatMap(({ citations = [] }: Any) =>
        citations.map(({ url, title, cited_text: text }: Any) => ({ url, title, text }))
      ),
      finish: finishes(
        { end_turn: "stop", max_tokens: "length", tool_use: "tool_calls", refusal: "content_filter" },
        stop_reason,
      ),
      tokens: [usage.input_tokens + cached + written, cached, usage.output_tokens],
    };
  },
  gather(events) {
    const blocks: Any[] = [];
    let message: Any;
    for (const event of events as Any[]) {
      const { index, content_block, delta = {} } = event;
      if (event.type === "message_start") message = event.message;
      if (event.type === "content_block_start") blocks[index] = { ...content_block, json: "" };
      if (event.type === "message_delta") message = { ...message, ...delta, usage: event.usage };
      if (event.type !== "content_block_delta") continue;
      const block = blocks[index];
      if (delta.type === "text_delta") block.text += delta.text;
      if (delta.type === "thinking_delta") block.thinking += delta.thinking;
      if (delta.type === "input_json_delta") block.json += delta.partial_json;
      if (delta.type === "citations_delta") (block.citations ??= []).push(delta.citation);
    }
    const content = blocks.map(({ json, ...block }) =>
      block.type === "tool_use" || block.type === "server_tool_use" ? { ...block, input: parsed(json) } : block
    );
    return { ...message, content };
  },
  keep: ({ content }: Any) => [{ role: "assistant", content }],
};

function messagesTurn(turn: Turn): Json[] {
  if ("kept" in turn) return [...turn.kept];
  if ("results" in turn) {
    const results = turn.results.map(({ call: { id }, text }) => ({
      ...{ type: "tool_result", tool_use_id: id },
      content: [{ type: "text", text }],
    }));
    return [{ role: "user", content: results }];
  }
  if ("user" in turn) {
    const content = turn.user.map((part) =>
      typeof part === "string" ? { type: "text", text: part } : imageBlock(part.image)
    );
    return [{ role: "user", content }];
  }
  const { text = "", thoughts = "", calls = [], images = [] } = turn.model;
  const content = [
    ...(thoughts === "" ? [] : [{ type: "thinking", thinking: thoughts, signature: "" }]),
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...images.map(imageBlock),
    ...calls.map((call) => ({ type: "tool_use", ...call })),
  ];
  return [{ role: "assistant", content }];
}

const decoder = new TextDecoder();
const bytesOf = (text: string) => new TextEncoder().encode(text);
const inlinePart = (url: string) => ({ inlineData: { mimeType: splitDataUrl(url)[0], data: splitDataUrl(url)[1] } });

/** Gemini. */
export const gemini: ClientDialect = {
  path: (stream) => `/v1beta/models/chat:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  ask: (turns, system) => ({
    contents: turns.flatMap(geminiTurn),
    generationConfig: { thinkingConfig: { includeThoughts: true } },
    ...(system ? { systemInstruction: { parts: [{ text: system }] } } : {}),
  }),
  read({ candidates, usageMetadata: usage }: Any) {
    const [{ content: { parts }, finishReason, groundingMetadata: grounding = {} }] = candidates;
    const text = parts.map(({ text = "", thought }: Any) => thought ? "" : text).join("");
    const calls = parts.flatMap(({ functionCall }: Any) => functionCall ?? []);
    const { groundingChunks: chunks = [], groundingSupports: supports = [] } = grounding;
    return {
      text,
      thoughts: parts.map(({ text = "", thought }: Any) => thought ? text : "").join(""),
      calls: calls.map(({ id, name, args }: Any) => ({ id, name, input: args })),
      images: parts.flatMap(({ inlineData: at }: Any) => at ? [`data:${at.mimeType};base64,${at.data}`] : []),
      citations: supports.flatMap(({ segment: { startIndex = 0, endIndex = 0 }, groundingChunkIndices }: Any) =>
        groundingChunkIndices.map((at: number) => ({
          url: chunks[at].web?.uri ?? "",
          title: (chunks[at].web ?? chunks[at].retrievedContext).title,
          text: decoder.decode(bytesOf(text).subarray(startIndex, endIndex)),
        }))
      ),
      finish: finishes({
        STOP: calls.length > 0 ? "tool_calls" : "stop",
        MAX_TOKENS: "length",
        SAFETY: "content_filter",
      }, finishReason),
      tokens: [
        usage.promptTokenCount,
        usage.cachedContentTokenCount ?? 0,
        usage.candidatesTokenCount + (usage.thoughtsTokenCount ?? 0),
      ],
    };
  },
  gather(events) {
    let [last, answer]: Any[] = [{}, {}];
    const all: Any[] = [];
    for (const { candidates, ...others } of events as Any[]) {
      answer = { ...answer, ...others };
      for (const { content, ...candidate } of candidates) {
        last = { ...last, ...candidate };
        all.push(...content.parts);
      }
    }
    const isText = ({ text, thought }: Any) => text !== undefined && thought === undefined;
    const parts = joined(
      all,
      "text",
      (item, next) =>
        isText(item) && isText(next) && next.thoughtSignature === undefined ||
        item.thought === true && next.thought === true,
    );
    return { ...answer, candidates: [{ content: { role: "model", parts }, ...last }] };
  },
  keep: ({ candidates }: Any) => [candidates[0].content],
};

function geminiTurn(turn: Turn): Json[] {
  if ("kept" in turn) return [...turn.kept];
  if ("results" in turn) {
    const parts = turn.results.map(({ call: { id, name }, text }) => ({
      functionResponse: { id, name, response: { result: text } },
    }));
    return [{ role: "user", parts }];
  }
  if ("user" in turn) {
    const parts = turn.user.map((part) => typeof part === "string" ? { text: part } : inlinePart(part.image));
    return [{ role: "user", parts }];
  }
  const { text = "", thoughts = "", calls = [], images = [] } = turn.model;
  const parts = [
    ...(thoughts === "" ? [] : [{ text: thoughts, thought: true }]),
    ...(text === "" ? [] : [{ text }]),
    ...images.map(inlinePart),
    ...calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } })),
  ];
  return [{ role: "model", parts }];
}
