/**
 * Converts chat chunks to the events of a streaming message.
 *
 * Source: https://platform.claude.com/docs/en/build-with-claude/streaming
 * @module
 */
import type { ChatCompletionChunk, CompletionUsage, Delta, JsonObject, ToolCallDelta } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import { JsonProgress } from "../../util/json_progress.ts";
import { Queue } from "../../util/queue.ts";
import { addDetails } from "../../util/reasoning_details.ts";
import type { DialectFault, EventTranslator } from "../dialect.ts";
import type { WebSearch } from "../web_search_results.ts";
import { readCitations } from "../../util/annotations.ts";
import { formatMessageEnd, formatMessageUsage, imageBlocks } from "./_response.ts";
import { createCarrier } from "./_carried.ts";
import { GrowingText, toCitation } from "./_citations.ts";
import { formatMessagesError } from "./conventions.ts";
import { toSearchBlocks } from "./_search_blocks.ts";

/** A tool call. */
interface OpenToolUse {
  readonly id: string;
  readonly name: string;
  state: JsonObject | undefined;
  /** Arguments that wait until the block of the call is open. */
  text: string;
  readonly progress: JsonProgress;
}

/** The open block: its type, or its tool call. Text that follows citations is another block. */
type OpenBlock = "thinking" | "text" | "cited" | OpenToolUse;

/** Text that waits until an incomplete tool call is closed. */
interface WaitingText {
  readonly kind: "thinking" | "text";
  text: string;
  citations?: JsonObject[];
}

/** A complete block. */
interface CompleteBlock {
  readonly block: JsonObject;
  /** Its input, which is written after its start. */
  readonly input?: JsonObject;
}

/**
 * Translates a streaming response. Blocks are opened one at a time, as clients of Messages expect: what arrives before
 * the arguments of a tool call are complete waits.
 */
export class MessageEvents implements EventTranslator {
  readonly heartbeat: string = formatEvent({ type: "ping" });
  readonly #stops: readonly string[] | undefined;
  #hasStarted = false;
  #blocks = 0;
  #open: OpenBlock | undefined;
  /** What started before the open call was complete, in order. */
  #waiting = new Queue<OpenToolUse | WaitingText | CompleteBlock>();
  /** All calls, by their index in chat. */
  readonly #calls = new Map<number, OpenToolUse>();
  /** Reasoning details since the last block that carries some. */
  #details: JsonObject[] = [];
  /** The text so far, to which citations refer. */
  readonly #text = new GrowingText();
  #hasRefused = false;
  #searches = 0;
  #usage: CompletionUsage | undefined;
  #end: { finish_reason: string | null; stop_reason?: unknown } = { finish_reason: null };

  /** @param stops The requested stop sequences. */
  constructor(stops?: readonly string[]) {
    this.#stops = stops;
  }

  push(chunk: ChatCompletionChunk): string {
    this.#usage = chunk.usage ?? this.#usage;
    let events = this.#hasStarted ? "" : this.#start(chunk);
    for (const { index, delta, finish_reason, stop_reason } of chunk.choices) {
      if (index > 0) continue; // Messages supports one choice
      events += this.#continue(delta ?? {});
      if (finish_reason) this.#end = { finish_reason, stop_reason };
    }
    return events;
  }

  searched(search: WebSearch): string {
    this.#searches++;
    const [{ input, ...use }, result] = toSearchBlocks(search);
    const events = this.#beginInTurn({ block: { ...use, input: {} }, input: input as JsonObject });
    return events + this.#beginInTurn({ block: result });
  }

  end(): string {
    let events = "";
    for (const block of this.#waiting) events += this.#begin(block);
    this.#waiting = new Queue();
    events += this.#close() + this.#carry();
    const delta = formatMessageEnd(this.#end, { stops: this.#stops, hasRefused: this.#hasRefused });
    events += formatEvent({ type: "message_delta", delta, usage: formatMessageUsage(this.#usage, this.#searches) });
    return events + formatEvent({ type: "message_stop" });
  }

  fail(fault: DialectFault): string {
    return formatEvent(formatMessagesError(fault));
  }

  #start({ id, model, usage }: ChatCompletionChunk): string {
    this.#hasStarted = true;
    const head = { id, type: "message", role: "assistant", model, content: [] };
    const message = { ...head, stop_reason: null, stop_sequence: null, usage: formatMessageUsage(usage) };
    return formatEvent({ type: "message_start", message }) + formatEvent({ type: "ping" });
  }

  #continue(delta: Delta): string {
    const { reasoning_content: reasoning = delta.reasoning, content, refusal, tool_calls } = delta;
    let events = "";
    addDetails(this.#details, delta.reasoning_details);
    if (typeof reasoning === "string") events += this.#write("thinking", reasoning);
    if (typeof content === "string") {
      this.#text.add(content);
      events += this.#write("text", content);
    }
    const citations = readCitations(delta.annotations);
    if (citations.length > 0) {
      events += this.#write(
        "text",
        "",
        citations.map((citation) => toCitation(citation, this.#text)),
      );
    }
    if (typeof refusal === "string" && refusal !== "") {
      this.#hasRefused = true;
      events += this.#write("text", refusal);
    }
    const images = Array.isArray(delta.images) ? delta.images.flatMap(imageBlocks) : [];
    for (const block of images) events += this.#beginInTurn({ block });
    for (const call of tool_calls ?? []) events += this.#call(call);
    return events;
  }

  #write(kind: "thinking" | "text", text: string, citations?: JsonObject[]): string {
    if (text === "" && citations === undefined) return "";
    const last = this.#isBusy ? this.#waiting.last : undefined;
    if (last === undefined || !("kind" in last) || last.kind !== kind || last.citations !== undefined) {
      return this.#beginInTurn({ kind, text, ...(citations && { citations }) });
    }
    last.text += text;
    if (citations !== undefined) last.citations = citations;
    return "";
  }

  #beginInTurn(block: WaitingText | CompleteBlock): string {
    if (!this.#isBusy) return this.#begin(block);
    this.#waiting.push(block);
    return "";
  }

  #call({ index = 0, id = "", function: fn, extra_content }: ToolCallDelta): string {
    const text = fn?.arguments ?? "";
    let call = this.#calls.get(index);
    const isNew = call === undefined;
    if (call === undefined) {
      call = { id, name: fn?.name ?? "", state: undefined, text: "", progress: new JsonProgress() };
      this.#calls.set(index, call);
    }
    if (isObject(extra_content)) call.state = extra_content;
    call.progress.add(text);
    if (this.#open === call) {
      const events = text === "" ? "" : this.#delta({ type: "input_json_delta", partial_json: text });
      return call.progress.isComplete ? events + this.#next() : events;
    }
    call.text += text;
    if (!isNew) return "";
    if (!this.#isBusy) return this.#begin(call);
    this.#waiting.push(call);
    return "";
  }

  /** Whether the open call is incomplete, so that nothing else can be opened. */
  get #isBusy(): boolean {
    return typeof this.#open === "object" && !this.#open.progress.isComplete;
  }

  /** Writes what waits, up to the next incomplete call. */
  #next(): string {
    let events = "";
    while (this.#waiting.length > 0 && !this.#isBusy) events += this.#begin(this.#waiting.shift()!);
    return events;
  }

  /** Writes a text, or opens the block of a call with its arguments so far. */
  #begin(block: OpenToolUse | WaitingText | CompleteBlock): string {
    if ("block" in block) return this.#close() + this.#carry() + this.#writeBlock(block);
    return "kind" in block ? this.#beginText(block) : this.#beginCall(block);
  }

  #writeBlock({ block, input }: CompleteBlock): string {
    const delta = input && this.#delta({ type: "input_json_delta", partial_json: JSON.stringify(input) });
    return this.#startBlock(block) + (delta ?? "") + this.#stop();
  }

  #beginText({ kind, text, citations = [] }: WaitingText): string {
    const delta = kind === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text };
    const isOpen = this.#open === kind || this.#open === "cited" && text === "";
    const events = (isOpen ? "" : this.#openText(kind)) + (text === "" ? "" : this.#delta(delta));
    if (citations.length > 0) this.#open = "cited";
    return events + citations.map((citation) => this.#delta({ type: "citations_delta", citation })).join("");
  }

  #openText(kind: WaitingText["kind"]): string {
    const block = kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" };
    const events = this.#close() + (kind === "text" ? this.#carry() : "") + this.#startBlock(block);
    this.#open = kind;
    return events;
  }

  #beginCall(call: OpenToolUse): string {
    const { id, name, state, text } = call;
    let events = this.#close() + this.#carry();
    if (state !== undefined) events += this.#startBlock(createCarrier(state)) + this.#stop();
    events += this.#startBlock({ type: "tool_use", id, name, input: {} });
    this.#open = call;
    return text === "" ? events : events + this.#delta({ type: "input_json_delta", partial_json: text });
  }

  /** Writes a block that carries the reasoning details so far. */
  #carry(): string {
    const { length } = this.#details;
    const reasoning_details = this.#details.splice(0);
    return length === 0 ? "" : this.#startBlock(createCarrier({ reasoning_details })) + this.#stop();
  }

  #startBlock(block: JsonObject): string {
    return formatEvent({ type: "content_block_start", index: this.#blocks, content_block: block });
  }

  #delta(delta: JsonObject): string {
    return formatEvent({ type: "content_block_delta", index: this.#blocks, delta });
  }

  #stop(): string {
    return formatEvent({ type: "content_block_stop", index: this.#blocks++ });
  }

  #close(): string {
    if (this.#open === undefined) return "";
    this.#open = undefined;
    return this.#stop();
  }
}

function formatEvent(data: JsonObject): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
