/**
 * Error responses in OpenAI's dialect.
 * @module
 */
import type { OpenAiError } from "../../src/contracts/openai.ts";
import { isContentFilter } from "../../src/errors.ts";
import { isObject } from "../../src/util/is_object.ts";
import { toText } from "../../src/util/to_text.ts";

/**
 * Parses an error in OpenAI's dialect; all members are optional.
 *
 * @param body The parsed body: `{error: {…}}`, `{error: "…"}`, `{message: "…"}`, `{detail: …}` and the like, a list of
 * one, or text.
 * @param status HTTP status, for the fallback message.
 */
export function readOpenAiError(body: unknown, status: number): OpenAiError {
  const outer = asRecord(Array.isArray(body) ? body[0] : body) ?? {};
  const inner = asRecord(outer.error) ?? outer;
  const code = typeof inner.code === "number" ? String(inner.code) : inner.code;
  const message = findErrorMessage(body) ?? `HTTP status ${status}`;
  const type = typeof inner.type === "string" ? inner.type : "";
  const param = typeof inner.param === "string" ? inner.param : null;
  const error = { message, type, param, code: typeof code === "string" ? code : null };
  const statusInside = status < 300 && code === "400" ? 400 : status;
  if (isTooLong(statusInside, `${type} ${message.slice(0, maxScanned)}`)) {
    return { ...error, code: "context_length_exceeded" };
  }
  return saysFiltered(statusInside, message) && !isContentFilter(error) ? { ...error, code: "content_filter" } : error;
}

/** Maximum length of a message that is compared with patterns. */
const maxScanned = 2_000;

/** What servers say of a prompt that exceeds their context, besides OpenAI's own code. */
const tooLongPhrases: readonly RegExp[] = [
  /maximum (?:context|prompt|sequence|model|input) length/i,
  /context (?:length|window|size)\b.{0,80}exceed|\bcontext length is only\b/i,
  /exceed.{0,80}\bcontext\b|exceeded model token limit/i,
  /exceed_context_size|context overflow|loaded with context length|ContextWindowExceeded/i,
  /(?:longer|greater|larger|more) than .{0,40}\bcontext\b/i,
  /\bprompt\b.{0,40} too l(?:ong|arge)|\b(?:input|conversation|messages) (?:is |was |are )?too long/i,
  /prompt.{0,60}\bexceeds?\b/i,
  /\binput tokens? .{0,40}exceed|\binput token count .{0,40}(?:exceed|only supports)/i,
  /exceeds the maximum number of tokens|range of input length should be/i,
  /too many (?:input )?tokens|\binputs\b.{0,60}(?:<=|less than)/i,
  /reduce the length of the (?:messages|prompt|input)|request body too large for .{0,60}\bmodel\b/i,
];

/** Statuses of such errors. llama.cpp and Ollama have answered with 500. */
const tooLongStatuses: ReadonlySet<number> = new Set([400, 413, 422, 500]);

/** Whether a request was refused because of the length of its prompt. */
function isTooLong(status: number, text: string): boolean {
  return tooLongStatuses.has(status) && tooLongPhrases.some((phrase) => phrase.test(text));
}

/** What servers say of content that they refuse, besides codes of their own. */
const filterPhrases: readonly RegExp[] = [
  /content (?:management|moderation|safety|usage|filtering|filter) polic|content polic(?:y|ies)\b.{0,40}violat/i,
  /violat\w{1,6}.{0,60}\b(?:usage|content|safety) (?:guidelines|polic)|responsible ai (?:polic|practices)/i,
  /(?:rejected|blocked|refused)\b.{0,60}\b(?:safety system|content filter|content moderation|guardrail)/i,
  /\b(?:input|prompt|content|request)\b.{0,40}(?:\bflagged\b|considered high risk)|content exists risk/i,
  /\binappropriate content\b|prompt injection (?:patterns|detected)/i,
];

/** Statuses of such errors: those of an invalid request, and of one that is forbidden. */
const filterStatuses: ReadonlySet<number> = new Set([400, 403, 422, 451]);

/** Whether a request was refused because of its content, by the words of an error. */
export function saysFiltered(status: number, message: string): boolean {
  return filterStatuses.has(status) && filterPhrases.some((phrase) => phrase.test(message.slice(0, maxScanned)));
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  return isObject(value) ? value : undefined;
}

/** Members that contain the message, or an object with it, in order of precedence. */
const members: readonly string[] = [
  "message",
  "detail",
  "msg",
  "error_description",
  "error_msg",
  "Message",
  "reason",
  "title",
  "errors",
];

/** Maximum levels of objects and lists that are searched. */
const maxDepth = 5;
/** Maximum number of messages that are joined. */
const maxListed = 10;
/** Maximum number of characters of a page that are read, and of the text that is returned. */
const maxPageChars = 4_000;
const maxTextChars = 500;

/**
 * Finds the message of an error.
 *
 * @param body The parsed body, or its text: a page, or JSON that breaks off.
 * @returns Undefined if there is none.
 */
export function findErrorMessage(body: unknown): string | undefined {
  return typeof body === "string" ? findText(body) : findMessage(body, 0);
}

function findMessage(value: unknown, depth: number): string | undefined {
  if (typeof value === "string") return value.trim() === "" ? undefined : value;
  if (depth === maxDepth) return undefined;
  if (Array.isArray(value)) return joinMessages(value, depth);
  if (!isObject(value)) return undefined;
  // text beside a message is the name of the error
  const names = typeof value.error === "string" ? [...members, "error"] : ["error", ...members];
  for (const name of names) {
    const message = findMessage(value[name], depth + 1);
    if (message !== undefined) return message;
  }
  return undefined;
}

/** Joins messages, such as those of invalid members that servers with FastAPI list: `{loc: ["body", …], msg}`. */
function joinMessages(list: readonly unknown[], depth: number): string | undefined {
  const messages = list.slice(0, maxListed).flatMap((entry) => {
    const message = findMessage(entry, depth + 1);
    if (message === undefined) return [];
    const { loc } = Object(entry);
    return [Array.isArray(loc) ? `${loc.slice(1).map(toText).join(".")}: ${message}` : message];
  });
  return messages.length === 0 ? undefined : messages.join("; ");
}

/** The text of a page, or text as it is; undefined for bytes that are not text. */
function findText(body: string): string | undefined {
  const start = body.slice(0, maxPageChars).trim();
  if (start.includes("\ufffd") || start.includes("\0")) return undefined;
  const text = start.startsWith("<") ? start.replace(/<(?:style|script)[^<>]*>[^<]*|<[^<>]*>/gi, " ") : start;
  return text.replace(/\s+/g, " ").trim().slice(0, maxTextChars) || undefined;
}
