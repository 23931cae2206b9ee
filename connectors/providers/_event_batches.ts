/**
 * Events of a stream that arrived together. Every one is read, since what cannot be read has to end the stream; those
 * that only say more of a response leave as one chunk, where only a client of the proxy reads them.
 * @module
 */
import type { CompletionChunk } from "../../src/contracts/provider.ts";
import type { SseEvent } from "../../src/util/sse_parse.ts";
import { upstreamError } from "./_http.ts";
import { readOpenAiError } from "./_openai_error.ts";

/** What some events come to. */
interface EventBatch {
  readonly chunks: readonly CompletionChunk[];
  /** `[DONE]` was among them. */
  readonly isDone: boolean;
  /** What the event after the chunks failed with. */
  readonly failure?: unknown;
}

/** Reads one stream's events, in order. */
export class EventBatches {
  readonly #readChunk: (data: string) => CompletionChunk | undefined;
  readonly #joins: boolean;
  /** Content has been read: a stream is not passed on, or given up for another, before that. */
  #hasBegun = false;

  /**
   * @param readChunk Reads an event's data; undefined: it has nothing to pass on.
   * @param joins Whether events may become one chunk.
   */
  constructor(readChunk: (data: string) => CompletionChunk | undefined, joins: boolean) {
    this.#readChunk = readChunk;
    this.#joins = joins;
  }

  /**
   * Reads events up to `[DONE]` or the first that fails.
   *
   * @param events That arrived together.
   */
  read(events: readonly SseEvent[]): EventBatch {
    const chunks: CompletionChunk[] = [];
    try {
      for (const { event, data } of events) {
        if (event === "error") throw upstreamError(200, readOpenAiError(jsonOrText(data), 200));
        if (data === "[DONE]") return { chunks: marked(chunks, true), isDone: true };
        const chunk = data === "" ? undefined : this.#readChunk(data);
        if (chunk !== undefined) this.#add(chunk, chunks);
      }
    } catch (failure) {
      return { chunks: marked(chunks, true), isDone: false, failure };
    }
    return { chunks: marked(chunks, false), isDone: false };
  }

  /** Of events that are joined the value is the first one's: it may be the content that a stream begins with. */
  #add(chunk: CompletionChunk, chunks: CompletionChunk[]): void {
    const last = chunks.at(-1);
    if (this.#hasBegun && last !== undefined && onlySaysMore(chunk) && onlySaysMore(last)) {
      const { value, wire, others = [] } = last;
      chunks[chunks.length - 1] = {
        value,
        wire: `${wire}\n\ndata: ${chunk.wire}`,
        others: [...others, chunk.value],
      };
    } else {
      chunks.push(chunk);
      this.#hasBegun ||= this.#joins && chunk.value.choices.some(({ delta }) => delta.content);
    }
  }
}

/** Usage is not passed on as it comes, and what has no text of its own is written later. */
function onlySaysMore({ value: { usage }, wire }: CompletionChunk): boolean {
  return wire !== undefined && (usage === null || usage === undefined);
}

/** Marks each chunk after which something to pass on is there already: another one, or the stream's end. */
function marked(chunks: CompletionChunk[], isEnd: boolean): CompletionChunk[] {
  let follows = isEnd;
  for (let at = chunks.length - 1; at >= 0; at--) {
    const chunk = chunks[at]!;
    if (follows) chunk.more = true;
    follows ||= chunk.value.choices.length > 0 || onlySaysMore(chunk); // usage alone is kept for the end
  }
  return chunks;
}

function jsonOrText(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return { message: data };
  }
}
