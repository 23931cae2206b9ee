/**
 * Streams on their way into the cache, and out of it.
 * @module
 */
import type { ChatCompletionChunk } from "../../contracts/openai.ts";
import type { CompletionChunk } from "../../contracts/provider.ts";
import type { StopSignal } from "../../contracts/runtime.ts";
import type { EventStream } from "../committed_stream.ts";
import { clientDisconnect } from "../result.ts";

/** Records the events of a stream with usage. Its reader gets the usage if the client requested it. */
export class RecordedStream implements EventStream {
  onStop?: (reason: unknown) => void;
  readonly #stream: EventStream;
  readonly #wantsUsage: boolean;
  readonly #maxChars: number;
  #events: string[] | undefined = [];
  #chars = 0;
  #isComplete = false;

  constructor(stream: EventStream, { wantsUsage, maxChars }: {
    readonly wantsUsage: boolean;
    /** Size beyond which nothing is recorded, characters. */
    readonly maxChars: number;
  }) {
    this.#stream = stream;
    this.#wantsUsage = wantsUsage;
    this.#maxChars = maxChars;
    stream.onStop = (reason) => this.onStop?.(reason);
  }

  get isStopped(): boolean {
    return this.#stream.isStopped;
  }

  /** The JSON of all events, once the stream is complete; undefined before, and if they are too long. */
  get events(): readonly string[] | undefined {
    return this.#isComplete ? this.#events : undefined;
  }

  async read(): Promise<CompletionChunk | undefined> {
    for (;;) {
      const chunk = await this.#stream.read();
      if (chunk?.isPing) return chunk;
      if (chunk === undefined) {
        this.#isComplete = true;
        return undefined;
      }
      this.#record(chunk);
      if (this.#wantsUsage || !isUsageEvent(chunk.value)) return chunk;
    }
  }

  cancel(reason?: unknown): void {
    this.#events = undefined;
    this.#stream.cancel(reason);
  }

  #record({ value, wire, others = [] }: CompletionChunk): void {
    const texts = others.length === 0
      ? [wire ?? JSON.stringify(value)]
      : [value, ...others].map((event) => JSON.stringify(event));
    for (const text of texts) this.#chars += text.length;
    if (this.#chars > this.#maxChars) this.#events = undefined;
    this.#events?.push(...texts);
  }
}

function isUsageEvent({ choices, usage }: ChatCompletionChunk): boolean {
  return choices.length === 0 && (usage ?? null) !== null;
}

/** Repeats the recorded events of a stream. */
export class RepeatedStream implements EventStream {
  onStop?: (reason: unknown) => void;
  readonly #signal: StopSignal | undefined;
  readonly #onEnd: (cause?: unknown) => void;
  readonly #onAbort = () => this.#stop();
  #events: readonly string[];
  #position = 0;
  #isOver = false;

  /** @param events The JSON of each event. */
  constructor(events: readonly string[], { wantsUsage, signal, onEnd }: {
    readonly wantsUsage: boolean;
    readonly signal: StopSignal | undefined;
    /** Called once, at the end of the stream; with a cause if it was left before. */
    readonly onEnd: (cause?: unknown) => void;
  }) {
    const last = events.at(-1);
    const isUsage = last !== undefined && isUsageEvent(JSON.parse(last) as ChatCompletionChunk);
    this.#events = isUsage && !wantsUsage ? events.slice(0, -1) : events;
    this.#onEnd = onEnd;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort);
  }

  get isStopped(): boolean {
    return this.#isOver && this.#signal?.aborted === true;
  }

  read(): Promise<CompletionChunk | undefined> {
    if (this.#signal?.aborted) {
      this.#stop();
      return Promise.reject(this.#signal.reason);
    }
    const wire = this.#events[this.#position++];
    if (wire === undefined) {
      this.#end();
      return Promise.resolve(undefined);
    }
    const more = this.#position < this.#events.length;
    return Promise.resolve({ value: JSON.parse(wire) as ChatCompletionChunk, wire, more });
  }

  cancel(reason: unknown = clientDisconnect()): void {
    this.#events = [];
    this.#end(reason);
  }

  #stop(): void {
    if (this.#isOver) return;
    const reason = this.#signal?.reason;
    this.#end(reason);
    this.onStop?.(reason);
  }

  #end(cause?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#onEnd(cause);
  }
}

/** Calls a function once all events have been read, past what checks them. */
export class KeptStream implements EventStream {
  onStop?: (reason: unknown) => void;
  readonly #stream: EventStream;
  #keep: (() => void) | undefined;

  constructor(stream: EventStream, keep: () => void) {
    this.#stream = stream;
    this.#keep = keep;
    stream.onStop = (reason) => this.onStop?.(reason);
  }

  get isStopped(): boolean {
    return this.#stream.isStopped;
  }

  async read(): Promise<CompletionChunk | undefined> {
    const chunk = await this.#stream.read();
    if (chunk !== undefined) return chunk;
    this.#keep?.();
    this.#keep = undefined;
    return undefined;
  }

  cancel(reason?: unknown): void {
    this.#keep = undefined;
    this.#stream.cancel(reason);
  }
}
