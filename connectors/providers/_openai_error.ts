/**
 * Error responses in OpenAI's dialect.
 * @module
 */
import type { OpenAiError } from "../../src/contracts/openai.ts";

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
  return {
    message: firstText(inner.message, inner.detail, outer?.detail) ?? `HTTP status ${status}`,
    type: typeof inner.type === "string" ? inner.type : "",
    param: typeof inner.param === "string" ? inner.param : null,
    code: typeof code === "string" ? code : null,
  };
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : undefined;
}

function firstText(...values: unknown[]): string | undefined {
  return values.find((value) => typeof value === "string" && value !== "") as string | undefined;
}
