/**
 * Converts OpenAI's content parts to content blocks of the Messages API.
 *
 * Sources: https://platform.claude.com/docs/en/build-with-claude/vision, /pdf-support and /prompt-caching
 * @module
 */
import type { ChatMessage, ContentPart, JsonObject } from "../../src/contracts/openai.ts";
import type { UpstreamError } from "../../src/errors.ts";
import { appendAll } from "../../src/util/append_all.ts";
import { parseDataUrl } from "../../src/util/data_url.ts";
import { requestFault } from "./_anthropic_fault.ts";
import type { Block } from "./_anthropic_thoughts.ts";
import { toText } from "../../src/util/to_text.ts";

/**
 * Translates a message's content.
 *
 * @param content A string, content parts, or null.
 * @param where Path of the content in the request, for error messages.
 * @throws {UpstreamError} `request` if a part has a type that Claude does not support.
 */
export function contentBlocks(content: ChatMessage["content"], where: string): Block[] {
  if (content === undefined || content === null) return [];
  if (typeof content === "string") return textBlock(content);
  if (!Array.isArray(content)) {
    throw requestFault(`Cannot translate ${where}: it is neither a string nor an array`, where);
  }
  const blocks: Block[] = [];
  content.forEach((part, index) => {
    const added = partBlocks(part, `${where}[${index}]`);
    // the breakpoint of blank text comes after the block before it
    const marked = added.length === 0 ? blocks.splice(-1) : added;
    appendAll(blocks, withCacheControl(marked, part?.cache_control));
  });
  return blocks;
}

/** A text block; empty for blank text, which the API rejects. */
export function textBlock(text: string): Block[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

/**
 * Sets a cache breakpoint on the last block.
 *
 * @param mark The client's `cache_control`, if any.
 */
export function withCacheControl(blocks: Block[], mark: unknown): Block[] {
  const cacheControl = readCacheControl(mark);
  const last = blocks.at(-1);
  if (cacheControl === undefined || last === undefined) return blocks;
  return [...blocks.slice(0, -1), { ...last, cache_control: cacheControl }];
}

/**
 * Reduces a `cache_control` to the members that the API accepts.
 *
 * @param mark The client's value.
 */
export function readCacheControl(mark: unknown): JsonObject | undefined {
  if (typeof mark !== "object" || mark === null) return undefined;
  const { type, ttl } = mark as JsonObject;
  return typeof type === "string" ? { type, ...(ttl === undefined ? {} : { ttl }) } : undefined;
}

function partBlocks(part: ContentPart, where: string): Block[] {
  switch (part?.type) {
    case "text":
      return textBlock(toText(part.text));
    case "refusal":
      return textBlock(toText(part.refusal));
    case "image_url":
      return [sourceBlock(part.image_url?.url, where)];
    case "file":
      return [toDocumentBlock(part, where)];
    default:
      throw createContentFault(where, `a part of type "${toText(part?.type)}"`);
  }
}

function toDocumentBlock(part: ContentPart, where: string): Block {
  const { file_data, filename } = (part.file ?? {}) as { file_data?: unknown; filename?: unknown };
  if (typeof file_data !== "string") throw createContentFault(where, "a file without file_data");
  const block = sourceBlock(file_data, where);
  return block.type === "document" && typeof filename === "string" ? { ...block, title: filename } : block;
}

function sourceBlock(url: unknown, where: string): Block {
  if (typeof url !== "string") throw createContentFault(where, "a part without a URL");
  if (/^https?:/i.test(url)) return { type: "image", source: { type: "url", url } };
  const parsed = parseDataUrl(url);
  if (parsed === undefined) throw createContentFault(where, "a URL that is neither https: nor data:");
  const mediaType = parsed.type.replace("image/jpg", "image/jpeg");
  if (!/^image\/|^application\/pdf$/.test(mediaType)) {
    throw createContentFault(where, `"${mediaType.slice(0, 80)}" data`);
  }
  return {
    type: mediaType === "application/pdf" ? "document" : "image",
    source: { type: "base64", media_type: mediaType, data: parsed.data },
  };
}

function createContentFault(where: string, what: string): UpstreamError {
  return requestFault(
    `Cannot translate ${where}: Claude does not accept ${what}; it accepts text, images and PDF files`,
    where,
  );
}
