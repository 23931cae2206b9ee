/**
 * Content such as sound as the body of a response.
 * @module
 */
import type { PlainStream } from "../contracts/shell.ts";
import type { ContentStream } from "../pipeline/content_stream.ts";

/** Passes bytes on as they arrive; a provider that fails midway breaks the response off. Nothing is read ahead. */
export class ContentBody implements PlainStream {
  onStop?: (reason: unknown) => void;
  readonly #stream: ContentStream;
  readonly #onEnd: () => void;

  /**
   * @param stream Committed.
   * @param onEnd Called, once or more, when nothing will be sent any more.
   */
  constructor(stream: ContentStream, onEnd: () => void) {
    this.#stream = stream;
    this.#onEnd = onEnd;
    stream.onStop = (reason) => {
      this.onStop?.(reason);
      onEnd();
    };
  }

  async read(): Promise<Uint8Array | undefined> {
    let bytes: Uint8Array | undefined;
    try {
      return bytes = await this.#stream.read();
    } finally {
      if (bytes === undefined) this.#onEnd();
    }
  }

  cancel(): void {
    this.#stream.cancel();
    this.#onEnd();
  }
}
