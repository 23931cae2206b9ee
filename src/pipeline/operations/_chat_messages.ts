/**
 * Adapts the instructions of a conversation, `system` and `developer` messages, to a model.
 * @module
 */
import type { ChatCompletionRequest, ChatMessage, ContentPart, JsonObject } from "../../contracts/openai.ts";
import type { ParameterRules } from "../../contracts/provider.ts";
import { toText } from "../../util/to_text.ts";
import { isObject } from "../../util/is_object.ts";

/** Separates joined instructions. */
const separator = "\n\n";

/**
 * Sends `developer` messages as `system`, and joins instructions at the start, as the model's rules require.
 *
 * @returns The same list if nothing changes.
 */
export function withInstructions(
  messages: ChatMessage[],
  { developer_role: hasDeveloper, system }: Pick<ParameterRules, "developer_role" | "system">,
): ChatMessage[] {
  if (!Array.isArray(messages)) return messages;
  const renames = hasDeveloper === false && messages.some((message) => message?.role === "developer");
  const renamed = renames
    ? messages.map((message) => message?.role === "developer" ? { ...message, role: "system" as const } : message)
    : messages;
  return system === "first" ? joined(renamed) : renamed;
}

function joined(messages: ChatMessage[]): ChatMessage[] {
  const instructions = messages.filter(isInstruction);
  const isAlone = instructions.length === 1 && instructions[0] === messages[0];
  if (instructions.length === 0 || isAlone) return messages;
  const [first, ...others] = instructions;
  const content = others.length === 0 ? first!.content : joinedContent(instructions);
  return [{ ...first!, content } as ChatMessage, ...messages.filter((message) => !isInstruction(message))];
}

function isInstruction(message: ChatMessage): boolean {
  return message?.role === "system" || message?.role === "developer";
}

/** Texts become one text; parts are kept, in order. */
function joinedContent(instructions: readonly ChatMessage[]): ChatMessage["content"] {
  const contents = instructions.map(({ content }) => content).filter((content) => content !== "" && content != null);
  if (!contents.some(Array.isArray)) return contents.join(separator);
  return contents.flatMap((content): readonly ContentPart[] =>
    Array.isArray(content) ? content : [{ type: "text" as const, text: toText(content) }]
  );
}

/**
 * Moves the cache marker of a message to its last content part, or to its last tool call if it has no content: models
 * expect it there.
 *
 * @returns The same list if no message has one.
 */
export function withPlacedMarks(messages: ChatMessage[]): ChatMessage[] {
  return messages.some(isMarkedItself)
    ? messages.map((message) => isMarkedItself(message) ? withPlacedMark(message) : message)
    : messages;
}

function isMarkedItself(message: unknown): boolean {
  return isObject(message) && "cache_control" in message;
}

function withPlacedMark({ cache_control, ...message }: ChatMessage): ChatMessage {
  const { content, tool_calls: calls } = message;
  const parts = typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : content;
  if (cache_control === null) return message;
  const [name, list] = Array.isArray(parts) && parts.length > 0 ? ["content", parts] : ["tool_calls", calls];
  if (!Array.isArray(list) || !isObject(list.at(-1))) return message;
  return { ...message, [name]: [...list.slice(0, -1), { ...list.at(-1), cache_control }] };
}

/**
 * Removes the cache markers of a request, its messages, parts, tool calls and tools.
 *
 * @param body The client's request.
 * @returns The members that differ; undefined for a removed member.
 */
export function withoutCacheControl(body: ChatCompletionRequest): JsonObject {
  const edits: JsonObject = "cache_control" in body ? { cache_control: undefined } : {};
  for (const name of ["messages", "tools"]) {
    const list = body[name];
    if (Array.isArray(list) && list.some(isMarked)) edits[name] = list.map(unmarked);
  }
  return edits;
}

/** Members of messages and tools that may be marked themselves. */
const markable: readonly string[] = ["content", "tool_calls", "function"];

function isMarked(value: unknown): value is JsonObject {
  if (!isObject(value)) return false;
  const isMarkedAt = (name: string) => Array.isArray(value[name]) ? value[name].some(isMarked) : isMarked(value[name]);
  return "cache_control" in value || markable.some(isMarkedAt);
}

function unmarked(value: unknown): unknown {
  if (!isMarked(value)) return value;
  const { cache_control: _, ...rest } = value;
  for (const name of markable) {
    const member = rest[name];
    if (Array.isArray(member)) rest[name] = member.map(unmarked);
    else if (isMarked(member)) rest[name] = unmarked(member);
  }
  return Array.isArray(rest.content)
    ? { ...rest, content: toPlainContent(rest.content, rest.role) || rest.content }
    : rest;
}

/**
 * Content that consists of one text part, only to carry a marker, becomes a string: not every API accepts parts. Those
 * of instructions are joined.
 */
function toPlainContent(parts: readonly unknown[], role: unknown): string | undefined {
  const isJoined = role === "system" || role === "developer";
  const texts = parts.flatMap((part) => isObject(part) && typeof part.text === "string" ? part.text : []);
  return texts.length === parts.length && (isJoined || texts.length === 1) ? texts.join("\n\n") : undefined;
}

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
