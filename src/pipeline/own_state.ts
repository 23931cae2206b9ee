/**
 * Vendor-specific state in earlier responses, such as reasoning signatures. It is passed only to models that accept it,
 * since others would reject the request.
 * @module
 */
import type { ChatMessage, JsonObject } from "../contracts/openai.ts";
import type { ParameterRules } from "../contracts/provider.ts";

/** The state of earlier responses that a model accepts. */
interface OwnState {
  /** Names in `extra_content`, and members of assistant messages. */
  readonly names: readonly string[];
  /** How it accepts reasoning; unchanged by default. */
  readonly thoughts?: ParameterRules["thoughts"];
}

/** Members of responses, in the form of one vendor or another, that some vendors reject in later requests. */
export const stateMembers: readonly string[] = ["reasoning_details", "images", "annotations"];

/** Members whose entries have `extra_content`. */
const entryLists: readonly string[] = ["tool_calls", "images", "annotations"];

/** Members in which vendors return reasoning, and some accept it. */
const thoughtMembers: readonly string[] = ["reasoning_content", "reasoning", "reasoning_details"];

/**
 * Removes the state of other vendors.
 *
 * @param own The state that the model accepts.
 * @returns The same list if there is nothing to remove.
 */
export function withOwnState(messages: ChatMessage[], own: OwnState): ChatMessage[] {
  const foreign = stateMembers.filter((name) => !own.names.includes(name));
  const hasState = (message: ChatMessage) => message?.role === "assistant" && foreign.some((name) => name in message);
  const hasForeign = (message: ChatMessage) =>
    hasForeignEntry(message, own) || hasForeignThoughts(message, own) || hasState(message);
  if (!messages.some(hasForeign)) return messages;
  return messages.map((message) => {
    let adapted = hasForeignThoughts(message, own) ? renamed(message, own) : message;
    if (hasState(adapted)) {
      adapted = { ...adapted };
      for (const name of foreign) delete adapted[name];
    }
    if (!hasForeignEntry(adapted, own)) return adapted;
    const entries = entryLists.filter((name) => name in adapted).map((
      name,
    ) => [name, withOwnEntries(adapted[name], own)]);
    return { ...adapted, ...Object.fromEntries(entries) };
  });
}

function hasForeignEntry(message: ChatMessage, own: OwnState): boolean {
  return message?.role === "assistant" &&
    entryLists.some((name) => withOwnEntries(message[name], own) !== message[name]);
}

/** Entries without the state of other vendors; the same value if there is none. */
function withOwnEntries(entries: unknown, own: OwnState): unknown {
  if (!Array.isArray(entries) || !entries.some((entry) => isForeign(entry, own))) return entries;
  return entries.map((entry) => isForeign(entry, own) ? keepOwnState(entry, own) : entry);
}

function isForeign(entry: JsonObject | null, { names }: OwnState): boolean {
  return typeof entry?.extra_content === "object" && entry.extra_content !== null &&
    Object.keys(entry.extra_content).some((key) => !names.includes(key));
}

function keepOwnState({ extra_content, ...entry }: JsonObject, { names }: OwnState): JsonObject {
  const own = Object.entries(extra_content!).filter(([key]) => names.includes(key));
  return own.length === 0 ? entry : { ...entry, extra_content: Object.fromEntries(own) };
}

function hasForeignThoughts(message: ChatMessage, { thoughts }: OwnState): boolean {
  return thoughts !== undefined && message?.role === "assistant" &&
    thoughtMembers.some((name) => name !== thoughts && name in message);
}

function renamed(message: ChatMessage, { thoughts }: OwnState): ChatMessage {
  const { reasoning_content, reasoning, reasoning_details: _, ...rest } = message;
  const own = reasoning ?? reasoning_content;
  return thoughts === "reasoning" && typeof own === "string" ? { ...rest, reasoning: own } : rest as ChatMessage;
}
