/**
 * What a translation of a request leaves out.
 * @module
 */
import type { ChatCompletionRequest, RequestBody } from "../../src/contracts/openai.ts";

/** Parameters that every translation reads, or the engine itself. */
const translated: ReadonlySet<string> = /* @__PURE__ */ new Set([
  ...["model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "stop", "n"],
  ...["tools", "tool_choice", "parallel_tool_calls", "response_format"],
]);

/**
 * The parameters that a request carries and its translation does not, to be reported to `CallOptions.reportDropped`.
 *
 * @param body The request.
 * @param carried Of the parameters that not every translation reads: those that this one may carry, and whether it
 * does.
 *
 * @example
 * ```ts ignore
 * leftOut({ messages, temperature: 1, store: true }, { temperature: true }); // ["store"]
 * ```
 */
export function leftOut(body: ChatCompletionRequest, carried: Readonly<Record<string, boolean>>): string[] {
  return leftOutBeside(body, translated).filter((name) => !(Object.hasOwn(carried, name) && carried[name]));
}

/**
 * The parameters that a request carries beside those that its translation knows.
 *
 * @param body The request.
 * @param known Parameters that the translation carries, or the engine reads.
 */
export function leftOutBeside(body: RequestBody, known: ReadonlySet<string>): string[] {
  return Object.keys(body).filter((name) => !known.has(name) && asksForSomething(body[name]));
}

function asksForSomething(value: unknown): boolean {
  const isEmpty = value === "" || (Array.isArray(value) && value.length === 0);
  return value !== undefined && value !== null && value !== false && !isEmpty;
}
