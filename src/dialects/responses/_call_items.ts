/**
 * Items of tool calls in the output of a response.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { customCalls, functionCalls, type NamedTool } from "./_call_kinds.ts";

/** A call that a model is writing. */
export interface OpenCall {
  readonly tool: NamedTool;
  readonly index: number;
  readonly item: JsonObject & { id: string };
  /** The arguments so far. */
  text: string;
}

/** An item without arguments. */
export function startCallItem(
  { kind, name, namespace }: NamedTool,
  { id, callId }: { readonly id: string; readonly callId: string },
): OpenCall["item"] {
  return {
    id,
    type: kind.itemType,
    status: "in_progress",
    ...kind.toMembers(""),
    call_id: callId,
    ...(kind.isNamed ? { name } : {}),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/**
 * Adds text to the arguments of a call.
 *
 * @returns The event for it; undefined if such calls have none, or if it waits for the complete arguments.
 */
export function addCallText(call: OpenCall, delta: string): readonly [type: string, event: JsonObject] | undefined {
  call.text += delta;
  if (call.tool.kind !== functionCalls) return undefined;
  call.item.arguments = call.text;
  return ["response.function_call_arguments.delta", { ...locateCall(call), delta }];
}

/** Completes an item; returns its events. */
export function endCallItem(call: OpenCall): readonly (readonly [type: string, event: JsonObject])[] {
  const { tool: { kind }, item, text } = call;
  const location = locateCall(call);
  Object.assign(item, kind.toMembers(text));
  if (kind === functionCalls) {
    const { name } = item;
    return [["response.function_call_arguments.done", { ...location, name, arguments: text }]];
  }
  if (kind !== customCalls) return [];
  const { input } = item;
  return [
    ["response.custom_tool_call_input.delta", { ...location, delta: input }],
    ["response.custom_tool_call_input.done", { ...location, input }],
  ];
}

function locateCall({ index, item }: Pick<OpenCall, "index" | "item">): JsonObject {
  return { item_id: item.id, output_index: index };
}
