/**
 * A streamed response as server-sent events.
 * @module
 */
import type { CompletionChunk } from "../contracts/provider.ts";
import type { PlainStream } from "../contracts/shell.ts";
import type { AnswerStream } from "../pipeline/answer_stream.ts";
import { errorRowOf } from "./error_body.ts";

/** How a stream is written: complete events, or an empty text where there is none yet. */
export interface EventWriter {
  chunk(chunk: CompletionChunk): string;
  /** After the last chunk of a complete answer. */
  end(): string;
  /** In place of what is missing of an answer. */
  fail(error: unknown): string;
}

/**
 * Chat's own events: one `data:` line per event, `[DONE]` after the last. A provider that fails midway causes one error
 * event and no `[DONE]`.
 *
 * @param requestId For error events.
 */
export function chatEvents(requestId: string): EventWriter {
  return {
    chunk: ({ wire, value }) => `data: ${wire ?? JSON.stringify(value)}\n\n`,
    end: () => "data: [DONE]\n\n",
    fail: (error) => `data: ${JSON.stringify(errorRowOf(error, requestId).body)}\n\n`,
  };
}

/**
 * The body of a streamed response. Nothing is read ahead of the client; when it disconnects, the provider's call ends.
 */
export class EventBody implements PlainStream {
  onStop?: (reason: unknown) => void;
  readonly #stream: AnswerStream;
  readonly #writer: EventWriter;
  readonly #onEnd: () => void;
  /** The last event was written, or is not wanted any more. */
  #isOver = false;

  /**
   * @param stream Committed.
   * @param options How events are written; `onEnd` is called, once or more, when nothing will be sent any more.
   */
  constructor(stream: AnswerStream, { writer, onEnd }: { writer: EventWriter; onEnd: () => void }) {
    this.#stream = stream;
    this.#writer = writer;
    this.#onEnd = onEnd;
    stream.onStop = (reason) => {
      this.onStop?.(reason);
      onEnd();
    };
  }

  /** Returns all events that have arrived. Chunks without events are skipped, since an empty text would end some bodies. */
  async read(): Promise<string | undefined> {
    if (this.#isOver) return undefined;
    let text = "";
    const writer = this.#writer;
    try {
      for (;;) {
        const chunk = await this.#stream.read();
        if (chunk === undefined) break;
        text += writer.chunk(chunk);
        if (chunk.more !== true && text !== "") return text;
      }
      text += writer.end();
    } catch (error) {
      if (this.#stream.isStopped) throw error;
      text += writer.fail(error);
      this.#stream.cancel(); // it is open still where the writer failed
    }
    this.#isOver = true;
    this.#onEnd();
    return text;
  }

  cancel(): void {
    this.#isOver = true;
    this.#stream.cancel();
    this.#onEnd();
  }
}
