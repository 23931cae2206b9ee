/**
 * Batches stream events that arrived together. Every event is parsed, since an error must end the stream. Events that
 * only append to a response are joined into one chunk if the only consumer is a client of the proxy.
 * @module
 */
import type { ChatCompletionChunk } from "../../src/contracts/openai.ts";
import type { CompletionChunk } from "../../src/contracts/provider.ts";
import { parseBoundedJson } from "../../src/util/bounded_json.ts";
import type { SseEvent } from "../../src/util/sse_parse.ts";
import { EventTolerance, upstreamError } from "./_http.ts";
import { readOpenAiError } from "./_openai_error.ts";

/** The result of a batch of events. */
interface EventBatch {
  readonly chunks: readonly CompletionChunk[];
  /** Whether it contained `[DONE]`. */
  readonly isDone: boolean;
  /** The error that followed the chunks. */
  readonly failure?: unknown;
}

/** How the events of a stream are read. */
interface EventReading {
  /** Parses an event's data; null or undefined if there is nothing to forward. An unreadable event throws. */
  readonly parse: (data: string) => ChatCompletionChunk | null | undefined;
  /** Normalizes a parsed event; undefined if there is nothing to forward. */
  readonly accept: (value: ChatCompletionChunk, data: string) => CompletionChunk | undefined;
  /** Whether events may be joined into one chunk. */
  readonly joins: boolean;
}

/** Processes the events of one stream, in order. */
export class EventBatches {
  readonly #reading: EventReading;
  readonly #tolerance = new EventTolerance();
  /** Whether content was read. Before that, a stream is neither forwarded nor committed. */
  #hasBegun = false;
  /** The further events of the latest joined chunk. */
  #others: ChatCompletionChunk[] = [];

  /** @param reading How events are read. */
  constructor(reading: EventReading) {
    this.#reading = reading;
  }

  /**
   * Processes events up to `[DONE]` or the first error.
   *
   * @param events Events that arrived together.
   */
  read(events: readonly SseEvent[]): EventBatch {
    const chunks: CompletionChunk[] = [];
    try {
      for (const { event, data } of events) {
        if (event === "error") throw upstreamError(200, readOpenAiError(jsonOrText(data), 200));
        if (data === "[DONE]") return { chunks: withEnd(chunks, true), isDone: true };
        const value = data === "" ? undefined : this.#tolerance.read(this.#reading.parse, data);
        const chunk = value ? this.#reading.accept(value, data) : undefined;
        if (chunk !== undefined) this.#add(chunk, chunks);
      }
    } catch (failure) {
      return { chunks: withEnd(chunks, true), isDone: false, failure };
    }
    return { chunks: withEnd(chunks, false), isDone: false };
  }

  /** A joined chunk has the value of its first event, which may be the first content of the stream. */
  #add(chunk: CompletionChunk, chunks: CompletionChunk[]): void {
    const last = chunks.at(-1);
    if (this.#hasBegun && last !== undefined && onlySaysMore(chunk) && onlySaysMore(last)) {
      const { value, wire, others } = last;
      if (others === undefined) this.#others = [];
      this.#others.push(chunk.value);
      chunks[chunks.length - 1] = { value, wire: `${wire}\n\ndata: ${chunk.wire}`, others: this.#others };
    } else {
      chunks.push(chunk);
      this.#hasBegun ||= this.#reading.joins && chunk.value.choices.some(({ delta }) => delta.content);
    }
  }
}

/** Excludes chunks with usage, which is not forwarded as received, and chunks without their original JSON. */
function onlySaysMore({ value: { usage }, wire, billed }: CompletionChunk): boolean {
  if (wire === undefined || usage !== null && usage !== undefined) return false;
  return billed === undefined || Object.keys(billed).length === 0;
}

/** Sets `more` on each chunk that is followed by something to forward: another chunk, or the end of the stream. */
function withEnd(chunks: CompletionChunk[], isEnd: boolean): CompletionChunk[] {
  let follows = isEnd;
  for (let at = chunks.length - 1; at >= 0; at--) {
    const chunk = chunks[at]!;
    if (follows) chunk.more = true;
    follows ||= chunk.value.choices.length > 0 || onlySaysMore(chunk); // a chunk with usage only is kept for the end
  }
  return chunks;
}

function jsonOrText(data: string): unknown {
  try {
    return parseBoundedJson(data);
  } catch {
    return { message: data };
  }
}
