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
import { detailsIn, statesIn } from "./_carried.ts";
import {
  type AssistantContent,
  assistantContent,
  inputParts,
  quoteValue,
  readStringAt,
  requireContentText,
} from "./_content.ts";
import { toText } from "../../util/to_text.ts";

const itemKinds = "message, reasoning, image_generation_call, function_call or function_call_output";

/**
 * Converts a conversation.
 *
 * @param instructions The system prompt.
 * @param input The `input` of the request.
 * @param nativeOnly Collects what chat cannot express.
 * @throws {UnsupportedRequestError} If it is malformed.
 */
export function convertInput(instructions: unknown, input: unknown, nativeOnly: ResponsesNativeOnly): ChatMessage[] {
  const conversation = new ResponsesConversation(checkItems(input, nativeOnly), nativeOnly);
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
  readonly thoughts: string[];
  readonly details: JsonObject[];
  readonly images: JsonObject[];
  readonly calls: ToolCall[];
}

/** A tool result, and its path. */
interface Result {
  readonly index: number;
  readonly id: string;
  readonly message: ChatMessage;
  readonly files: readonly ContentPart[];
}

class ResponsesConversation {
  readonly #items: readonly JsonObject[];
  readonly #beyond: ResponsesNativeOnly;
  readonly #messages: ChatMessage[] = [];
  /** Results without a call yet, by call id, in order. */
  readonly #results = new Map<string, Queue<Result>>();
  /** Vendor-specific state, by call id. */
  readonly #states: Readonly<Record<string, JsonObject>>;
  #turn: ResponsesTurn | undefined;
  /** Images and files of results, which chat accepts only in user messages. */
  #files: ContentPart[] = [];

  constructor(items: readonly JsonObject[], nativeOnly: ResponsesNativeOnly) {
    this.#items = items;
    this.#beyond = nativeOnly;
    this.#states = statesIn(items);
  }

  read(): ChatMessage[] {
    this.#items.forEach((item, index) => this.#noteResult(item, index));
    this.#items.forEach((item, index) => this.#add(item, `input[${index}]`));
    this.#endTurn();
    this.#addFiles([]);
    const unmatched = [...this.#results.values()].find(({ length }) => length > 0)?.first;
    if (unmatched !== undefined && !this.#beyond.isStored) addUnmatched(unmatched, this.#beyond);
    return this.#messages.length > 0 ? this.#messages : [{ role: "user", content: "" }];
  }

  #noteResult(item: JsonObject, index: number): void {
    if (item.type !== "function_call_output") return;
    const result = readCallResult(item, index, this.#beyond);
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
      case "function_call":
        this.#open().calls.push(this.#toToolCall(item, where));
        return;
      case "image_generation_call":
        return this.#addImage(item, where);
      case "function_call_output":
        return this.#endTurn(); // it already follows its call
      case "item_reference":
        return this.#beyond.addStored(where, {
          what: "refers to an item that the provider stores",
          instead: 'send the item itself (clients do with "store": false)',
        });
      case undefined:
        throw missing(`${where}.type`);
      default:
        this.#beyond.addLack(`${where}.type`, { what: `is ${quoteValue(item.type)}`, instead: `use ${itemKinds}` });
    }
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

  #toToolCall(item: JsonObject, where: string): ToolCall {
    const id = readStringAt(item, "call_id", where);
    const state = this.#states[id];
    return {
      id,
      type: "function",
      function: { name: readStringAt(item, "name", where), arguments: readStringAt(item, "arguments", where) },
      ...(state === undefined ? {} : { extra_content: state }),
    };
  }

  #open(): ResponsesTurn {
    if (this.#turn === undefined) this.#addFiles([]);
    return this.#turn ??= { text: "", refusal: "", thoughts: [], details: [], images: [], calls: [] };
  }

  #endTurn(): void {
    if (this.#turn === undefined) return;
    const { text, refusal, thoughts, details, images, calls } = this.#turn;
    this.#turn = undefined;
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
    for (const { message, files } of results.sort((one, other) => one.index - other.index)) {
      this.#messages.push(message);
      appendAll(this.#files, files);
    }
  }

  #takeResult(id: string): Result[] {
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

function readCallResult(item: JsonObject, index: number, nativeOnly: ResponsesNativeOnly): Result {
  const where = `input[${index}]`;
  const id = readStringAt(item, "call_id", where);
  const parts = inputParts(item.output, `${where}.output`, nativeOnly);
  const strings = parts.flatMap(({ type, text }) => type === "text" ? [text!] : []);
  const files = parts.filter(({ type }) => type !== "text");
  if (files.length > 0) strings.push(`(${files.length} more in the next message)`);
  return {
    index,
    id,
    message: { role: "tool", tool_call_id: id, content: strings.join("\n") },
    files: files.length === 0 ? [] : [{ type: "text", text: `Of the result of the tool call ${id}:` }, ...files],
  };
}

/** Other items may have made the call, such as `local_shell_call`. */
function addUnmatched({ index, id }: Result, nativeOnly: ResponsesNativeOnly): void {
  const param = `input[${index}].call_id`;
  nativeOnly.add(param, `"${param}" is ${quoteValue(id)}, but "input" has no function_call for it: send that as well`);
}

/** A single text part is sent as a string: some APIs accept parts only together with images. */
function simplifyContent(parts: ContentPart[]): string | ContentPart[] {
  if (parts.length === 0) return "";
  return parts.length === 1 && parts[0]!.type === "text" ? parts[0]!.text! : parts;
}
