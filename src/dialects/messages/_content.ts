/**
 * Converts content blocks to chat content parts.
 * @module
 */
import type { ContentPart, JsonObject } from "../../contracts/openai.ts";
import { invalid, missing, wrongType } from "../../pipeline/check_body.ts";
import { isObject } from "../../util/is_object.ts";
import type { NativeOnly } from "../native_only.ts";
import { describeBlock } from "./_foreign_blocks.ts";

/** Separates joined texts. */
const separator = "\n\n";

/**
 * Validates content blocks.
 *
 * @param content Blocks; a string stands for one text block.
 * @param where Path in the request, for error messages.
 */
export function checkBlocks(content: unknown, where: string): readonly JsonObject[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (content === undefined) throw missing(where);
  if (!Array.isArray(content)) throw wrongType(where, "a string or an array of blocks", content);
  content.forEach((block, index) => {
    if (!isObject(block)) throw wrongType(`${where}[${index}]`, "an object", block);
    if (block.type === undefined) throw missing(`${where}[${index}].type`);
  });
  return content;
}

/**
 * Converts a block that a user may send: text, image, document or search result.
 *
 * @param where Path in the request.
 * @param nativeOnly Collects all other blocks.
 */
export function convertBlock(block: JsonObject, where: string, nativeOnly: NativeOnly): ContentPart[] {
  switch (block.type) {
    case "text":
      return toTextPart(stringAt(block, "text", where));
    case "image":
      return readImageBlock(block, where, nativeOnly);
    case "document":
      return documentParts(block, where, nativeOnly);
    case "search_result":
      return searchParts(block, where, nativeOnly);
    default: {
      const described = describeBlock(block);
      if (described !== undefined) return toTextPart(described);
      return unknownParts(block, where, {
        nativeOnly,
        supported: "text, image, document, search_result, tool_use and tool_result",
      });
    }
  }
}

/**
 * Content that must be text.
 *
 * @param content A string, or text blocks.
 * @param where Path in the request.
 * @param nativeOnly Collects all other blocks.
 */
function requireBlockText(content: unknown, where: string, nativeOnly: NativeOnly): string {
  return textParts(content, where, nativeOnly).map(({ text }) => text).join(separator);
}

/**
 * Content that must be text, as one part, or as one part for each cache breakpoint.
 *
 * @param content A string, or text blocks.
 * @param where Path in the request.
 * @param nativeOnly Collects all other blocks.
 */
export function textParts(content: unknown, where: string, nativeOnly: NativeOnly): ContentPart[] {
  const parts: ContentPart[] = [];
  checkBlocks(content, where).forEach((block, index) => {
    const at = `${where}[${index}]`;
    if (block.type !== "text") return unknownParts(block, at, { nativeOnly, supported: "text" });
    const text = stringAt(block, "text", at);
    if (text === "") return;
    const last = parts.at(-1);
    if (last === undefined || "cache_control" in last) parts.push({ type: "text", text, ...findMark(block) });
    else Object.assign(last, { text: `${last.text}${separator}${text}` }, findMark(block));
  });
  return parts;
}

/** The cache breakpoint of a block, which chat messages, parts and tools support as well. */
export function findMark(block: JsonObject | undefined): { cache_control?: unknown } {
  return isObject(block?.cache_control) ? { cache_control: block.cache_control } : {};
}

/** Validates a required string member. */
export function stringAt(holder: JsonObject, name: string, where: string): string {
  const value = holder[name];
  if (value === undefined) throw missing(`${where}.${name}`);
  if (typeof value !== "string") throw wrongType(`${where}.${name}`, "a string", value);
  return value;
}

/** A block that chat cannot express counts as a file of its size; only native models receive it, as it came. */
export function unknownParts(
  block: JsonObject,
  where: string,
  { nativeOnly, supported }: { readonly nativeOnly: NativeOnly; readonly supported: string },
): ContentPart[] {
  nativeOnly.add(
    where,
    `"${where}" has ${describeType(block)}, which models of other APIs do not support: use ${supported}`,
  );
  return [{ type: "file", file: { file_data: JSON.stringify(block) } }];
}

function toTextPart(text: string): ContentPart[] {
  return text === "" ? [] : [{ type: "text", text }];
}

function checkSource(block: JsonObject, where: string): JsonObject {
  if (block.source === undefined) throw missing(`${where}.source`);
  if (!isObject(block.source)) throw wrongType(`${where}.source`, "an object", block.source);
  return block.source;
}

function readImageBlock(block: JsonObject, where: string, nativeOnly: NativeOnly): ContentPart[] {
  const source = checkSource(block, where);
  const at = `${where}.source`;
  if (source.type === "url") return [{ type: "image_url", image_url: { url: urlAt(source, at) } }];
  if (source.type === "base64") return [{ type: "image_url", image_url: { url: formatDataUrl(source, at) } }];
  addSource(source, at, { nativeOnly, instead: 'use "base64" or "url"' });
  return [{ type: "image_url" }];
}

function documentParts(block: JsonObject, where: string, nativeOnly: NativeOnly): ContentPart[] {
  const source = checkSource(block, where);
  const at = `${where}.source`;
  const title = typeof block.title === "string" ? block.title : undefined;
  switch (source.type) {
    case "base64":
      return [{ type: "file", file: { filename: title ?? "document.pdf", file_data: formatDataUrl(source, at) } }];
    case "text":
      return toTextPart([title, stringAt(source, "data", at)].filter((text) => text !== undefined).join("\n\n"));
    case "content":
      return [
        ...toTextPart(title ?? ""),
        ...checkBlocks(source.content, `${at}.content`)
          .flatMap((inner, index) => convertBlock(inner, `${at}.content[${index}]`, nativeOnly)),
      ];
    default:
      addSource(source, at, { nativeOnly, instead: 'send the document itself, as "base64" or "text"' });
      return [{ type: "file", file: {} }];
  }
}

function searchParts(block: JsonObject, where: string, nativeOnly: NativeOnly): ContentPart[] {
  const head = `${stringAt(block, "title", where)}\n${stringAt(block, "source", where)}`;
  return toTextPart(`${head}\n\n${requireBlockText(block.content, `${where}.content`, nativeOnly)}`);
}

function formatDataUrl(source: JsonObject, where: string): string {
  return `data:${stringAt(source, "media_type", where)};base64,${stringAt(source, "data", where)}`;
}

function urlAt(source: JsonObject, where: string): string {
  const url = stringAt(source, "url", where);
  if (!/^https?:\/\//i.test(url)) throw invalid(`"${where}.url" must start with https://`, `${where}.url`);
  return url;
}

function addSource(
  source: JsonObject,
  where: string,
  { nativeOnly, instead }: { readonly nativeOnly: NativeOnly; readonly instead: string },
): void {
  nativeOnly.add(where, `"${where}" has ${describeType(source)}, which models of other APIs cannot read: ${instead}`);
}

function describeType({ type }: JsonObject): string {
  return typeof type === "string" ? `the type ${JSON.stringify(type.slice(0, 80))}` : "no type that is a string";
}

/** A single text part without a breakpoint is sent as a string: some APIs accept parts only together with images. */
export function simplifyBlocks(parts: ContentPart[]): string | ContentPart[] {
  const [first, second] = parts;
  const isPlain = second === undefined && first!.type === "text" && !("cache_control" in first!);
  return isPlain ? first!.text! : parts;
}
