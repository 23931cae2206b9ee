/**
 * Usage in responses of the Responses API.
 *
 * Source: OpenAI REST API reference: `Response.usage`, `Response.tool_usage`, items of `Response.output`.
 * @module
 */
import type { CompletionUsage } from "../contracts/openai.ts";
import type { BilledUsage } from "../contracts/usage.ts";
import { isObject } from "./is_object.ts";

/** Calls of tools that the vendor runs, other than searches. */
const hostedCalls: ReadonlySet<unknown> = new Set([
  ...["file_search_call", "code_interpreter_call", "image_generation_call", "shell_call"],
]);

/** Converts usage to that of chat completions; undefined if there is none. */
export function toChatUsage(usage: unknown): CompletionUsage | undefined {
  if (!isObject(usage)) return undefined;
  const { input_tokens, output_tokens, total_tokens, input_tokens_details, output_tokens_details } = usage;
  return {
    prompt_tokens: input_tokens as number,
    completion_tokens: output_tokens as number,
    total_tokens: total_tokens as number,
    ...(isObject(input_tokens_details) ? { prompt_tokens_details: input_tokens_details } : {}),
    ...(isObject(output_tokens_details) ? { completion_tokens_details: output_tokens_details } : {}),
  };
}

/**
 * Counts what a response bills besides tokens: searches, and calls of other tools that the vendor runs. Opening a page
 * that a search has found is free of charge.
 */
export function countHostedCalls({ output, tool_usage: stated }: Readonly<Record<string, unknown>>): BilledUsage {
  const items = Array.isArray(output) ? output.filter(isObject) : [];
  const counted = items.filter(isSearch).length;
  const { num_requests: searches = counted } = Object(Object(stated).web_search);
  const toolCalls = items.filter(({ type }) => hostedCalls.has(type)).length;
  return { ...(searches > 0 && { searches }), ...(toolCalls > 0 && { toolCalls }) };
}

function isSearch({ type, action }: Readonly<Record<string, unknown>>): boolean {
  return type === "web_search_call" && (!isObject(action) || action.type === undefined || action.type === "search");
}
