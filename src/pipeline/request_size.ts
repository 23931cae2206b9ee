/**
 * Measures requests in one pass over the body, for eligibility, which must not exclude a model wrongly, and for cost,
 * which must not be estimated too low.
 * @module
 */
import type { ChatCompletionRequest } from "../contracts/openai.ts";
import { isObject } from "../util/is_object.ts";

/** The size of a request. */
export interface RequestSize {
  readonly messages: number;
  /** Whether there is a system or developer message. */
  readonly hasSystemPrompt: boolean;
  /** Text of the messages, including tool calls. */
  readonly text: TextSize;
  /** Names, descriptions and schemas of tools and of the response format. */
  readonly schema: TextSize;
  /** Number of members and elements of these, whose punctuation costs tokens. */
  readonly schemaNodes: number;
  /** Whether a part of it is to be written to the vendor's prompt cache for one hour (`cache_control`). */
  readonly cachesForHour: boolean;
  readonly images: number;
  /** Images that a model has generated: they cost tokens, but models that cannot read any are sent none. */
  readonly generatedImages: number;
  readonly sounds: number;
  /** Uncompressed audio (`wav`, `pcm16`), bytes. */
  readonly sampledBytes: number;
  /** Compressed audio (such as `mp3`), bytes. */
  readonly compressedBytes: number;
  /** Embedded documents and videos, bytes. */
  readonly fileBytes: number;
  /** Number of documents and videos given by id or URL only. */
  readonly referredFiles: number;
  /** The largest embedded image, audio or file, bytes after decoding. */
  readonly largestFileBytes: number;
}

type Writable<T> = { -readonly [key in keyof T]: T[key] };
type Size = Writable<RequestSize>;

/** Maximum number of schema nodes counted; bounds the work. */
const maxNodes = 200_000;
const imageTypes: ReadonlySet<unknown> = new Set(["image_url", "input_image", "image"]);

/** Measures a request without serializing or copying it. Malformed members count as 0. */
export function measureRequest(body: ChatCompletionRequest): RequestSize {
  const size: Size = {
    messages: 0,
    hasSystemPrompt: false,
    text: { latin: 0, alphabetic: 0, ideographic: 0 },
    schema: { latin: 0, alphabetic: 0, ideographic: 0 },
    schemaNodes: 0,
    cachesForHour: body.cache_control !== undefined && isCachedForHour(body) ||
      Array.isArray(body.tools) && body.tools.some(isCachedForHour),
    images: 0,
    generatedImages: 0,
    sounds: 0,
    sampledBytes: 0,
    compressedBytes: 0,
    fileBytes: 0,
    referredFiles: 0,
    largestFileBytes: 0,
  };
  const { messages, tools, functions, response_format: form } = body;
  if (Array.isArray(messages)) { for (const message of messages) addMessage(message, size); }
  if (tools !== undefined) addSchema(tools, size);
  if (functions !== undefined) addSchema(functions, size);
  if (isObject(form)) addSchema(form.json_schema, size);
  return size;
}

/**
 * The bytes behind a `data:` URL, without decoding it; 0 for any other URL.
 *
 * Source: RFC 2397; RFC 4648, section 4. Percent-encoded data counts as a third, which is never too much.
 *
 * @example
 * ```ts
 * dataUrlBytes("data:image/png;base64,AAAA"); // 3
 * ```
 */
export function dataUrlBytes(url: string): number {
  if (url.slice(0, 5).toLowerCase() !== "data:") return 0;
  const comma = url.indexOf(",");
  if (comma < 0) return 0;
  const isBase64 = url.slice(Math.max(0, comma - 7), comma).toLowerCase() === ";base64";
  return isBase64 ? base64Bytes(url, comma + 1) : Math.ceil((url.length - comma - 1) / 3);
}

function base64Bytes(text: string, from: number): number {
  let end = text.length;
  while (end > from && end > text.length - 2 && text[end - 1] === "=") end--;
  return Math.floor((end - from) * 3 / 4);
}

function addMessage(message: unknown, size: Size): void {
  if (!isObject(message)) return;
  size.messages++;
  if (message.cache_control !== undefined) size.cachesForHour ||= isCachedForHour(message);
  const { role, content, tool_calls: calls, images } = message;
  if (role === "system" || role === "developer") size.hasSystemPrompt = true;
  if (typeof content === "string") addText(content, size.text);
  else if (Array.isArray(content)) { for (const part of content) addPart(part, size); }
  if (Array.isArray(images)) size.generatedImages += images.length;
  if (!Array.isArray(calls)) return;
  for (const call of calls) {
    if (!isObject(call) || !isObject(call.function)) continue;
    const { name, arguments: callArguments } = call.function;
    if (typeof name === "string") addText(name, size.text);
    if (typeof callArguments === "string") addText(callArguments, size.text);
  }
}

function addPart(part: unknown, size: Size): void {
  if (!isObject(part)) return;
  size.cachesForHour ||= isCachedForHour(part);
  const { type, text, refusal } = part;
  if (imageTypes.has(type)) {
    size.images++;
    noteFile(bytesAt(part.image_url, "url"), size);
  } else if (type === "input_audio") addSound(part.input_audio, size);
  else if (type === "file") addFile(bytesAt(part.file, "file_data"), size);
  else if (type === "video_url") addFile(bytesAt(part.video_url, "url"), size);
  else if (typeof text === "string") addText(text, size.text);
  else if (typeof refusal === "string") addText(refusal, size.text);
}

function isCachedForHour(part: unknown): boolean {
  const mark = isObject(part) ? part.cache_control : undefined;
  return isObject(mark) && mark.ttl === "1h";
}

function addSound(sound: unknown, size: Size): void {
  size.sounds++;
  const bytes = bytesAt(sound, "data");
  const format = isObject(sound) ? sound.format : undefined;
  if (format === "wav" || format === "pcm16") size.sampledBytes += bytes;
  else size.compressedBytes += bytes;
  noteFile(bytes, size);
}

function addFile(bytes: number, size: Size): void {
  if (bytes === 0) size.referredFiles++;
  size.fileBytes += bytes;
  noteFile(bytes, size);
}

function noteFile(bytes: number, size: Size): void {
  if (bytes > size.largestFileBytes) size.largestFileBytes = bytes;
}

/** The bytes of a `data:` URL, or of bare base64 where the API expects that, as a value or as its member. */
function bytesAt(holder: unknown, member: "url" | "data" | "file_data"): number {
  const text = isObject(holder) ? holder[member] : holder;
  if (typeof text !== "string") return 0;
  const isBare = member !== "url" && !/^(data|https?):/i.test(text.slice(0, 6));
  return isBare ? base64Bytes(text, 0) : dataUrlBytes(text);
}

/** Adds names and strings at any depth, without recursion, since schemas may be nested arbitrarily. */
function addSchema(schema: unknown, size: Size): void {
  const open: unknown[] = [schema];
  while (open.length > 0 && size.schemaNodes < maxNodes) {
    const value = open.pop();
    if (typeof value === "string") addText(value, size.schema);
    else if (Array.isArray(value)) {
      for (let index = value.length - 1; index >= 0; index--) open.push(value[index]);
      size.schemaNodes += value.length;
    } else if (isObject(value)) {
      for (const name of Object.keys(value)) {
        addText(name, size.schema);
        open.push(value[name]);
        size.schemaNodes++;
      }
    }
  }
}

/** Characters (UTF-16 code units) per group of scripts. */
export interface TextSize {
  /** Below U+0250: English, code, JSON, most European languages. */
  latin: number;
  /** Up to U+2E7F: Greek, Cyrillic, Arabic, Devanagari, Thai, curly quotes. */
  alphabetic: number;
  /** From U+2E80: Chinese, Japanese, Korean, and both surrogates of an emoji. */
  ideographic: number;
}

/** Maximum number of characters examined. A longer text is sampled in evenly spaced blocks, which bounds the work. */
const maxSampled = 65_536;
/** Block size, large enough to cover the period of repetitive text. */
const sampleBlock = 1024;
const beyondLatin = /[\u0250-\uffff]/;

export function emptyText(): TextSize {
  return { latin: 0, alphabetic: 0, ideographic: 0 };
}

/** Adds the characters of a text to a size in place. */
export function addText(text: string, size: TextSize): void {
  const { length } = text;
  let [alphabetic, ideographic] = [0, 0];
  if (beyondLatin.test(text)) { // immediate for strings stored as Latin-1, as most are
    const skipped = sampleBlock * (Math.ceil(length / maxSampled) - 1);
    let inspected = 0;
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x2e80) ideographic++;
      else if (unit >= 0x250) alphabetic++;
      if (++inspected % sampleBlock === 0) index += skipped;
    }
    alphabetic *= length / inspected;
    ideographic *= length / inspected;
  }
  size.latin += length - alphabetic - ideographic;
  size.alphabetic += alphabetic;
  size.ideographic += ideographic;
}
