/**
 * Error responses in OpenAI's dialect.
 * @module
 */
import type { OpenAiError } from "../../src/contracts/openai.ts";
import { toText } from "../../src/util/to_text.ts";

/**
 * Parses an error in OpenAI's dialect; all members are optional.
 *
 * @param body The parsed body: `{error: {…}}`, `{error: "…"}`, `{message: "…"}` or `{detail: …}`.
 * @param status HTTP status, for the fallback message.
 */
export function readOpenAiError(body: unknown, status: number): OpenAiError {
  const outer = asRecord(body);
  const inner = typeof outer?.error === "string" ? { message: outer.error } : asRecord(outer?.error) ?? outer ?? {};
  const code = typeof inner.code === "number" ? String(inner.code) : inner.code;
  const message = firstText(inner.message, inner.detail, outer?.detail) ??
    readFindings(asRecord(inner.message)?.detail ?? inner.detail ?? outer?.detail) ?? `HTTP status ${status}`;
  const type = typeof inner.type === "string" ? inner.type : "";
  return {
    message,
    type,
    param: typeof inner.param === "string" ? inner.param : null,
    code: isTooLong(status < 300 && code === "400" ? 400 : status, `${type} ${message.slice(0, maxScanned)}`)
      ? "context_length_exceeded"
      : typeof code === "string"
      ? code
      : null,
  };
}

/** Maximum length of a message that is compared with patterns. */
const maxScanned = 2_000;

/** What servers say of a prompt that exceeds their context, besides OpenAI's own code. */
const tooLongPhrases: readonly RegExp[] = [
  /maximum (?:context|prompt|sequence|model|input) length/i,
  /context (?:length|window|size)\b.{0,80}exceed/i,
  /exceed.{0,80}\bcontext\b/i,
  /exceed_context_size|context overflow|loaded with context length|ContextWindowExceeded/i,
  /longer than .{0,40}\bcontext\b/i,
  /prompt.{0,40} too l(?:ong|arge)|input (?:is|was) too long/i,
  /prompt.{0,60}\bexceeds?\b/i,
  /input token count .{0,40}exceed|exceeds the maximum number of tokens/i,
  /too many (?:input )?tokens|\binputs\b.{0,60}(?:<=|less than)/i,
];

/** Statuses of such errors. llama.cpp and Ollama have answered with 500. */
const tooLongStatuses: ReadonlySet<number> = new Set([400, 413, 422, 500]);

/** Whether a request was refused because of the length of its prompt. */
function isTooLong(status: number, text: string): boolean {
  return tooLongStatuses.has(status) && tooLongPhrases.some((phrase) => phrase.test(text));
}

/** A list of invalid members, as servers with FastAPI respond: `{loc: ["body", …], msg}`. */
function readFindings(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return undefined;
  const texts = detail.flatMap((one) => {
    const { loc, msg } = asRecord(one) ?? {};
    return typeof msg === "string" ? [Array.isArray(loc) ? `${loc.slice(1).map(toText).join(".")}: ${msg}` : msg] : [];
  });
  return texts.join("; ") || undefined;
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : undefined;
}

function firstText(...values: unknown[]): string | undefined {
  return values.find((value) => typeof value === "string" && value !== "") as string | undefined;
}
