/**
 * Normalizes what vendors' chat responses and chunks have in common: text, reasoning, finish reasons, token counts, sources.
 * Members that are null become absent, and variations of OpenAI's shape become that shape. Every function modifies its
 * argument in place, and returns whether it did.
 * @module
 */
import type { Annotation, FinishReason } from "../contracts/openai.ts";
import { UpstreamError } from "../errors.ts";
import { isObject } from "./is_object.ts";
import { toText } from "./to_text.ts";

/** A message, a delta, or the like, whose members are not yet checked. */
type UncheckedMessage = Record<string, unknown>;

/** Finish reasons of servers with their own names, in lower case. */
const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  eos: "stop",
  eos_token: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  complete: "stop",
  length: "length",
  max_tokens: "length",
  max_length: "length",
  max_new_tokens: "length",
  max_output_tokens: "length",
  model_length: "length",
  tool_calls: "tool_calls",
  tool_call: "tool_calls",
  tool_use: "tool_calls",
  function_call: "function_call",
  content_filter: "content_filter",
  safety: "content_filter",
  recitation: "content_filter",
  blocklist: "content_filter",
  prohibited_content: "content_filter",
  refusal: "content_filter",
  sensitive: "content_filter",
  error_toxic: "content_filter",
};

/** Finish reasons of a generation that the server did not complete. */
const failures: ReadonlySet<string> = new Set([
  "abort",
  "cancelled",
  "error",
  "insufficient_system_resource",
  "network_error",
]);

/**
 * Renames reasoning to `reasoning_content`, and joins text that comes as parts; images among them become `images`. Other
 * values become their JSON text.
 *
 * @param message A message or a delta.
 */
export function normalizeText(message: UncheckedMessage): boolean {
  const { content, reasoning, refusal, reasoning_content: thoughts } = message;
  let isChanged = false;
  if (!isTextOrMissing(refusal)) isChanged = delete message.refusal;
  if (!isTextOrMissing(thoughts)) isChanged = delete message.reasoning_content;
  if (typeof content !== "string" && content !== null && content !== undefined) {
    takeParts(message, toParts(content));
    isChanged = true;
  }
  if (typeof reasoning !== "string" || message.reasoning_content) return isChanged;
  message.reasoning_content = reasoning;
  delete message.reasoning;
  return true;
}

function takeParts(message: UncheckedMessage, parts: readonly unknown[]): void {
  const thoughts = joinPartTexts(parts, "thinking");
  const refusal = joinPartTexts(parts, "refusal");
  message.content = joinPartTexts(parts, "text");
  if (thoughts !== "") message.reasoning_content = thoughts;
  if (refusal !== "") message.refusal ??= refusal;
  const images = parts.filter((part) => Object(part).type === "image_url");
  if (images.length > 0) message.images ??= images.map((image, index) => ({ ...Object(image), index }));
}

/** A text is never an object: one without a type is what a server has parsed, such as the response in JSON mode. */
function toParts(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  const isPart = isObject(content) && typeof content.type === "string";
  return [isPart ? content : { type: "text", text: JSON.stringify(content) }];
}

function isTextOrMissing(value: unknown): boolean {
  return value === undefined || value === null || typeof value === "string";
}

/**
 * Removes values that are not lists from the members that are lists, and values that are not objects from the lists.
 *
 * @param message A message or a delta.
 */
export function normalizeLists(message: UncheckedMessage): boolean {
  const { reasoning_details: details, images, annotations } = message;
  let isChanged = false;
  if (details !== undefined) isChanged = normalizeList(message, "reasoning_details");
  if (images !== undefined) isChanged = normalizeList(message, "images") || isChanged;
  if (annotations !== undefined) isChanged = normalizeList(message, "annotations") || isChanged;
  return isChanged;
}

function normalizeList(message: UncheckedMessage, name: string): boolean {
  const list = message[name];
  if (!Array.isArray(list)) return delete message[name];
  if (list.every(isObject)) return false;
  message[name] = list.filter(isObject);
  return true;
}

/**
 * Joins the text of parts of one kind, which is also the name of the member with the text; reasoning has parts of its own.
 * A part may be a string, or have no type.
 */
function joinPartTexts(parts: readonly unknown[], kind: "text" | "thinking" | "refusal"): string {
  return parts.map((part) => {
    if (typeof part === "string") return kind === "text" ? part : "";
    const { type = "text", [kind]: value } = Object(part);
    if ((type === "output_text" ? "text" : type) !== kind) return "";
    return Array.isArray(value) ? joinPartTexts(value, "text") : typeof value === "string" ? value : "";
  }).join("");
}

/**
 * Converts the finish reason of a choice. A choice with tool calls never ends with `stop`, and one without them not with
 * `tool_calls`.
 *
 * @param calls Whether it has tool calls, and whether the client expects the older `function_call`.
 * @throws {UpstreamError} If the server did not complete the generation.
 */
export function normalizeFinishReason(
  choice: UncheckedMessage,
  { hasCalls, keepsFunctionCall }: { readonly hasCalls: boolean; readonly keepsFunctionCall: boolean },
): boolean {
  const { finish_reason: rawReason } = choice;
  if (rawReason === null || rawReason === undefined || rawReason === "stop" && !hasCalls) return false;
  const word = toText(rawReason).toLowerCase();
  if (word === "" || word === "null") { // servers that write none in every event
    choice.finish_reason = null;
    return true;
  }
  if (failures.has(word)) {
    throw new UpstreamError(`The provider ended its response with the finish reason "${word}"`, { kind: "server" });
  }
  const name = word.split(":")[0]!; // some servers add details
  let reason = Object.hasOwn(finishReasons, name) ? finishReasons[name]! : "stop";
  if (reason === "function_call" && !keepsFunctionCall) reason = "tool_calls";
  if (reason === "stop" && hasCalls) reason = "tool_calls";
  if (reason === "tool_calls" && !hasCalls) reason = "stop";
  choice.finish_reason = reason;
  return reason !== rawReason;
}

/**
 * Removes token counts that are not natural numbers, and adds a single missing one. Usage that is empty then is removed.
 *
 * @param holder A response or a chunk.
 */
export function normalizeUsage(holder: { usage?: unknown }): boolean {
  const { usage } = holder;
  if (usage === undefined) return false;
  if (!isObject(usage)) {
    delete holder.usage;
    return true;
  }
  const { prompt_tokens: read, completion_tokens: written, total_tokens: total, cached_tokens: cached } = usage;
  let isChanged = false;
  if (!isCountOrMissing(read)) isChanged = delete usage.prompt_tokens;
  if (!isCountOrMissing(written)) isChanged = delete usage.completion_tokens;
  if (!isCountOrMissing(total)) isChanged = delete usage.total_tokens;
  if (!isCountOrMissing(cached)) isChanged = delete usage.cached_tokens; // some servers have it here
  if (isEmpty(usage)) {
    delete holder.usage;
    return true;
  }
  isChanged = addMissingCount(usage) || isChanged;
  const { prompt_tokens_details: input, completion_tokens_details: output } = usage;
  if (input !== undefined) isChanged = normalizeDetails(usage, "prompt_tokens_details") || isChanged;
  if (output !== undefined) isChanged = normalizeDetails(usage, "completion_tokens_details") || isChanged;
  return isChanged;
}

function isEmpty(object: Readonly<Record<string, unknown>>): boolean {
  for (const _ in object) return false;
  return true;
}

/** The names of counts in details end in `_tokens`. */
function normalizeDetails(usage: UncheckedMessage, name: string): boolean {
  const details = usage[name];
  if (!isObject(details)) return delete usage[name];
  let isChanged = false;
  for (const member in details) {
    if (member.endsWith("_tokens") && !isCountOrMissing(details[member])) isChanged = delete details[member];
  }
  return isChanged;
}

function isCountOrMissing(value: unknown): boolean {
  return value === undefined || Number.isSafeInteger(value) && value as number >= 0;
}

/** Adds the count that follows from the other two, of those that OpenAI's schema requires. */
function addMissingCount(usage: UncheckedMessage): boolean {
  const { prompt_tokens: read = NaN, completion_tokens: written = NaN, total_tokens: total = NaN } = usage as {
    readonly [Name in "prompt_tokens" | "completion_tokens" | "total_tokens"]?: number;
  };
  if (Number.isNaN(read)) return addCount(usage, "prompt_tokens", total - written);
  if (Number.isNaN(written)) return addCount(usage, "completion_tokens", total - read);
  return Number.isNaN(total) && addCount(usage, "total_tokens", read + written);
}

function addCount(usage: UncheckedMessage, name: string, count: number): boolean {
  if (!(count >= 0)) return false; // another one is missing, too
  usage[name] = count;
  return true;
}

/**
 * Returns the list of tool calls of a message or a delta. Some servers send a single call instead.
 *
 * @param calls Its `tool_calls`.
 * @returns Undefined if there are none.
 */
export function toCalls(calls: unknown): readonly unknown[] | undefined {
  if (Array.isArray(calls)) return calls.length === 0 ? undefined : calls;
  return isObject(calls) && (isObject(calls.function) || isObject(calls.custom)) ? [calls] : undefined;
}

/** Converts the arguments of a complete tool call to JSON text; without any, to that of an empty object. */
export function toArguments(value: unknown): string {
  if (isMissing(value)) return "{}";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Whether arguments of a tool call are missing: null, its JSON, or blank. */
export function isMissing(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === "string" && /^\s*(?:null\s*)?$/.test(value);
}

/**
 * Creates an id.
 *
 * @param prefix Its beginning, such as `call_`.
 * @param random A source of randomness, 0 to 1.
 */
export function createId(prefix: string, random: () => number): string {
  let id = prefix;
  while (id.length < prefix.length + 24) id += Math.floor(random() * 36).toString(36);
  return id;
}

/** A source that a vendor lists beside a response, to which its text refers by number, such as `[2]`. */
export interface CitedSource {
  readonly url: string;
  readonly title: string;
}

const noSources: readonly CitedSource[] = [];

/** Maximum number of references that become annotations, since each repeats its source. */
const maxReferences = 1_000;

/**
 * Reads the list of sources of a response or a chunk; empty if there is none. Perplexity has `search_results` and
 * `citations`, xAI `citations`.
 *
 * @param body The response or the chunk.
 */
export function readSources({ search_results: results, citations }: UncheckedMessage): readonly CitedSource[] {
  const list = Array.isArray(results) && results.length > 0 ? results : citations;
  if (!Array.isArray(list)) return noSources;
  return list.map((source: unknown) => {
    const { url, title } = isObject(source) ? source : { url: source, title: undefined };
    const address = typeof url === "string" ? url : "";
    return { url: address, title: typeof title === "string" ? title : address };
  });
}

/**
 * Converts sources to annotations: one for each reference in the text, and one without a place for each other source.
 *
 * @param sources The sources, the first of which is number 1.
 * @param text The text of the response.
 */
export function toSourceAnnotations(sources: readonly CitedSource[], text: string): Annotation[] {
  const annotations: Annotation[] = [];
  const others = new Set(sources);
  for (const { 0: reference, 1: number, index } of text.matchAll(/\[(\d{1,4})\]/g)) {
    const source = sources[Number(number) - 1];
    if (source === undefined || source.url === "") continue;
    if (annotations.length === maxReferences) break;
    others.delete(source);
    annotations.push(normalizeAnnotation(source, { start_index: index, end_index: index + reference.length }));
  }
  for (const source of others) {
    if (source.url !== "") annotations.push(normalizeAnnotation(source, { start_index: 0, end_index: 0 }));
  }
  return annotations;
}

function normalizeAnnotation(
  source: CitedSource,
  range: { readonly start_index: number; readonly end_index: number },
): Annotation {
  return { type: "url_citation", url_citation: { ...range, ...source } };
}
