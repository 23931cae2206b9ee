/**
 * Carries Claude's signed thinking blocks through OpenAI's shape. They are attached to the tool call that they precede,
 * as `extra_content.anthropic`, and must be sent back unchanged and in the same position.
 * @module
 */
import type { JsonObject, ToolCall } from "../../src/contracts/openai.ts";

/** A content block of the Messages API. */
export interface Block extends JsonObject {
  /** `text`, `thinking`, `tool_use`, … */
  type: string;
}

/** A `thinking` or `redacted_thinking` block, and its position in the text. */
export interface Thought {
  /** The block, unchanged. */
  readonly block: Block;
  /** Number of characters of the response text before it. */
  readonly textBefore: number;
}

/**
 * The `extra_content` of a tool call, with the thinking blocks before it.
 *
 * @param thoughts The blocks since the previous call.
 * @returns Undefined if there are none.
 */
export function carryThoughts(thoughts: readonly Thought[]): JsonObject | undefined {
  if (thoughts.length === 0) return undefined;
  const positions = thoughts.map(({ textBefore }) => textBefore);
  return {
    anthropic: {
      thinking_blocks: thoughts.map(({ block }) => block),
      ...(positions.every((position) => position === 0) ? {} : { text_before: positions }),
    },
  };
}

/**
 * The thinking blocks attached to a tool call. Those of other vendors, and invalid ones, are dropped.
 *
 * @param call A tool call of an assistant message.
 */
export function readThoughts({ extra_content }: ToolCall): readonly Thought[] {
  const own = extra_content?.anthropic as { thinking_blocks?: unknown; text_before?: unknown } | null | undefined;
  if (!Array.isArray(own?.thinking_blocks)) return [];
  const positions = Array.isArray(own.text_before) ? own.text_before : [];
  return own.thinking_blocks.flatMap((value, index) => {
    const block = thoughtBlock(value);
    return block === undefined ? [] : [{ block, textBefore: Number(positions[index] ?? 0) || 0 }];
  });
}

/**
 * A thinking block in the form that the API accepts back.
 *
 * @param value A block of a response or of `extra_content`.
 * @returns Undefined if it is not a signed thinking block.
 */
export function thoughtBlock(value: unknown): Block | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { type, thinking, signature, data } = value as JsonObject;
  if (type === "thinking" && typeof thinking === "string" && typeof signature === "string" && signature !== "") {
    return { type, thinking, signature };
  }
  return type === "redacted_thinking" && typeof data === "string" ? { type, data } : undefined;
}
