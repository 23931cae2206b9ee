/**
 * A streamed response as server-sent events.
 * @module
 */
import type { PlainStream } from "../contracts/shell.ts";
import type { AnswerStream } from "../pipeline/answer_stream.ts";
import { errorRowOf } from "./error_body.ts";

/**
 * The body of a streamed response: one `data:` line per event, `[DONE]` after the last. A provider that fails midway
 * causes one error event and no `[DONE]`. Nothing is read ahead of the client; when it disconnects, the provider's call ends.
 */
export class EventBody implements PlainStream {
  onStop?: (reason: unknown) => void;
  readonly #stream: AnswerStream;
  readonly #requestId: string;
  readonly #onEnd: () => void;
  /** The last event was written, or is not wanted any more. */
  #isOver = false;

  /**
   * @param stream Committed.
   * @param options The request's id for error events; `onEnd` is called, once or more, when nothing will be sent any more.
   */
  constructor(stream: AnswerStream, { requestId, onEnd }: { requestId: string; onEnd: () => void }) {
    this.#stream = stream;
    this.#requestId = requestId;
    this.#onEnd = onEnd;
    stream.onStop = (reason) => {
      this.onStop?.(reason);
      onEnd();
    };
  }

  async read(): Promise<string | undefined> {
    if (this.#isOver) return undefined;
    const text = await this.#next();
    if (this.#isOver) this.#onEnd();
    return text;
  }

  cancel(): void {
    this.#isOver = true;
    this.#stream.cancel();
    this.#onEnd();
  }

  /** All events that have arrived. */
  async #next(): Promise<string> {
    let text = "";
    try {
      for (;;) {
        const chunk = await this.#stream.read();
        if (chunk === undefined) break;
        text += `data: ${chunk.wire ?? JSON.stringify(chunk.value)}\n\n`;
        if (chunk.more !== true) return text;
      }
      text += "data: [DONE]\n\n";
    } catch (error) {
      if (this.#stream.isStopped) throw error;
      text += `data: ${JSON.stringify(errorRowOf(error, this.#requestId).body)}\n\n`;
    }
    this.#isOver = true;
    return text;
  }
}
