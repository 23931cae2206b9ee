/**
 * Adapts the tool calls of a conversation to a model: the order of messages around results, and arguments.
 * @module
 */
import type { ChatMessage } from "../../contracts/openai.ts";
import type { ParameterRules } from "../../contracts/provider.ts";
import { findObject, parseArguments } from "../../util/call_arguments.ts";
import { mapItems, mapMembers } from "../../util/map_members.ts";
import { withDistinctIds } from "./_chat_call_ids.ts";

/** Stands between the results of tools and a user message. */
const acknowledgement: ChatMessage = { role: "assistant", content: "OK." };

/**
 * Inserts an assistant message where a user message follows results, and replaces repeated ids of calls and arguments
 * that are not a JSON object, as the model's rules require.
 *
 * @returns The same list if nothing changes.
 */
export function withCalls(
  messages: ChatMessage[],
  { user_after_tool: mayFollow, invalid_arguments: mayBeInvalid, repeated_call_ids: mayRepeat }: Pick<
    ParameterRules,
    "user_after_tool" | "invalid_arguments" | "repeated_call_ids"
  >,
): ChatMessage[] {
  const ordered = mayFollow === false && messages.some(followsResult) ? messages.flatMap(separated) : messages;
  const distinct = mayRepeat === false ? withDistinctIds(ordered) : ordered;
  return mayBeInvalid === false ? mapItems(distinct, withArguments) as ChatMessage[] : distinct;
}

function followsResult({ role }: ChatMessage, index: number, messages: readonly ChatMessage[]): boolean {
  return role !== "tool" && role !== "assistant" && messages[index - 1]?.role === "tool";
}

function separated(message: ChatMessage, index: number, messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return followsResult(message, index, messages) ? [acknowledgement, message] : [message];
}

function withArguments(message: unknown): unknown {
  const inFunction = (fn: unknown) => mapMembers(fn, { arguments: toValid });
  return mapMembers(message, {
    tool_calls: (calls) => mapItems(calls, (call) => mapMembers(call, { function: inFunction })),
    function_call: inFunction,
  });
}

function toValid(value: unknown): unknown {
  const isValid = typeof value === "string" && findObject(value) !== undefined;
  return isValid ? value : JSON.stringify(parseArguments(value));
}
