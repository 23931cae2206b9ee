/**
 * Streaming responses in OpenAI's dialect.
 * @module
 */
import type { ChatCompletion, ChatCompletionChunk } from "../../src/contracts/openai.ts";
import type { CallOptions, CompletionChunk } from "../../src/contracts/provider.ts";
import type { UpstreamResponse } from "../../src/contracts/runtime.ts";
import { NetworkError, UpstreamError } from "../../src/errors.ts";
import { endIterator } from "../../src/util/end_iterator.ts";
import { ChunkNormalizer } from "../../src/util/normalize_chunk.ts";
import { type CompletionDefaults, normalizeCompletion } from "../../src/util/normalize_completion.ts";
import { SseReader } from "../../src/util/sse_parse.ts";
import { splitIntoChunks } from "../../src/util/split_completion.ts";
import { EventBatches } from "./_event_batches.ts";
import { parseObject } from "./_http.ts";
import { openStreamBody, ping } from "./_stream_body.ts";

/** An event as received. */
export interface ReceivedEvent {
  readonly data: string;
  /** Whether it had to be normalized. */
  readonly isChanged: boolean;
}

/** Parsers and options for a streaming response. */
export interface ChunkStreamParts {
  /** Parses a complete response, which some servers return instead of a stream. */
  readonly readComplete: (body: Record<string, unknown>) => ChatCompletion;
  /** Parses an event's data; null or undefined if there is nothing to forward. An unreadable event throws. */
  readonly parse: (data: string) => ChatCompletionChunk | null | undefined;
  /**
   * Creates the chunk of a normalized event; undefined if there is nothing to forward.
   *
   * @default The event, without its JSON.
   */
  readonly toChunk?: (value: ChatCompletionChunk, event: ReceivedEvent) => CompletionChunk | undefined;
  /** What fills in members that responses lack. */
  readonly defaults: CompletionDefaults;
  /**
   * Whether, after the first content, events that arrive together may be joined into one chunk, since only their JSON
   * is used.
   */
  readonly joins?: boolean;
  /** Called once the response lacks nothing but its end. */
  readonly reportComplete?: CallOptions["reportComplete"];
}

type Next = IteratorResult<CompletionChunk>;

/**
 * Reads a streaming response. It ends with `[DONE]`, or when every choice has its finish reason. It is neither a generator
 * nor an async function, since all that is between the socket and the client adds cost to every event.
 */
export class ChunkStream implements AsyncIterableIterator<CompletionChunk> {
  readonly #opening: Promise<UpstreamResponse>;
  readonly #parts: ChunkStreamParts;
  readonly #batches: EventBatches;
  readonly #normalizer: ChunkNormalizer;
  #events: SseReader | undefined;
  /** Chunks of the last batch of events. */
  #chunks: readonly CompletionChunk[] = [];
  #position = 0;
  /** The error that follows those chunks. */
  #failure: { readonly error: unknown } | undefined;
  /** Whether nothing follows those chunks. */
  #isLast = false;
  #isEmpty = true;

  /**
   * @param opening The response, once its head has been received.
   * @param parts Parsers and options.
   */
  constructor(opening: Promise<UpstreamResponse>, parts: ChunkStreamParts) {
    this.#opening = opening;
    this.#parts = parts;
    const { parse, joins = false } = parts;
    this.#normalizer = new ChunkNormalizer(parts.defaults);
    this.#batches = new EventBatches({ parse, accept: (value, data) => this.#accept(value, data), joins });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** @throws {UpstreamError} For an error event, or if the stream ends before the response is complete. */
  next(): Promise<Next> {
    try {
      const next = this.#takeNext();
      if (next !== undefined) return Promise.resolve(next);
      if (this.#events === undefined) return this.#open().then(this.#goOn, this.#recover);
      return this.#events.receive().then(this.#read, this.#recover);
    } catch (error) {
      return Promise.reject(this.#failed(error));
    }
  }

  async return(): Promise<Next> {
    this.#chunks = [];
    this.#failure = undefined;
    this.#isLast = true;
    await this.#events?.cancel();
    return { done: true, value: undefined };
  }

  /** Returns what needs no more of the body; undefined if there is nothing. */
  #takeNext(): Next | undefined {
    for (;;) {
      const value = this.#chunks[this.#position];
      if (value !== undefined) {
        this.#position++;
        if (!value.isPing) this.#isEmpty = false;
        return { done: false, value };
      }
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#isLast) return { done: true, value: undefined };
      if (!this.#events?.isOver) return undefined;
      this.#readLast(this.#events);
    }
  }

  readonly #goOn = (): Promise<Next> => this.next();

  /** Reads the events that a chunk of the body completes. */
  readonly #read = (received: ReadableStreamReadResult<Uint8Array>): Next | Promise<Next> => {
    const events = this.#events!;
    try {
      const { chunks, isDone, failure } = this.#batches.read(events.parse(received));
      if (this.#isLast) return this.next(); // cancelled meanwhile
      this.#take(chunks.length === 0 && events.takeComment() ? [ping] : chunks);
      if (failure !== undefined) this.#failure = { error: failure };
      if (isDone) this.#finish(true);
      else if (this.#normalizer.isFinished) this.#parts.reportComplete?.();
      if (isDone) return events.cancel().then(this.#goOn);
      const next = this.#takeNext();
      if (next !== undefined) return next;
    } catch (error) {
      throw this.#failed(error);
    }
    return this.next();
  };

  /** Ends the stream, unless the connection was reset after the end of the response, which is harmless. */
  readonly #recover = (error: unknown): Promise<Next> => {
    const events = this.#events;
    const isHarmless = events !== undefined && NetworkError.isInstance(error) && this.#normalizer.isFinished;
    if (!isHarmless) throw this.#failed(error);
    return events.cancel().then(this.#goOn);
  };

  /** Many servers end without the blank line after their last event. */
  #readLast({ unfinished }: SseReader): void {
    const { chunks, isDone, failure } = this.#batches.read(unfinished === undefined ? [] : [unfinished]);
    this.#take(chunks);
    if (failure === undefined) this.#finish(isDone);
    else this.#failure = { error: failure };
  }

  #accept(value: ChatCompletionChunk, data: string): CompletionChunk | undefined {
    const isChanged = this.#normalizer.normalize(value);
    const { toChunk } = this.#parts;
    return toChunk === undefined ? { value } : toChunk(value, { data, isChanged });
  }

  async #open(): Promise<void> {
    const body = await openStreamBody(await this.#opening);
    if (body.events !== undefined) {
      this.#events = new SseReader(body.events);
      if (this.#isLast) await this.#events.cancel();
      return;
    }
    const completion = this.#parts.readComplete(parseObject(body.text));
    normalizeCompletion(completion, this.#parts.defaults);
    this.#take([...splitIntoChunks(completion)]);
    this.#isLast = true;
  }

  #take(chunks: readonly CompletionChunk[]): void {
    this.#chunks = chunks;
    this.#position = 0;
  }

  /**
   * Ends the stream after the current chunks.
   *
   * @param isDone Whether the provider has sent `[DONE]`.
   */
  #finish(isDone: boolean): void {
    this.#isLast = true;
    if (!isDone && !this.#normalizer.isFinished) return this.#fail("ended before the response was complete");
    if (this.#isEmpty && this.#chunks.length === 0) return this.#fail("was empty");
    const end = this.#normalizer.end();
    if (end !== undefined) this.#take([...this.#chunks, { value: end, wire: JSON.stringify(end), more: true }]);
  }

  #fail(how: string): void {
    const message = `The provider's stream ${how}`;
    this.#failure = { error: new UpstreamError(message, { kind: "invalid_response" }) };
  }

  /** Cancels the stream, since an iterator that has thrown is done. */
  #failed(error: unknown): unknown {
    endIterator(this);
    return error;
  }
}
