/**
 * Responses as they are recorded and replayed: a stream as its events, in the internal form, from which a complete
 * response is assembled; and a complete response as the events of a stream.
 * @module
 */
import type { ChatCompletion, ChatCompletionChunk, CompletionUsage, JsonObject } from "../../contracts/openai.ts";
import type { CompletionChunk } from "../../contracts/provider.ts";
import type { StopSignal } from "../../contracts/runtime.ts";
import type { EventStream } from "../committed_stream.ts";
import { clientDisconnect } from "../result.ts";
import { MessageBuilder } from "./message_builder.ts";

/** An event of a stream. */
export interface RecordedEvent {
  /** Its JSON. */
  readonly text: string;
  /** Whether it contains nothing but the usage of the response, which only some clients request. */
  readonly isUsage: boolean;
}

const separator = "\n\ndata: ";

/** Returns the events of a chunk; several may have arrived as one. */
export function toRecordedEvents({ value, wire, others = [] }: CompletionChunk): readonly RecordedEvent[] {
  const values = [value, ...others];
  const wires = others.length === 0 ? [wire] : wire?.split(separator) ?? [];
  const isExact = wires.length === values.length;
  return values.map((event, index) => ({
    text: (isExact ? wires[index] : undefined) ?? JSON.stringify(event),
    isUsage: isUsageEvent(event),
  }));
}

/** Reads a recorded event. */
export function readEvent(text: string): RecordedEvent {
  return { text, isUsage: text.includes('"usage"') && isUsageEvent(JSON.parse(text) as ChatCompletionChunk) };
}

/** Whether an event contains nothing but usage. */
function isUsageEvent({ choices, usage }: ChatCompletionChunk): boolean {
  return choices.length === 0 && usage !== undefined && usage !== null;
}

/**
 * Returns an event for one reader, who may change it.
 *
 * @param more Whether the next event has arrived.
 */
export function toChunk({ text }: RecordedEvent, more: boolean): CompletionChunk {
  let value: ChatCompletionChunk | undefined;
  return {
    get value() {
      return value ??= JSON.parse(text) as ChatCompletionChunk;
    },
    wire: text,
    ...(more && { more }),
  };
}

/** The events of a recorded response as a stream. */
export class ReplayedStream implements EventStream {
  onStop?: (reason: unknown) => void;
  readonly #onEnd: (cause?: unknown) => void;
  readonly #signal: StopSignal | undefined;
  readonly #onAbort = () => this.stop(this.#signal!.reason);
  #events: readonly RecordedEvent[];
  #position = 0;
  #isOver = false;
  #stopped: { readonly reason: unknown } | undefined;

  constructor(events: readonly RecordedEvent[], { wantsUsage, signal, onEnd }: {
    /** Whether the client requested usage (`stream_options.include_usage`). */
    readonly wantsUsage: boolean;
    readonly signal?: StopSignal | undefined;
    /**
     * Called once, when it was read to its end or cancelled.
     *
     * @param cause Why it was cancelled.
     */
    readonly onEnd: (cause?: unknown) => void;
  }) {
    this.#events = wantsUsage ? events : events.filter(({ isUsage }) => !isUsage);
    this.#onEnd = onEnd;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort);
    if (signal?.aborted) this.#onAbort();
  }

  get isStopped(): boolean {
    return this.#stopped !== undefined;
  }

  read(): Promise<CompletionChunk | undefined> {
    if (this.#stopped !== undefined) return Promise.reject(this.#stopped.reason);
    const event = this.#events[this.#position++];
    if (event === undefined) this.#end();
    return Promise.resolve(event && toChunk(event, this.#position < this.#events.length));
  }

  /** Ends it for a reason that later reads throw. */
  stop(reason: unknown): void {
    if (this.#isOver) return;
    this.#stopped = { reason };
    this.cancel(reason);
    this.onStop?.(reason);
  }

  cancel(reason: unknown = clientDisconnect()): void {
    this.#events = [];
    this.#end(reason);
  }

  #end(cause?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#onEnd(cause);
  }
}

/** Members of a message that continue the reasoning, which precedes the text. */
const thoughts: readonly string[] = ["reasoning", "reasoning_content", "reasoning_details"];

/** Returns the events of a complete response. */
export function toEvents({ choices, usage, ...head }: ChatCompletion): readonly RecordedEvent[] {
  const events: JsonObject[] = choices.flatMap(({ index, message, finish_reason, logprobs, ...others }) => {
    const { role, ...members } = message;
    const [before, after] = splitMembers(members);
    const start = { index, delta: { role, ...before }, finish_reason: null };
    const body = { index, delta: after, finish_reason: null, ...(logprobs && { logprobs }) };
    return [start, body, { ...others, index, delta: {}, finish_reason: finish_reason ?? "stop" }]
      .map((choice) => ({ choices: [choice] }));
  });
  if (usage !== undefined && usage !== null) events.push({ choices: [], usage });
  return events.map((event) => ({
    text: JSON.stringify({ ...head, object: "chat.completion.chunk", ...event }),
    isUsage: "usage" in event,
  }));
}

/** Returns the members of the first delta and those of the second, without null and empty ones. */
function splitMembers(members: JsonObject): readonly [JsonObject, JsonObject] {
  const parts: [JsonObject, JsonObject] = [{}, {}];
  for (const [name, value] of Object.entries(members)) {
    if (value === null || value === undefined || value === "") continue;
    parts[thoughts.includes(name) ? 0 : 1][name] = name === "tool_calls" ? withIndexes(value) : value;
  }
  return parts;
}

function withIndexes(calls: unknown): unknown {
  return Array.isArray(calls) ? calls.map((call, index) => ({ index, ...call })) : calls;
}

/**
 * Assembles a complete response.
 *
 * @param events The JSON of its events.
 */
export function toCompletion(events: readonly string[]): ChatCompletion {
  const builders = new Map<number, MessageBuilder>();
  const head: JsonObject = {};
  let latest: CompletionUsage | undefined;
  for (const text of events) {
    const { choices, usage, ...members } = JSON.parse(text) as ChatCompletionChunk;
    for (const [name, value] of Object.entries(members)) if (value !== null || !(name in head)) head[name] = value;
    latest = usage ?? latest;
    for (const choice of choices) {
      const builder = builders.get(choice.index) ?? new MessageBuilder();
      builders.set(choice.index, builder);
      builder.add(choice);
    }
  }
  const choices = [...builders].sort(([first], [second]) => first - second).map(([index, builder]) =>
    builder.build(index)
  );
  const { id, created, model, ...others } = head as Pick<ChatCompletion, "id" | "created" | "model">;
  return { id, created, model, ...others, object: "chat.completion", choices, ...(latest && { usage: latest }) };
}
