/**
 * The events of one response for several readers, each at its own pace, and for the cache.
 * @module
 */
import type { CompletionChunk } from "../../contracts/provider.ts";
import type { Clock } from "../../contracts/runtime.ts";
import { StreamInterruptedError } from "../../errors.ts";
import type { EventStream } from "../committed_stream.ts";
import { clientDisconnect } from "../result.ts";
import { copyError } from "./copy_error.ts";
import { type RecordedEvent, toChunk, toRecordedEvents } from "./replay.ts";

/** Time after which a reader that does not read has left, ms, since a disconnected client may go unnoticed. */
const unreadMs = 10 * 60 * 1000;

/** What a {@linkcode SharedStream} is made of. */
interface SharedStreamParts {
  readonly clock: Clock;
  /** Maximum size of the events that are kept, characters. */
  readonly maxChars: number;
  /** Called when the last reader has left an unfinished response because it was stopped: aborts the call. */
  readonly abort: (reason: unknown) => void;
  /** Called at the end of the response: with its events if it is complete and all of them are kept. */
  readonly onEnd?: (events: readonly RecordedEvent[] | undefined) => void;
}

/** A reader of a {@linkcode SharedStream}. */
interface StreamReader {
  /** Whether it gets the event with the usage of the response. */
  readonly wantsUsage: boolean;
  /**
   * Called once, when it has read everything or has left.
   *
   * @param cause Why it did not get the complete response.
   */
  readonly onEnd: (cause?: unknown) => void;
}

/**
 * Reads the events of a response as its fastest reader does. They are kept for those that join later. Once they are larger
 * than the limit, a reader can no longer join, and only what a reader has still to read is kept.
 */
export class SharedStream {
  readonly #source: EventStream;
  readonly #parts: SharedStreamParts;
  readonly #readers = new Set<SharedReader>();
  #events: RecordedEvent[] = [];
  /** Position of the first of `#events`. */
  #start = 0;
  /** Number of events that all have read, and that nothing needs. */
  #dropped = 0;
  /** Size of the events that are kept, characters. */
  #chars = 0;
  /** The pending read of the source. */
  #pending: Promise<CompletionChunk | undefined> | undefined;
  #end: { readonly error?: unknown } | undefined;

  constructor(source: EventStream, parts: SharedStreamParts) {
    this.#source = source;
    this.#parts = parts;
    source.onStop = (reason) => {
      for (const reader of [...this.#readers]) reader.stop(reason);
    };
  }

  /** Whether another reader would get the response from its beginning. */
  get isJoinable(): boolean {
    return this.#dropped === 0 && (this.#end === undefined || !("error" in this.#end));
  }

  /** Adds a reader, which begins with the first event. */
  join(reader: StreamReader): EventStream & { stop(reason: unknown): void } {
    const { clock } = this.#parts;
    const joined = new SharedReader(reader, {
      clock,
      find: (position) => this.#events[position - this.#start],
      readEnd: () => this.#end,
      readOn: () => this.#pending ??= this.#readOn(),
      leave: (left, reason, isStopped) => this.#leave(left, reason, isStopped),
    });
    this.#readers.add(joined);
    return joined;
  }

  /** Returns a ping; undefined once there are more events, or none will follow. */
  async #readOn(): Promise<CompletionChunk | undefined> {
    try {
      const chunk = await this.#source.read();
      if (chunk?.isPing) return chunk;
      if (chunk === undefined) this.#finish({});
      else this.#keep(chunk);
    } catch (error) {
      this.#finish({ error });
    } finally {
      this.#pending = undefined;
    }
    return undefined;
  }

  #keep(chunk: CompletionChunk): void {
    const before = this.#chars;
    for (const event of toRecordedEvents(chunk)) {
      this.#events.push(event);
      this.#chars += event.text.length;
    }
    if (this.#chars > this.#parts.maxChars || this.#dropped > 0) this.#trim(this.#chars - before);
  }

  /**
   * Gives up what all have read, and readers that are too far behind.
   *
   * @param latest Size of what has just arrived, which a reader waits for, characters.
   */
  #trim(latest: number): void {
    this.#drop();
    while (this.#chars - latest > this.#parts.maxChars) {
      const slowest = [...this.#readers].reduce((last, reader) => reader.position < last.position ? reader : last);
      slowest.fail(
        new StreamInterruptedError("The response was cut short: it was read too slowly to keep the rest", ""),
      );
      this.#drop();
    }
  }

  #drop(): void {
    const start = this.#start;
    const first = Math.min(...[...this.#readers].map(({ position }) => position), start + this.#events.length);
    while (this.#dropped < first) this.#chars -= this.#events[this.#dropped++ - start]!.text.length;
    if (this.#dropped - start < this.#events.length / 2) return; // each event is moved about once
    this.#events = this.#events.slice(this.#dropped - start);
    this.#start = this.#dropped;
  }

  #finish(end: { readonly error?: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    const isComplete = !("error" in end) && this.#dropped === 0;
    this.#parts.onEnd?.(isComplete ? this.#events : undefined);
  }

  #leave(reader: SharedReader, reason: unknown, isStopped: boolean): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0 || this.#end !== undefined) return;
    this.#finish({ error: reason });
    if (isStopped) this.#parts.abort(reason);
    else this.#source.cancel(reason);
  }
}

/** What a reader needs of its stream. */
interface ReaderSource {
  readonly clock: Clock;
  find(position: number): RecordedEvent | undefined;
  readEnd(): { readonly error?: unknown } | undefined;
  readOn(): Promise<CompletionChunk | undefined>;
  leave(reader: SharedReader, reason: unknown, isStopped: boolean): void;
}

/** One reader of a shared stream. */
class SharedReader implements EventStream {
  onStop?: (reason: unknown) => void;
  /** Number of events read. */
  position = 0;
  readonly #reader: StreamReader;
  readonly #source: ReaderSource;
  #failure: { readonly error: unknown; readonly isStop?: true } | undefined;
  #isOver = false;
  /** Number of reads so far. */
  #reads = 0;
  /** Ends the pending read. */
  #wake: (() => void) | undefined;
  #cancelTimer: () => void = () => {};

  constructor(reader: StreamReader, source: ReaderSource) {
    this.#reader = reader;
    this.#source = source;
    this.#checkReads();
  }

  get isStopped(): boolean {
    return this.#failure?.isStop === true;
  }

  async read(): Promise<CompletionChunk | undefined> {
    this.#reads++;
    for (;;) {
      if (this.#isOver) return this.#readEnd();
      const event = this.#source.find(this.position);
      if (event !== undefined) {
        this.position++;
        if (event.isUsage && !this.#reader.wantsUsage) continue;
        return toChunk(event, this.#source.find(this.position) !== undefined);
      }
      const end = this.#source.readEnd();
      if (end === undefined) {
        const ping = await this.#untilWoken(this.#source.readOn());
        if (ping !== undefined && !this.#isOver) return ping;
      } else {
        if ("error" in end) this.#failure = { error: copyError(end.error) };
        this.#leave(end.error, false);
      }
    }
  }

  /** Leaves. The response goes on for the others. */
  cancel(reason: unknown = clientDisconnect()): void {
    if (!this.#isOver) this.#leave(reason, false);
  }

  /** Leaves for a reason that a pending or later read throws. */
  stop(reason: unknown): void {
    if (this.#isOver) return;
    this.#failure = { error: reason, isStop: true };
    this.#leave(reason, true);
    this.onStop?.(reason);
  }

  /** Ends with an error that is not the response's. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.#leave(error, false);
  }

  /** @throws Why it has not got the complete response. */
  #readEnd(): undefined {
    const failure = this.#failure;
    if (failure === undefined) return undefined;
    if (failure.isStop === undefined) this.#failure = undefined; // once, as other streams
    throw failure.error;
  }

  #leave(reason: unknown, isStopped: boolean): void {
    this.#isOver = true;
    this.#cancelTimer();
    this.#wake?.();
    this.#source.leave(this, reason, isStopped);
    this.#reader.onEnd(reason);
  }

  #untilWoken(work: Promise<CompletionChunk | undefined>): Promise<CompletionChunk | undefined> {
    return new Promise((resolve) => {
      this.#wake = () => resolve(undefined);
      const settle = (ping?: CompletionChunk) => {
        this.#wake = undefined;
        resolve(ping);
      };
      work.then(settle, () => settle()); // which does not reject
    });
  }

  /** One timer for all reads: it ends the stream if there was none since the last time, and none is pending. */
  #checkReads(): void {
    const before = this.#reads;
    this.#cancelTimer = this.#source.clock.after(unreadMs, () => {
      if (this.#reads > before || this.#wake !== undefined) return this.#checkReads();
      this.stop(new DOMException(`The stream was not read for ${unreadMs} ms`, "AbortError"));
    });
  }
}
