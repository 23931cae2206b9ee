/**
 * Translates the events of a streaming response of the Responses API to chat chunks.
 *
 * Source: OpenAI REST API reference, document version 2.3.0: `ResponseStreamEvent`.
 * @module
 */
import type { ChatCompletionChunk, Delta, JsonObject, TokenLogprob } from "../../src/contracts/openai.ts";
import { findOwn } from "../../src/util/entries.ts";
import { isObject } from "../../src/util/is_object.ts";
import { toText } from "../../src/util/to_text.ts";
import {
  type Head,
  listParts,
  listThoughts,
  type OutputOptions,
  PrecedingItems,
  readEnd,
  readHead,
  toCall,
  toCitedSource,
  toCompletion,
  toLogprobs,
  toResponseFailure,
} from "./_responses_output.ts";

/** Members of a message whose text arrives in deltas. */
type TextField = "content" | "refusal" | "reasoning_content";

/** Such members by the name of an event. */
const deltaFields: Readonly<Record<string, TextField>> = {
  "response.output_text.delta": "content",
  "response.refusal.delta": "refusal",
  "response.reasoning_summary_text.delta": "reasoning_content",
  "response.reasoning_text.delta": "reasoning_content",
};

/** The text of a complete item, and the member to which it belongs. */
function readCompleteText(item: JsonObject): readonly [field: TextField | undefined, text: string] {
  if (item.type === "reasoning") return ["reasoning_content", listThoughts(item).join("\n\n")];
  if (item.type !== "message") return [undefined, ""];
  const parts = listParts(item.content);
  const text = parts.map((part) => part.type === "output_text" ? toText(part.text) : "").join("");
  const refusal = parts.map((part) => toText(part.refusal)).join("");
  return text === "" && refusal !== "" ? ["refusal", refusal] : ["content", text];
}

/** An item that has been added and is not complete. */
interface OpenItem {
  /** Where its text begins in that of the message. */
  readonly start: number;
  /** Its index among the calls; undefined if it is none. */
  readonly call?: number;
  /** Whether the input of the call is text rather than JSON. */
  readonly isCustom?: boolean;
  /** Number of characters of its text, its reasoning or its arguments so far. */
  written: number;
}

/** Translates the events of one stream, in order. */
export class OutputEvents {
  /** Whether the final event was received. */
  isFinished = false;
  readonly #options: OutputOptions;
  readonly #before: PrecedingItems;
  #head: Head = { id: "", created: 0, model: "" };
  /** Items by output index. */
  readonly #items = new Map<unknown, OpenItem>();
  #calls = 0;
  #textLength = 0;
  /** Whether the next reasoning has to be separated from that before it. */
  #separatesThoughts = false;
  #hasThoughts = false;
  #isEmpty = true;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#before = new PrecedingItems(options.vendor);
  }

  /**
   * Translates an event.
   *
   * @returns The chunk; without a choice if the event has no meaning in chat.
   * @throws {UpstreamError} For an error event.
   */
  read(event: JsonObject): ChatCompletionChunk {
    const { type, logprobs } = event;
    if (type === "error" || type === "response.failed") throw toResponseFailure(event);
    const response = isObject(event.response) ? event.response : undefined;
    if (response !== undefined) this.#head = { ...this.#head, ...readHead(response) };
    if (type === "response.completed" || type === "response.incomplete") return this.#finish(response ?? {});
    const delta = this.#findDelta(event);
    if (delta === undefined) return this.#chunk();
    this.#isEmpty = false;
    const scores = delta.content === undefined ? [] : listParts(logprobs) as readonly TokenLogprob[];
    return this.#chunk({ delta, finish_reason: null, logprobs: toLogprobs([...scores]) });
  }

  /** Some servers send the output in the final event only. */
  #finish(response: JsonObject): ChatCompletionChunk {
    this.isFinished = true;
    const { usage, finish_reason } = readEnd(response, this.#calls > 0);
    const rest = usage === undefined ? {} : { usage };
    if (!this.#isEmpty || !Array.isArray(response.output) || response.output.length === 0) {
      return { ...this.#chunk({ delta: {}, finish_reason, logprobs: null }), ...rest };
    }
    const { choices: [choice] } = toCompletion(response, this.#options);
    const { message, logprobs } = choice!;
    const { tool_calls: calls, ...members } = message;
    const delta = { ...members, ...(calls && { tool_calls: calls.map((call, index) => ({ index, ...call })) }) };
    return { ...this.#chunk({ delta, finish_reason: choice!.finish_reason, logprobs }), ...rest };
  }

  #findDelta(event: JsonObject): Delta | undefined {
    const { type, delta, output_index: at, item, annotation } = event;
    const field = findOwn(deltaFields, type);
    if (field !== undefined) return typeof delta === "string" ? this.#write(field, delta, at) : undefined;
    switch (type) {
      case "response.output_item.added":
        return isObject(item) ? this.#begin(item, at) : undefined;
      case "response.output_item.done":
        return isObject(item) ? this.#complete(item, at) : undefined;
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        return typeof delta === "string" ? this.#continueCall(at, delta) : undefined;
      case "response.reasoning_summary_part.added":
        this.#separatesThoughts = this.#hasThoughts;
        return undefined;
      case "response.output_text.annotation.added":
        return this.#annotate(annotation, at);
      default:
        return undefined;
    }
  }

  #write(field: TextField, text: string, at: unknown): Delta | undefined {
    if (text === "") return undefined;
    const open = this.#items.get(at);
    if (open !== undefined) open.written += text.length;
    if (field === "content") this.#textLength += text.length;
    if (field !== "reasoning_content") return { [field]: text };
    const separator = this.#separatesThoughts ? "\n\n" : "";
    this.#separatesThoughts = false;
    this.#hasThoughts = true;
    return { reasoning_content: separator + text };
  }

  #annotate(annotation: unknown, at: unknown): Delta | undefined {
    const annotations = toCitedSource(Object(annotation), this.#items.get(at)?.start ?? 0);
    return annotations.length === 0 ? undefined : { annotations };
  }

  /** Whatever an item contains already is left to its deltas. */
  #begin(item: JsonObject, at: unknown): Delta | undefined {
    const call = toCall(item, this.#options);
    const start = this.#textLength;
    if (call === undefined) {
      this.#items.set(at, { start, written: 0 });
      return undefined;
    }
    const index = this.#calls++;
    const isCustom = item.type === "custom_tool_call";
    this.#items.set(at, { start, call: index, isCustom, written: 0 });
    const empty = isCustom
      ? { custom: { name: toText(item.name), input: "" } }
      : { function: { name: call.function.name, arguments: "" } };
    return { tool_calls: [{ index, id: call.id, type: call.type, ...empty, ...this.#before.take() }] };
  }

  #continueCall(at: unknown, text: string): Delta | undefined {
    const open = this.#items.get(at);
    if (open?.call === undefined || text === "") return undefined;
    open.written += text.length;
    const index = open.call;
    return {
      tool_calls: [{ index, ...open.isCustom ? { custom: { input: text } } : { function: { arguments: text } } }],
    };
  }

  /** Adds what no delta of the item has had, which some servers omit. */
  #complete(item: JsonObject, at: unknown): Delta | undefined {
    const { start, written, call } = this.#items.get(at) ?? { start: this.#textLength, written: 0 };
    const [field, complete] = readCompleteText(item);
    const rest = item.type === "reasoning" && written > 0 ? "" : complete.slice(written);
    const delta = call !== undefined
      ? this.#continueCall(at, toText(item.arguments ?? item.input).slice(written))
      : field === undefined
      ? undefined
      : this.#write(field, rest, at);
    this.#before.add(item, this.#textLength - start);
    this.#separatesThoughts ||= item.type === "reasoning" && this.#hasThoughts;
    this.#items.delete(at);
    return delta;
  }

  #chunk(
    choice?: Pick<ChatCompletionChunk["choices"][number], "delta" | "finish_reason" | "logprobs">,
  ): ChatCompletionChunk {
    const choices = choice === undefined ? [] : [{ index: 0, ...choice }];
    return { ...this.#head, object: "chat.completion.chunk", choices };
  }
}
