/**
 * Converts chat chunks to the events of a streaming message.
 *
 * Source: https://platform.claude.com/docs/en/build-with-claude/streaming
 * @module
 */
import type { ChatCompletionChunk, CompletionUsage, Delta, JsonObject, ToolCallDelta } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";
import type { DialectFault, EventTranslator } from "../dialect.ts";
import { endOf, usageOf } from "./_answer.ts";
import { carrierOf } from "./_carried.ts";
import { errorBodyOf } from "./_errors.ts";

/** An incomplete tool call. */
interface OpenCall {
  /** Index of the call in chat. */
  readonly index: number;
  id: string;
  name: string;
  state: JsonObject | undefined;
  /** The arguments so far. */
  text: string;
}

/** The open block: its type, or its tool call. */
type OpenBlock = "thinking" | "text" | OpenCall;

/** Translates a streaming response. Blocks are opened one at a time, as clients of Messages expect. */
export class MessageEvents implements EventTranslator {
  readonly #stops: readonly string[] | undefined;
  #hasStarted = false;
  #blocks = 0;
  #open: OpenBlock | undefined;
  /** Calls that started before another one was complete. */
  #waiting: OpenCall[] = [];
  /** Indexes of closed calls: later deltas, such as empty ones, are ignored. */
  readonly #closed = new Set<number>();
  #hasRefused = false;
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

  end(): string {
    let events = this.#close();
    for (const call of this.#waiting) events += this.#openCall(call) + this.#close();
    this.#waiting = [];
    const delta = endOf(this.#end, { stops: this.#stops, hasRefused: this.#hasRefused });
    events += eventOf({ type: "message_delta", delta, usage: usageOf(this.#usage) });
    return events + eventOf({ type: "message_stop" });
  }

  fail(fault: DialectFault): string {
    return eventOf(errorBodyOf(fault));
  }

  #start({ id, model, usage }: ChatCompletionChunk): string {
    this.#hasStarted = true;
    const head = { id, type: "message", role: "assistant", model, content: [] };
    const message = { ...head, stop_reason: null, stop_sequence: null, usage: usageOf(usage) };
    return eventOf({ type: "message_start", message }) + eventOf({ type: "ping" });
  }

  #continue(delta: Delta): string {
    const { reasoning_content: reasoning = delta.reasoning, content, refusal, tool_calls } = delta;
    let events = "";
    if (typeof reasoning === "string") events += this.#write("thinking", reasoning);
    if (typeof content === "string") events += this.#write("text", content);
    if (typeof refusal === "string" && refusal !== "") {
      this.#hasRefused = true;
      events += this.#write("text", refusal);
    }
    for (const call of tool_calls ?? []) events += this.#call(call);
    return events;
  }

  #write(kind: "thinking" | "text", text: string): string {
    if (text === "") return "";
    const delta = kind === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text };
    if (this.#open === kind) return this.#delta(delta);
    const block = kind === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" };
    const events = this.#close() + this.#begin(block);
    this.#open = kind;
    return events + this.#delta(delta);
  }

  #call({ index = 0, id, function: fn, extra_content }: ToolCallDelta): string {
    const text = fn?.arguments ?? "";
    const current = typeof this.#open === "object" ? this.#open : undefined;
    if (current?.index === index) {
      current.text += text;
      const events = text === "" ? "" : this.#delta({ type: "input_json_delta", partial_json: text });
      return this.#waiting.length > 0 && isWhole(current.text) ? events + this.#next() : events;
    }
    if (this.#closed.has(index)) return "";
    let call = this.#waiting.find((one) => one.index === index);
    if (call === undefined) {
      call = { index, id: "", name: "", state: undefined, text: "" };
      this.#waiting.push(call);
    }
    call.id ||= id ?? "";
    call.name ||= fn?.name ?? "";
    if (isObject(extra_content)) call.state = extra_content;
    call.text += text;
    return current === undefined || isWhole(current.text) ? this.#next() : "";
  }

  /** Writes the waiting calls as far as they are complete; the last one stays open. */
  #next(): string {
    let events = "";
    for (;;) {
      const call = this.#waiting.shift();
      if (call === undefined) return events;
      events += this.#openCall(call);
      if (!isWhole(call.text)) return events;
    }
  }

  #openCall(call: OpenCall): string {
    const { id, name, state, text } = call;
    let events = this.#close();
    if (state !== undefined) {
      events += this.#begin(carrierOf(state));
      events += this.#stop();
    }
    events += this.#begin({ type: "tool_use", id, name, input: {} });
    this.#open = call;
    return text === "" ? events : events + this.#delta({ type: "input_json_delta", partial_json: text });
  }

  #begin(block: JsonObject): string {
    return eventOf({ type: "content_block_start", index: this.#blocks, content_block: block });
  }

  #delta(delta: JsonObject): string {
    return eventOf({ type: "content_block_delta", index: this.#blocks, delta });
  }

  #stop(): string {
    return eventOf({ type: "content_block_stop", index: this.#blocks++ });
  }

  #close(): string {
    if (this.#open === undefined) return "";
    if (typeof this.#open === "object") this.#closed.add(this.#open.index);
    this.#open = undefined;
    return this.#stop();
  }
}

function eventOf(data: JsonObject): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Whether the arguments of a call are complete. */
function isWhole(text: string): boolean {
  if (!text.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
