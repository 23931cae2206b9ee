/**
 * Converts a turn of the model to an assistant message of chat.
 * @module
 */
import type { ChatMessage, ContentPart, JsonObject, ToolCall } from "../../contracts/openai.ts";
import { wrongType } from "../../pipeline/check_body.ts";
import { appendAll } from "../../util/append_all.ts";
import { isObject } from "../../util/is_object.ts";
import { addDetails } from "../../util/reasoning_details.ts";
import type { NativeOnly } from "../native_only.ts";
import { carriedBy } from "./_carried.ts";
import { convertBlock, findMark, simplifyBlocks, stringAt, unknownParts } from "./_content.ts";
import { describeBlock } from "./_foreign_blocks.ts";

/** A block, and its path in the request. */
export interface TurnEntry {
  readonly block: JsonObject;
  readonly at: string;
}

/**
 * Converts a turn.
 *
 * @param entries Its blocks.
 * @param nativeOnly Collects what chat cannot express.
 * @throws {UnsupportedRequestError} If a block is malformed.
 */
export function convertModelTurn(entries: readonly TurnEntry[], nativeOnly: NativeOnly): ChatMessage {
  const turn = new ModelTurn(nativeOnly);
  for (const { block, at } of entries) turn.add(block, at);
  return turn.toMessage();
}

class ModelTurn {
  readonly #nativeOnly: NativeOnly;
  #text = "";
  #hasNotes = false;
  #endsWithNote = true;
  #mark = {};
  readonly #thoughts: string[] = [];
  readonly #calls: ToolCall[] = [];
  /** State of the next call or image. */
  #state: JsonObject | undefined;
  /** Signed thinking, which belongs to the next call. */
  #signed: JsonObject[] = [];
  readonly #details: JsonObject[] = [];
  readonly #images: ContentPart[] = [];
  readonly #unknown: ContentPart[] = [];

  constructor(nativeOnly: NativeOnly) {
    this.#nativeOnly = nativeOnly;
  }

  add(block: JsonObject, at: string): void {
    switch (block.type) {
      case "text":
        this.#text += stringAt(block, "text", at);
        this.#endsWithNote = false;
        this.#mark = { ...this.#mark, ...findMark(block) };
        return;
      case "thinking":
        this.#thoughts.push(stringAt(block, "thinking", at));
        if (typeof block.signature === "string" && block.signature !== "") this.#signed.push(block);
        return;
      case "redacted_thinking":
        return this.#addCarried(block);
      case "image":
        return this.#addImage(block, at);
      case "tool_use":
        this.#calls.push(toFunctionCall(block, at, this.#takeState()));
        return;
      default:
        return this.#addOther(block, at);
    }
  }

  toMessage(): ChatMessage {
    const text = this.#hasNotes ? this.#text.trimEnd() : this.#text;
    const [calls, images, details] = [this.#calls, this.#images, this.#details];
    const reasoning = this.#thoughts.filter((thought) => thought !== "").join("\n\n");
    const isSilent = text === "" && this.#unknown.length === 0 && calls.length > 0;
    const mark = text === "" ? {} : this.#mark;
    return {
      role: "assistant",
      content: isSilent ? null : simplifyBlocks([{ type: "text", text, ...mark }, ...this.#unknown]),
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
      ...(images.length === 0 ? {} : { images }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
  }

  #addCarried(block: JsonObject): void {
    const state = carriedBy(block);
    if (state === undefined) return;
    if (Array.isArray(state.reasoning_details)) addDetails(this.#details, state.reasoning_details);
    else this.#state = state;
  }

  #addImage(block: JsonObject, at: string): void {
    const state = this.#state;
    for (const { type, image_url } of convertBlock(block, at, this.#nativeOnly)) {
      this.#images.push({ type, image_url, index: this.#images.length, ...(state && { extra_content: state }) });
    }
    this.#state = undefined;
  }

  /** Adds what other models have as text. */
  #addOther(block: JsonObject, at: string): void {
    const note = describeBlock(block);
    if (note === undefined) {
      const supported = "text, image, thinking, redacted_thinking and tool_use";
      return appendAll(this.#unknown, unknownParts(block, at, { nativeOnly: this.#nativeOnly, supported }));
    }
    this.#text += `${this.#endsWithNote ? "" : "\n\n"}${note}\n\n`;
    this.#hasNotes = this.#endsWithNote = true;
  }

  #takeState(): JsonObject | undefined {
    const signed = this.#signed;
    const state = this.#state ?? (signed.length === 0 ? undefined : { anthropic: { thinking_blocks: signed } });
    this.#state = undefined;
    this.#signed = [];
    return state;
  }
}

function toFunctionCall(block: JsonObject, where: string, state: JsonObject | undefined): ToolCall {
  return {
    id: stringAt(block, "id", where),
    type: "function",
    function: { name: stringAt(block, "name", where), arguments: readToolInput(block.input, `${where}.input`) },
    ...(state === undefined ? {} : { extra_content: state }),
    ...findMark(block),
  };
}

/** The input of a call as text; clients keep that of a response that was cut off as they received it. */
function readToolInput(input: unknown, where: string): string {
  if (typeof input === "string") return input;
  const value = input ?? {};
  if (!isObject(value)) throw wrongType(where, "an object", value);
  return JSON.stringify(value);
}
