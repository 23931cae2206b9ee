/**
 * Detects content in responses: it commits a stream, and an empty response has none.
 * @module
 */
import type { ChatCompletion, ChatCompletionChunk } from "../contracts/openai.ts";

const contentFields = [
  "content",
  "refusal",
  "reasoning_content",
  "reasoning",
  "tool_calls",
  "function_call",
  "audio",
  "images",
];

/** Whether an event has content: text, refusal, reasoning, tool call, audio, image, or a finish reason other than `stop`. */
export function carriesContent({ choices }: ChatCompletionChunk): boolean {
  return choices.some(({ delta, finish_reason }) => hasContent(delta) || endsForAReason(finish_reason));
}

/** Whether a complete response has no text, tool call, refusal, reasoning, audio or image, and no reason for that. */
export function isEmptyCompletion({ choices }: ChatCompletion): boolean {
  return !choices.some(({ message, finish_reason }) => hasContent(message) || endsForAReason(finish_reason));
}

function hasContent(part: Record<string, unknown> | null | undefined): boolean {
  if (part === null || part === undefined) return false;
  return contentFields.some((field) => {
    const value = part[field];
    return typeof value === "string" || Array.isArray(value) ? value.length > 0 : value !== null && value !== undefined;
  });
}

function endsForAReason(reason: string | null | undefined): boolean {
  return reason !== null && reason !== undefined && reason !== "stop";
}
