/**
 * Combines several streams in one response body.
 * @module
 */
import type { ChatCompletionChunk } from "../contracts/openai.ts";
import type { CompletionChunk } from "../contracts/provider.ts";
import type { PlainStream } from "../contracts/shell.ts";
import type { DialectFault } from "../dialects/dialect.ts";
import type { CommittedStream } from "../pipeline/committed_stream.ts";
import { toErrorRow } from "./error_body.ts";

/** The format: complete events, or an empty string if there is none yet. */
interface JoinedWriter {
  /** Returns the events for a chunk of one stream. */
  push(index: number, chunk: ChatCompletionChunk): string;
  /** Returns the events after the last chunk of all streams. */
  end(): string;
  /** Returns the events in place of missing ones after an error. */
  fail(fault: DialectFault): string;
  readonly requestId: string;
  /** Called at the end, possibly more than once. */
  readonly onEnd: () => void;
}

/** A pending read of one stream. */
type Arrived =
  & { readonly index: number }
  & ({ readonly chunk: CompletionChunk | undefined } | { readonly error: unknown });

/** Writes events in order of arrival. An error of one stream ends all. Each stream is read when the client reads. */
export class JoinedEvents implements PlainStream {
  onStop?: (reason: unknown) => void;
  readonly #streams: readonly CommittedStream[];
  readonly #writer: JoinedWriter;
  readonly #reads = new Map<number, Promise<Arrived>>();
  readonly #open: Set<number>;
  #isOver = false;

  /** @param streams Committed streams. */
  constructor(streams: readonly CommittedStream[], writer: JoinedWriter) {
    this.#streams = streams;
    this.#writer = writer;
    this.#open = new Set(streams.keys());
    for (const stream of streams) {
      stream.onStop = (reason) => {
        this.onStop?.(reason);
        writer.onEnd();
      };
    }
  }

  async read(): Promise<string | undefined> {
    let text = "";
    while (!this.#isOver && text === "") text = await this.#next();
    return text === "" ? undefined : text;
  }

  cancel(): void {
    this.#finish();
    for (const stream of this.#streams) stream.cancel();
  }

  async #next(): Promise<string> {
    for (const index of this.#open) if (!this.#reads.has(index)) this.#reads.set(index, this.#readStream(index));
    const arrival = await Promise.race(this.#reads.values());
    if (this.#isOver) return "";
    this.#reads.delete(arrival.index);
    if ("error" in arrival) return this.#fail(arrival);
    const { index, chunk } = arrival;
    if (chunk !== undefined) {
      if (chunk.isPing) return "";
      return [chunk.value, ...chunk.others ?? []].reduce((sum, value) => sum + this.#writer.push(index, value), "");
    }
    this.#open.delete(index);
    if (this.#open.size > 0) return "";
    this.#finish();
    return this.#writer.end();
  }

  #readStream(index: number): Promise<Arrived> {
    return this.#streams[index]!.read().then((chunk) => ({ index, chunk }), (error) => ({ index, error }));
  }

  #fail({ index, error }: { readonly index: number; readonly error: unknown }): string {
    if (this.#streams[index]!.isStopped) throw error;
    this.#finish();
    for (const stream of this.#streams) stream.cancel(error); // their client gets the error
    const { status, body } = toErrorRow(error, this.#writer.requestId);
    return this.#writer.fail({ status, error: body.error });
  }

  #finish(): void {
    this.#isOver = true;
    this.#writer.onEnd();
  }
}
