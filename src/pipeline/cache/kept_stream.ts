/**
 * Streams whose responses are kept.
 * @module
 */
import type { CompletionChunk } from "../../contracts/provider.ts";
import type { EventStream } from "../committed_stream.ts";

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
