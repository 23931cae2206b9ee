/**
 * Converts the events of a streaming Messages response to OpenAI's chunks.
 *
 * Source: https://platform.claude.com/docs/en/build-with-claude/streaming
 * @module
 */
import type { ChatCompletionChunk, Delta, JsonObject, ToolCallDelta } from "../../src/contracts/openai.ts";
import type { CompletionChunk } from "../../src/contracts/provider.ts";
import type { BilledUsage } from "../../src/contracts/usage.ts";
import { toCitedAnnotations } from "./_anthropic_citations.ts";
import { readAnthropicError } from "./_anthropic_fault.ts";
import { isCall, type MessageFacts, toCallHead, toCallName } from "./_anthropic_response.ts";
import { carryThoughts, type Thought, thoughtBlock } from "./_anthropic_thoughts.ts";
import { combineUsage, fromStopReason, readClaudeBilled, toRefusal, toUsage } from "./_anthropic_usage.ts";
import { EventTolerance, parseObject, upstreamError } from "./_http.ts";
import { objectOrEmpty } from "../../src/util/is_object.ts";
import { toText } from "../../src/util/to_text.ts";

/** An incomplete content block. */
interface StreamedBlock {
  readonly type: unknown;
  /** Index among the tool calls, for a tool use block. */
  readonly call: number;
  /** Tool input that the start event contained. */
  readonly input: JsonObject;
  /** Whether deltas of the tool input were received. */
  isSent: boolean;
  /** The thinking block so far. */
  thought: JsonObject;
  /** Where it begins in the text, and its citations so far. */
  readonly start: number;
  readonly citations: unknown[];
}

/** Translates one streaming response, event by event. */
export class MessageStream {
  readonly #facts: MessageFacts;
  readonly #blocks = new Map<unknown, StreamedBlock>();
  readonly #tolerance = new EventTolerance();
  #id = "";
  #model: string;
  #started = false;
  #finished = false;
  #calls = 0;
  #textLength = 0;
  #reasoned = false;
  #gap = "";
  #thoughts: Thought[] = [];
  #usage: JsonObject | undefined;
  #stopReason: unknown;
  #stopDetails: unknown;

  /** @param facts Values to fill in. */
  constructor(facts: MessageFacts) {
    this.#facts = facts;
    this.#model = facts.model;
  }

  /** Whether the provider reported the end of the response. */
  get finished(): boolean {
    return this.#finished;
  }

  /** What the vendor bills besides the token counts, so far. */
  get billed(): BilledUsage {
    return readClaudeBilled(this.#usage);
  }

  /** Whether nothing but the end of the response is missing: the provider has named its reason. */
  get isComplete(): boolean {
    return typeof this.#stopReason === "string";
  }

  /**
   * Translates the next event.
   *
   * @returns The resulting chunks, often none; undefined for an unreadable event, which is skipped.
   * @throws {UpstreamError} For an `error` event, or the second unreadable one in a row.
   */
  push(data: string): ChatCompletionChunk[] | undefined {
    if (data === "" || data === "[DONE]") return [];
    const event = this.#tolerance.read(parseObject, data);
    return event && this.take(event);
  }

  /**
   * Translates the next event.
   *
   * @returns The resulting chunks, often none.
   * @throws {UpstreamError} For an `error` event.
   */
  take(event: JsonObject): ChatCompletionChunk[] {
    switch (event.type) {
      case "message_start":
        return this.#start(objectOrEmpty(event.message));
      case "content_block_start":
        return this.#open(event.index, objectOrEmpty(event.content_block));
      case "content_block_delta":
        return this.#continue(this.#blocks.get(event.index), objectOrEmpty(event.delta));
      case "content_block_stop":
        return this.#close(event.index);
      case "message_delta":
        return this.#note(objectOrEmpty(event.delta), event.usage);
      case "message_stop":
        return this.#finish();
      default:
        if (event.type !== "error" && !event.error) return []; // `ping`, and future event types
        throw upstreamError(200, readAnthropicError(event, 200));
    }
  }

  #start(message: JsonObject): ChatCompletionChunk[] {
    if (typeof message.id === "string") this.#id = message.id;
    if (typeof message.model === "string") this.#model = message.model;
    this.#usage = combineUsage(this.#usage, message.usage);
    if (this.#started) return [];
    this.#started = true;
    return [this.#chunk({ role: "assistant", content: "", refusal: null })];
  }

  #open(index: unknown, block: JsonObject): ChatCompletionChunk[] {
    const { type } = block;
    const call = isCall(block, this.#facts) ? this.#calls++ : -1;
    const citations = Array.isArray(block.citations) ? [...block.citations] : [];
    const position = { start: this.#textLength, citations };
    this.#blocks.set(index, {
      type,
      call,
      input: objectOrEmpty(block.input),
      isSent: false,
      thought: block,
      ...position,
    });
    if (type === "text") return this.#text(block.text);
    if (type === "thinking") {
      this.#gap = this.#reasoned ? "\n\n" : "";
      return this.#reasoning(block.thinking);
    }
    if (call < 0) return [];
    const extra = carryThoughts(this.#thoughts);
    this.#thoughts = [];
    return [this.#callChunk({
      index: call,
      ...toCallHead(block),
      function: { name: toCallName(block), arguments: "" },
      ...(extra === undefined ? {} : { extra_content: extra }),
    })];
  }

  #continue(block: StreamedBlock | undefined, delta: JsonObject): ChatCompletionChunk[] {
    switch (delta.type) {
      case "text_delta":
        return this.#text(delta.text);
      case "thinking_delta":
        if (block !== undefined) block.thought = appended(block.thought, "thinking", delta.thinking);
        return this.#reasoning(delta.thinking);
      case "signature_delta":
        if (block !== undefined) block.thought = appended(block.thought, "signature", delta.signature);
        return [];
      case "citations_delta":
        block?.citations.push(delta.citation);
        return [];
      case "input_json_delta":
        if (block === undefined || block.call < 0 || !delta.partial_json) return [];
        block.isSent = true;
        return [this.#callChunk({ index: block.call, function: { arguments: toText(delta.partial_json) } })];
      default:
        return [];
    }
  }

  #close(index: unknown): ChatCompletionChunk[] {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    if (block === undefined) return [];
    const thought = thoughtBlock(block.thought);
    if (thought !== undefined) this.#thoughts.push({ block: thought, textBefore: this.#textLength });
    const annotations = toCitedAnnotations(block.citations, { start: block.start, end: this.#textLength });
    if (annotations.length > 0) return [this.#chunk({ annotations })];
    if (block.call < 0 || block.isSent) return [];
    return [this.#callChunk({ index: block.call, function: { arguments: JSON.stringify(block.input) } })];
  }

  #note(delta: JsonObject, usage: unknown): ChatCompletionChunk[] {
    this.#stopReason = delta.stop_reason ?? this.#stopReason;
    this.#stopDetails = delta.stop_details ?? this.#stopDetails;
    this.#usage = combineUsage(this.#usage, usage);
    return [];
  }

  #finish(): ChatCompletionChunk[] {
    this.#finished = true;
    const ends = [...this.#blocks.keys()].flatMap((index) => this.#close(index)); // some servers do not end them
    const finishReason = fromStopReason(this.#stopReason);
    const refusal = finishReason === "content_filter" ? toRefusal(this.#stopDetails) : null;
    const last = this.#chunk(refusal === null ? {} : { refusal });
    last.choices[0]!.finish_reason = finishReason;
    const usage = toUsage(this.#usage);
    return [...ends, last, ...(usage === undefined ? [] : [{ ...last, choices: [], usage }])];
  }

  #text(text: unknown): ChatCompletionChunk[] {
    if (typeof text !== "string" || text === "") return [];
    this.#textLength += text.length;
    return [this.#chunk({ content: text })];
  }

  #reasoning(text: unknown): ChatCompletionChunk[] {
    if (typeof text !== "string" || text === "") return [];
    const chunk = this.#chunk({ reasoning_content: this.#gap + text });
    this.#reasoned = true;
    this.#gap = "";
    return [chunk];
  }

  /** A chunk without choices. */
  get emptyChunk(): ChatCompletionChunk {
    return { ...this.#chunk({}), choices: [] };
  }

  #callChunk(call: ToolCallDelta): ChatCompletionChunk {
    return this.#chunk({ tool_calls: [call] });
  }

  #chunk(delta: Delta): ChatCompletionChunk {
    return {
      id: this.#id,
      object: "chat.completion.chunk",
      created: this.#facts.created,
      model: this.#model,
      choices: [{ index: 0, delta, finish_reason: null, logprobs: null }],
    };
  }
}

/** The chunks of translated events. The one with the token counts has what the vendor bills besides. */
export function toChunks(
  values: readonly ChatCompletionChunk[],
  { billed }: { readonly billed: BilledUsage },
): readonly CompletionChunk[] {
  return values.map((value) => value.usage ? { value, billed } : { value });
}

function appended(thought: JsonObject, name: string, text: unknown): JsonObject {
  const [earlier = "", added = ""] = [thought[name], text].map((value) =>
    typeof value === "string" ? value : undefined
  );
  return { ...thought, [name]: earlier + added };
}
