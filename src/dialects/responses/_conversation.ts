/**
 * Converts input items to chat messages. In Responses, one turn of a model consists of several items; in chat it is one
 * message. Tool results follow the message with their calls.
 * @module
 */
import type { ChatMessage, ContentPart, JsonObject, ToolCall } from "../../contracts/openai.ts";
import { checkCount, invalid, missing, wrongType } from "../../pipeline/check_body.ts";
import { appendAll } from "../../util/append_all.ts";
import { isObject } from "../../util/is_object.ts";
import { Queue } from "../../util/queue.ts";
import { addDetails } from "../../util/reasoning_details.ts";
import type { ResponsesNativeOnly } from "./_native_only.ts";
import { findCalledTool, type NamedTool } from "./_call_kinds.ts";
import { detailsIn, statesIn } from "./_carried.ts";
import {
  type AssistantContent,
  assistantContent,
  inputParts,
  quoteValue,
  readStringAt,
  requireContentText,
} from "./_content.ts";
import { describeItem, isSealed } from "./_foreign_items.ts";
import { addUnmatched, type CallResult, isCallResult, readCallResult } from "./_results.ts";
import type { ToolTable } from "./_tool_table.ts";
import { toText } from "../../util/to_text.ts";

const itemKinds =
  "message, reasoning, image_generation_call, and calls of tools that the client runs with their outputs";

/** The context of a conversation in its request. */
interface ConversationContext {
  /** Collects what chat cannot express. */
  readonly nativeOnly: ResponsesNativeOnly;
  /** The tools of the request. */
  readonly table: ToolTable;
}

/**
 * Converts a conversation.
 *
 * @param instructions The system prompt.
 * @param input The `input` of the request.
 * @throws {UnsupportedRequestError} If it is malformed.
 */
export function convertInput(instructions: unknown, input: unknown, context: ConversationContext): ChatMessage[] {
  const conversation = new ResponsesConversation(checkItems(input, context.nativeOnly), context);
  const messages = conversation.read();
  if (typeof instructions === "string" && instructions !== "") {
    return [{ role: "system", content: instructions }, ...messages];
  }
  return messages;
}

function checkItems(input: unknown, nativeOnly: ResponsesNativeOnly): readonly JsonObject[] {
  if (input === undefined || input === null) {
    if (nativeOnly.isStored) return [];
    throw missing("input");
  }
  if (typeof input !== "string" && !Array.isArray(input)) {
    throw wrongType("input", "a string or an array of items", input);
  }
  if (input.length === 0 && !nativeOnly.isStored) {
    throw invalid('"input" is empty: send a string or at least one item', "input");
  }
  if (typeof input === "string") return [{ role: "user", content: input }];
  checkCount(input, "input");
  input.forEach((item, index) => {
    if (!isObject(item)) throw wrongType(`input[${index}]`, "an object", item);
  });
  return input;
}

/** The output of a model in one turn, so far. */
interface ResponsesTurn extends AssistantContent {
  /** What other vendors' items say. */
  readonly notes: string[];
  readonly thoughts: string[];
  readonly details: JsonObject[];
  readonly images: JsonObject[];
  readonly calls: ToolCall[];
}

class ResponsesConversation {
  readonly #items: readonly JsonObject[];
  readonly #beyond: ResponsesNativeOnly;
  readonly #table: ToolTable;
  readonly #messages: ChatMessage[] = [];
  /** Results without a call yet, by call id, in order. */
  readonly #results = new Map<string, Queue<CallResult>>();
  /** Vendor-specific state, by call id. */
  readonly #states: Readonly<Record<string, JsonObject>>;
  /** Ids of calls by the ids of their items, to which results of the local shell refer. */
  readonly #callIds = new Map<unknown, unknown>();
  #turn: ResponsesTurn | undefined;
  /** Images and files of results, which chat accepts only in user messages. */
  #files: ContentPart[] = [];

  constructor(items: readonly JsonObject[], { nativeOnly, table }: ConversationContext) {
    this.#items = items;
    this.#beyond = nativeOnly;
    this.#table = table;
    this.#states = statesIn(items);
  }

  read(): ChatMessage[] {
    this.#items.forEach(({ type, id, call_id }) => {
      if (type === "local_shell_call" && typeof id === "string") this.#callIds.set(id, call_id);
    });
    this.#items.forEach((item, index) => this.#noteResult(item, index));
    this.#items.forEach((item, index) => this.#add(item, `input[${index}]`));
    this.#endTurn();
    this.#addFiles([]);
    const unmatched = [...this.#results.values()].find(({ length }) => length > 0)?.first;
    if (unmatched !== undefined && !this.#beyond.isStored) addUnmatched(unmatched, this.#beyond);
    return this.#messages.length > 0 ? this.#messages : [{ role: "user", content: "" }];
  }

  #noteResult(item: JsonObject, index: number): void {
    if (!isCallResult(item)) return;
    const { call_id = this.#callIds.get(item.id) ?? item.id } = item;
    const result = readCallResult({ ...item, call_id }, index, this.#beyond);
    const waiting = this.#results.get(result.id) ?? new Queue();
    waiting.push(result);
    this.#results.set(result.id, waiting);
  }

  #add(item: JsonObject, where: string): void {
    switch (item.type ?? (item.role === undefined ? undefined : "message")) {
      case "message":
        return this.#addMessage(item, where);
      case "reasoning":
        return this.#addThoughts(item, where);
      case "image_generation_call":
        return this.#addImage(item, where);
      case "item_reference":
        return this.#beyond.addStored(where, {
          what: "refers to an item that the provider stores",
          instead: 'send the item itself (clients do with "store": false)',
        });
      case undefined:
        throw missing(`${where}.type`);
      default:
        return this.#addVendorItem(item, where);
    }
  }

  /** Adds a call, or an item of one vendor. */
  #addVendorItem(item: JsonObject, where: string): void {
    if (isCallResult(item)) return this.#endTurn(); // it already follows its call
    const isHosted = item.type === "tool_search_call" && typeof item.call_id !== "string";
    const tool = isHosted ? undefined : findCalledTool(item, where);
    if (tool !== undefined) return void this.#open().calls.push(this.#toToolCall(tool, item, where));
    const state = typeof item.id === "string" ? this.#states[item.id] : undefined;
    const text = describeItem(item, state);
    if (text === undefined) {
      return this.#beyond.addLack(`${where}.type`, {
        what: `is ${quoteValue(item.type)}`,
        instead: `use ${itemKinds}`,
      });
    }
    if (isSealed(item)) this.#beyond.prefer();
    if (text === "") return;
    if (this.#turn?.text && this.#turn.calls.length === 0) this.#endTurn();
    this.#open().notes.push(text);
  }

  #addMessage({ role, content }: JsonObject, where: string): void {
    const at = `${where}.content`;
    switch (role) {
      case "user":
        this.#endTurn();
        return this.#addFiles(inputParts(content, at, this.#beyond), true);
      case "system":
      case "developer":
        this.#endTurn();
        this.#addFiles([]);
        this.#messages.push({ role: "system", content: requireContentText(content, at, this.#beyond) });
        return;
      case "assistant": {
        const added = assistantContent(content, at, this.#beyond);
        // a model may continue the turn after its calls
        if (this.#turn !== undefined && this.#turn.calls.length === 0 && (this.#turn.text || this.#turn.refusal)) {
          this.#endTurn();
        }
        const turn = this.#open();
        this.#turn = { ...turn, text: turn.text + added.text, refusal: turn.refusal + added.refusal };
        return;
      }
      default:
        return this.#addRole(role, `${where}.role`);
    }
  }

  #addRole(role: unknown, where: string): void {
    if (role === undefined) throw missing(where);
    if (typeof role !== "string") throw wrongType(where, "a string", role);
    this.#beyond.add(
      where,
      `"${where}" is ${quoteValue(role)}, and has to be "user", "assistant", "system" or "developer"; ` +
        "the result of a tool is an item of the type function_call_output",
    );
  }

  #addThoughts(item: JsonObject, where: string): void {
    const { summary, content } = item;
    const details = detailsIn(item);
    if (Array.isArray(details)) addDetails(this.#open().details, details);
    for (const [name, parts] of Object.entries({ summary, content })) {
      if (parts === undefined || parts === null) continue;
      if (!Array.isArray(parts)) throw wrongType(`${where}.${name}`, "an array", parts);
      for (const part of parts) {
        const text = isObject(part) ? part.text : undefined;
        if (typeof text === "string" && text !== "") this.#open().thoughts.push(text);
      }
    }
  }

  #addImage({ id, result, output_format: format = "png" }: JsonObject, where: string): void {
    if (typeof result !== "string" || result === "") {
      return this.#beyond.addLack(where, { what: "is an image without its content", instead: "send its result" });
    }
    const state = typeof id === "string" ? this.#states[id] : undefined;
    const { images } = this.#open();
    const image_url = { url: `data:image/${toText(format)};base64,${result}` };
    images.push({ type: "image_url", image_url, index: images.length, ...(state && { extra_content: state }) });
  }

  #toToolCall(tool: NamedTool, item: JsonObject, where: string): ToolCall {
    const id = readStringAt(item, "call_id", where);
    const state = this.#states[id];
    return {
      id,
      type: "function",
      function: { name: this.#table.toChatName(tool), arguments: tool.kind.toArguments(item, where) },
      ...(state === undefined ? {} : { extra_content: state }),
    };
  }

  #open(): ResponsesTurn {
    if (this.#turn === undefined) this.#addFiles([]);
    return this.#turn ??= { text: "", refusal: "", notes: [], thoughts: [], details: [], images: [], calls: [] };
  }

  #endTurn(): void {
    if (this.#turn === undefined) return;
    const { text: written, refusal, notes, thoughts, details, images, calls } = this.#turn;
    this.#turn = undefined;
    const text = notes.length === 0 ? written : [...notes, ...written === "" ? [] : [written]].join("\n\n");
    if (text === "" && refusal === "" && images.length === 0 && calls.length === 0) return; // reasoning without output
    this.#messages.push({
      role: "assistant",
      content: text === "" && (calls.length > 0 || refusal !== "") ? null : text,
      ...(refusal === "" ? {} : { refusal }),
      ...(thoughts.length === 0 ? {} : { reasoning_content: thoughts.join("\n\n") }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
      ...(images.length === 0 ? {} : { images }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    });
    const results = calls.flatMap(({ id }) => this.#takeResult(id));
    for (const { message, files } of results.sort((first, second) => first.index - second.index)) {
      this.#messages.push(message);
      appendAll(this.#files, files);
    }
  }

  #takeResult(id: string): CallResult[] {
    const result = this.#results.get(id)?.shift();
    if (result !== undefined) return [result];
    if (!this.#beyond.isStored) {
      const call = quoteValue(id);
      this.#beyond.add("input", `"input" has no function_call_output for the call ${call}: send its result as well`);
    }
    return [];
  }

  /** Adds a user message, after the images and files of preceding results. */
  #addFiles(parts: readonly ContentPart[], isMessage = false): void {
    const all = [...this.#files, ...parts];
    this.#files = [];
    if (all.length > 0 || isMessage) this.#messages.push({ role: "user", content: simplifyContent(all) });
  }
}

/** A single text part is sent as a string: some APIs accept parts only together with images. */
function simplifyContent(parts: ContentPart[]): string | ContentPart[] {
  if (parts.length === 0) return "";
  return parts.length === 1 && parts[0]!.type === "text" ? parts[0]!.text! : parts;
}
