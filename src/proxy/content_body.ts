/**
 * Response bodies of content such as audio.
 * @module
 */
import type { PlainStream } from "../contracts/shell.ts";
import type { ByteStream } from "../pipeline/content_stream.ts";

/**
 * Adds the media type of content that a client has uploaded, or a provider has sent: a browser must not take it for
 * another one, and run it.
 */
export function addContentType(headers: Record<string, string>, type: string): void {
  headers["content-type"] = type;
  headers["x-content-type-options"] = "nosniff";
}

/** Streams bytes as they are received, without reading ahead. If the provider fails midway, the response is aborted. */
export class ContentBody implements PlainStream {
  onStop?: (reason: unknown) => void;
  readonly #stream: ByteStream;
  readonly #onEnd: () => void;

  /**
   * @param onEnd Called at the end, possibly more than once.
   */
  constructor(stream: ByteStream, onEnd: () => void) {
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
