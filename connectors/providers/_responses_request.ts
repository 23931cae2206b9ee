/**
 * Translates chat requests to requests of the Responses API. Nothing is stored at the vendor: the conversation is sent as
 * items, with the encrypted reasoning that earlier responses carry.
 *
 * Source: OpenAI REST API reference, document version 2.3.0: `CreateResponse`, `InputItem`.
 * @module
 */
import type { ChatMessage, JsonObject, ToolCall } from "../../src/contracts/openai.ts";
import type { CompletionRequest } from "../../src/contracts/provider.ts";
import { appendAll } from "../../src/util/append_all.ts";
import { findOwn } from "../../src/util/entries.ts";
import { isObject } from "../../src/util/is_object.ts";
import { toText } from "../../src/util/to_text.ts";

/** Minimum of `max_output_tokens` in the API; chat has none. */
const minOutputTokens = 16;

/** The vendor's encrypted reasoning, which is requested always, since nothing is stored. */
const encryptedReasoning = "reasoning.encrypted_content";

/**
 * Translates a request.
 *
 * @param request The chat request, adapted to the model.
 * @param vendor The vendor's short name: only state that it has created is sent back.
 */
export function toResponsesRequest(
  { model, stream, body }: Pick<CompletionRequest, "model" | "stream" | "body">,
  vendor: string,
): JsonObject {
  const { messages, stream: _, ...members } = body;
  const sent: JsonObject = { model: model.id, input: toInputItems(messages, vendor) };
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined || name === "model") continue;
    const translate = findOwn(translatedMembers, name);
    if (translate === undefined) sent[name] = value;
    else translate(value, sent);
  }
  if (stream) sent.stream = true;
  // a model without reasoning rejects the request for it
  const include = model.features?.reasoning === false ? [] : [encryptedReasoning];
  return { ...sent, store: false, include: [...include, ...sent.include as readonly string[] ?? []] };
}

/** Adds a member of chat, under the name that it has in Responses. */
type Translate = (value: unknown, sent: JsonObject) => void;

const limit: Translate = (value, sent) => {
  if (typeof value === "number") sent.max_output_tokens = Math.max(minOutputTokens, value);
};

/** Members that differ. All others are the same, or unknown, and sent as they came. */
const translatedMembers: Readonly<Record<string, Translate>> = {
  store() {},
  include() {},
  max_tokens: limit,
  max_completion_tokens: limit,
  tools(value, sent) {
    sent.tools = Array.isArray(value) ? value.map(toTool) : value;
  },
  tool_choice(value, sent) {
    sent.tool_choice = toToolChoice(value);
  },
  reasoning_effort(effort, sent) {
    if (effort !== null) addTo(sent, "reasoning", { effort });
  },
  reasoning(value, sent) {
    if (isObject(value)) addTo(sent, "reasoning", value);
  },
  verbosity(verbosity, sent) {
    if (verbosity !== null) addTo(sent, "text", { verbosity });
  },
  response_format(format, sent) {
    const { type, json_schema: schema } = Object(format);
    if (type === "json_schema") addTo(sent, "text", { format: { type, ...Object(schema) } });
    else if (isObject(format) && type !== "text") addTo(sent, "text", { format });
  },
  logprobs(value, sent) {
    if (value === true) sent.include = ["message.output_text.logprobs"];
  },
  stream_options(value, sent) {
    if (!isObject(value)) return;
    const { include_usage: _, ...rest } = value; // usage is always reported
    if (Object.keys(rest).length > 0) sent.stream_options = rest;
  },
};

function addTo(sent: JsonObject, name: string, members: JsonObject): void {
  sent[name] = { ...Object(sent[name]), ...members };
}

/** Functions and custom tools are flat in Responses. Schemas are strict there by default, and are not in chat. */
function toTool(tool: unknown): unknown {
  if (!isObject(tool)) return tool;
  const { type, function: fn, custom, ...rest } = tool;
  if (type === "function" && isObject(fn)) {
    const { parameters, strict } = fn;
    return { ...rest, type, ...fn, parameters: parameters ?? emptySchema, strict: strict ?? false };
  }
  if (type !== "custom" || !isObject(custom)) return tool;
  const { grammar, ...format } = Object(custom.format);
  return { ...rest, type, ...custom, ...("format" in custom && { format: { ...format, ...Object(grammar) } }) };
}

const emptySchema: JsonObject = { type: "object", properties: {} };

function toToolChoice(choice: unknown): unknown {
  if (!isObject(choice)) return choice;
  const { type, allowed_tools: allowed } = choice;
  if (type === "allowed_tools" && isObject(allowed)) {
    const { mode, tools } = allowed;
    return { type, mode, tools: Array.isArray(tools) ? tools.map(toToolChoice) : tools };
  }
  const named = choice[toText(type)];
  return isObject(named) ? { type, name: named.name } : choice;
}

/**
 * Translates a conversation.
 *
 * @param messages The messages, oldest first.
 * @param vendor The vendor's short name.
 */
function toInputItems(messages: readonly ChatMessage[], vendor: string): JsonObject[] {
  const customCalls = new Set<unknown>();
  return messages.flatMap((message): JsonObject[] => {
    const { role, content, tool_call_id: call_id } = message;
    if (role === "assistant") {
      for (const { id, type } of listCalls(message)) if (type as string === "custom") customCalls.add(id);
      return toTurnItems(message, vendor);
    }
    const parts = Array.isArray(content) ? content.map(toInputPart) : content ?? "";
    if (role !== "tool") return [{ type: "message", role, content: parts }];
    const type = customCalls.has(call_id) ? "custom_tool_call_output" : "function_call_output";
    return [{ type, call_id, output: parts }];
  });
}

function toInputPart(part: unknown): unknown {
  if (!isObject(part)) return part;
  const { type, text, image_url, file, ...rest } = part;
  if (type === "text") return { ...rest, type: "input_text", text };
  if (type === "file") return { ...rest, type: "input_file", ...Object(file) };
  if (type !== "image_url") return part;
  const { url, detail = "auto" } = isObject(image_url) ? image_url : { url: image_url };
  return { ...rest, type: "input_image", image_url: url, detail };
}

function listCalls({ tool_calls: calls }: ChatMessage): readonly ToolCall[] {
  return Array.isArray(calls) ? calls.filter(isObject) as unknown as ToolCall[] : [];
}

/** The items of one turn of the model, in the order in which it has created them. */
function toTurnItems(message: ChatMessage, vendor: string): JsonObject[] {
  const { text, refusal } = readTurnText(message);
  const calls = listCalls(message).map((call) => ({ call, state: readItemState(call, vendor) }));
  const placed = calls.flatMap(({ state }) => state.filter(isPlacedText));
  let written = placed[0]?.start ?? text.length;
  const items = toMessageItems(text.slice(0, written), placed.length === 0 ? refusal : "");
  for (const { call, state } of calls) {
    for (const item of state) {
      if (!isPlacedText(item)) {
        items.push(item);
        continue;
      }
      const start = Math.max(written, item.start);
      written = Math.max(written, item.end);
      appendAll(items, toMessageItems(text.slice(start, written), "", item.phase));
    }
    items.push(toCallItem(call));
  }
  return placed.length === 0 ? items : [...items, ...toMessageItems(text.slice(written), refusal)];
}

/** Text and refusal of an assistant message; both may be parts of its content. */
function readTurnText({ content, refusal }: ChatMessage): { readonly text: string; readonly refusal: string } {
  if (!Array.isArray(content)) return { text: toText(content), refusal: toText(refusal) };
  const join = (name: "text" | "refusal") => content.map((part) => toText(Object(part)[name])).join("");
  return { text: join("text"), refusal: toText(refusal) + join("refusal") };
}

function toMessageItems(text: string, refusal: string, phase?: string): JsonObject[] {
  const content = [
    ...(text === "" ? [] : [{ type: "output_text", text, annotations: [] }]),
    ...(refusal === "" ? [] : [{ type: "refusal", refusal }]),
  ];
  if (content.length === 0) return [];
  return [{ type: "message", role: "assistant", content, ...(phase === undefined ? {} : { phase }) }];
}

function toCallItem({ id: call_id, type, function: fn, ...rest }: ToolCall): JsonObject {
  const { custom } = rest as JsonObject;
  if (type as string === "custom" && isObject(custom)) {
    return { type: "custom_tool_call", call_id, name: custom.name, input: custom.input };
  }
  return { type: "function_call", call_id, name: fn?.name, arguments: fn?.arguments };
}

/** A part of the text of a turn, and where it stands among its items. */
interface PlacedText {
  readonly type: "message";
  /** The first character, and that after the last one. */
  readonly start: number;
  readonly end: number;
  /** Whether it is commentary or the final answer, if the model distinguishes them. */
  readonly phase?: string;
}

/** State that precedes a call: items of reasoning, as the vendor accepts them, and texts. */
type ItemState = readonly (JsonObject | PlacedText)[];

function isPlacedText(item: JsonObject | PlacedText): item is PlacedText {
  return item.type === "message";
}

/** The `extra_content` of a call, with the items before it. */
export function carryItems(vendor: string, items: ItemState): JsonObject {
  return { [vendor]: { items } };
}

/** Reads the items that a call carries. Those of other vendors, and damaged ones, are dropped. */
function readItemState({ extra_content: state }: ToolCall, vendor: string): ItemState {
  const own = isObject(state) ? state[vendor] : undefined;
  const items = isObject(own) && Array.isArray(own.items) ? own.items.filter(isObject) : [];
  return items.flatMap((item): ItemState => {
    const { type, start, end, phase } = item;
    if (type === "reasoning") return toReasoningItem(item) ?? [];
    if (type !== "message" || !Number.isSafeInteger(start) || !Number.isSafeInteger(end)) return [];
    const placed = { type, start: Math.max(0, start as number), end: end as number } as const;
    return [typeof phase === "string" ? { ...placed, phase } : placed];
  });
}

/**
 * Converts a reasoning item of a response to the form in which the API accepts it.
 *
 * @returns Undefined without encrypted content: the vendor has not stored the item, so its id means nothing.
 */
export function toReasoningItem({ id, summary, encrypted_content }: JsonObject): [JsonObject] | undefined {
  if (typeof encrypted_content !== "string" || encrypted_content === "") return undefined;
  const parts = Array.isArray(summary) ? summary.filter(isObject) : [];
  const texts = parts.map(({ text }) => ({ type: "summary_text", text: toText(text) }));
  return [{ type: "reasoning", ...(typeof id === "string" && { id }), summary: texts, encrypted_content }];
}
