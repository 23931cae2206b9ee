/**
 * Converts content blocks between the Messages API and Converse.
 *
 * Sources, read 2026-11-22: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html and
 * the pages of its members.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import { requestFault } from "./_anthropic_fault.ts";
import { type Block, thoughtBlock } from "./_anthropic_thoughts.ts";
import { isObject } from "../../src/util/is_object.ts";
import { toText } from "../../src/util/to_text.ts";

/** Block types that a model supports. */
interface BlockRules {
  /** Whether signed thinking blocks are sent back. */
  readonly thoughts: boolean;
  /** Whether prompt caching is supported. */
  readonly caches: boolean;
}

/**
 * Translates request blocks.
 *
 * @param blocks Blocks of the Messages API.
 * @param rules Block types that the model supports.
 * @throws {UpstreamError} `request` for a file that Converse does not accept.
 */
export function toConverseBlocks(blocks: readonly Block[], rules: BlockRules): JsonObject[] {
  return blocks.flatMap((block) => [
    ...toConverseBlock(block, rules),
    ...(rules.caches ? toCachePoint(block.cache_control) : []),
  ]);
}

/**
 * A cache point, up to which the prompt is cached.
 *
 * @param mark A `cache_control` of the Messages API, if any.
 */
export function toCachePoint(mark: unknown): JsonObject[] {
  if (typeof mark !== "object" || mark === null) return [];
  const { ttl } = mark as JsonObject;
  return [{ cachePoint: { type: "default", ...(ttl === undefined ? {} : { ttl }) } }];
}

/**
 * Translates a response block.
 *
 * @param block A block of Converse.
 * @param signs Whether the model signs its thinking blocks and needs them back.
 */
export function fromConverseBlock(block: JsonObject, signs: boolean): Block[] {
  const { text, toolUse, reasoningContent, citationsContent: cited } = block;
  if (typeof text === "string") return [{ type: "text", text }];
  if (isObject(cited)) {
    const [texts, citations] = [cited.content, cited.citations].map((list) => Array.isArray(list) ? list : []);
    const joined = texts!.map((text) => isObject(text) ? toText(text.text) : "").join("");
    return [{ type: "text", text: joined, citations: citations!.map(fromConverseCitation) }];
  }
  if (isObject(toolUse)) {
    return [{ type: "tool_use", id: toolUse.toolUseId, name: toolUse.name, input: toolUse.input }];
  }
  if (!isObject(reasoningContent)) return [];
  const { reasoningText, redactedContent } = reasoningContent;
  if (isObject(reasoningText)) {
    const { text: thinking = "", signature } = reasoningText;
    return [{ type: "thinking", thinking, ...(signs && signature !== undefined ? { signature } : {}) }];
  }
  return signs && typeof redactedContent === "string" ? [{ type: "redacted_thinking", data: redactedContent }] : [];
}

/** Names of a location in Converse, and in the Messages API its type and the unit of its positions. */
const locations: readonly (readonly [name: string, type: string, unit: string])[] = [
  ["documentChar", "char_location", "char_index"],
  ["documentPage", "page_location", "page_number"],
  ["documentChunk", "content_block_location", "block_index"],
];

/**
 * Translates a citation.
 *
 * @param citation A citation of a response block, or of a stream.
 */
export function fromConverseCitation(citation: unknown): JsonObject {
  const { title, sourceContent, location: position } = isObject(citation) ? citation : {};
  const texts = Array.isArray(sourceContent) ? sourceContent : [];
  const cited_text = texts.map((text) => isObject(text) ? toText(text.text) : "").join("");
  const location = isObject(position) ? position : {};
  if (isObject(location.web)) {
    const { url } = location.web;
    return { type: "web_search_result_location", cited_text, encrypted_index: "", title, url };
  }
  for (const [name, type, unit] of locations) {
    const range = location[name];
    if (!isObject(range)) continue;
    const { documentIndex: document_index, start, end } = range;
    return { type, cited_text, document_index, document_title: title, [`start_${unit}`]: start, [`end_${unit}`]: end };
  }
  return {
    type: "search_result_location",
    cited_text,
    title,
    source: isObject(citation) ? citation.source : undefined,
  };
}

function toConverseBlock(block: Block, rules: BlockRules): JsonObject[] {
  switch (block.type) {
    case "text":
      return [{ text: block.text }];
    case "image":
    case "document":
      return [fileBlock(block)];
    case "tool_use":
      return [{ toolUse: { toolUseId: block.id, name: block.name, input: block.input } }];
    case "tool_result": {
      const content = toConverseBlocks((block.content ?? []) as Block[], { ...rules, caches: false });
      return [{ toolResult: { toolUseId: block.tool_use_id, content } }];
    }
    default:
      return rules.thoughts ? thoughtBlocks(block) : [];
  }
}

function thoughtBlocks(block: Block): JsonObject[] {
  const thought = thoughtBlock(block);
  if (thought === undefined) return [];
  const { type, thinking: text, signature, data } = thought;
  return [{
    reasoningContent: type === "thinking" ? { reasoningText: { text, signature } } : { redactedContent: data },
  }];
}

function fileBlock({ type, source, title }: Block): JsonObject {
  const { media_type, data } = source as { media_type?: string; data?: string };
  if (media_type === undefined) {
    throw requestFault("Converse accepts images as data: URLs only", "messages");
  }
  const format = media_type.replace(/^.*\//, "");
  if (type === "image") return { image: { format, source: { bytes: data } } };
  // the API allows few characters in a document name
  const name = toText(title ?? "document").replace(/\.[a-z]+$/i, "").replace(/[^a-z0-9 ()[\]-]+/gi, "-")
    .replace(/ {2,}/g, " ").slice(0, 200);
  return { document: { format, name, source: { bytes: data } } };
}
