/**
 * Detects parameters that a translation drops.
 * @module
 */
import type { ChatCompletionRequest, RequestBody } from "../../src/contracts/openai.ts";

/** Parameters that every translation, or the engine itself, handles. */
const translated: ReadonlySet<string> = /* @__PURE__ */ new Set([
  ...["model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "stop", "n"],
  ...["tools", "tool_choice", "parallel_tool_calls", "response_format"],
]);

/**
 * The parameters that a translation drops, for `CallOptions.reportDropped`.
 *
 * @param supported Further parameters that this translation supports, and whether it carries each.
 *
 * @example
 * ```ts
 * droppedParams({ messages: [{ role: "user", content: "Hi" }], temperature: 1, store: true }, { temperature: true }); // ["store"]
 * ```
 */
export function droppedParams(body: ChatCompletionRequest, supported: Readonly<Record<string, boolean>>): string[] {
  return undeclaredParams(body, translated).filter((name) => !(Object.hasOwn(supported, name) && supported[name]));
}

/**
 * The parameters of a request that its translation does not know.
 *
 * @param declared Parameters that the translation or the engine handles.
 */
export function undeclaredParams(body: RequestBody, declared: ReadonlySet<string>): string[] {
  return Object.keys(body).filter((name) => !declared.has(name) && isMeaningful(body[name]));
}

function isMeaningful(value: unknown): boolean {
  const isEmpty = value === "" || (Array.isArray(value) && value.length === 0);
  return value !== undefined && value !== null && value !== false && !isEmpty;
}
