/**
 * Claude's signed thoughts on their way through OpenAI's shape. They ride on the tool call they led to, as
 * `extra_content.anthropic`, and have to come back unchanged and in their old place.
 * @module
 */
import type { JsonObject, ToolCall } from "../../src/contracts/openai.ts";

/** A content block of the Messages API. */
export interface Block extends JsonObject {
  /** `text`, `thinking`, `tool_use`, … */
  type: string;
}

/** A `thinking` or `redacted_thinking` block, and how many characters of the response's text came before it. */
export interface Thought {
  /** The block, nothing but what the API gave. */
  readonly block: Block;
  /** Characters of the response's text before it. */
  readonly textBefore: number;
}

/**
 * What a tool call carries of the thoughts ahead of it.
 *
 * @param thoughts Those since the call before.
 * @returns The call's `extra_content`; undefined when there is nothing to carry.
 */
export function carryThoughts(thoughts: readonly Thought[]): JsonObject | undefined {
  if (thoughts.length === 0) return undefined;
  const places = thoughts.map(({ textBefore }) => textBefore);
  return {
    anthropic: {
      thinking_blocks: thoughts.map(({ block }) => block),
      ...(places.every((place) => place === 0) ? {} : { text_before: places }),
    },
  };
}

/**
 * The thoughts a tool call brings back; those of another vendor, or invented ones, are left out.
 *
 * @param call A call of an assistant message.
 */
export function thoughtsOf({ extra_content }: ToolCall): readonly Thought[] {
  const own = extra_content?.anthropic as { thinking_blocks?: unknown; text_before?: unknown } | null | undefined;
  if (!Array.isArray(own?.thinking_blocks)) return [];
  const places = Array.isArray(own.text_before) ? own.text_before : [];
  return own.thinking_blocks.flatMap((value, index) => {
    const block = thoughtBlock(value);
    return block === undefined ? [] : [{ block, textBefore: Number(places[index] ?? 0) || 0 }];
  });
}

/**
 * A thought as the API takes it back.
 *
 * @param value A block of a response or of `extra_content`.
 * @returns Undefined when it is no thought, or an unsigned one.
 */
export function thoughtBlock(value: unknown): Block | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { type, thinking, signature, data } = value as JsonObject;
  if (type === "thinking" && typeof thinking === "string" && typeof signature === "string" && signature !== "") {
    return { type, thinking, signature };
  }
  return type === "redacted_thinking" && typeof data === "string" ? { type, data } : undefined;
}
