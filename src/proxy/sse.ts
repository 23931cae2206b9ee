/**
 * A streamed response as server-sent events.
 * @module
 */
import type { CompletionChunk } from "../contracts/provider.ts";
import type { PlainStream } from "../contracts/shell.ts";
import { toErrorRow } from "./error_body.ts";
import type { StreamFormat } from "./heartbeat.ts";

/** A heartbeat, which readers of events ignore. */
export const heartbeatComment = ": heartbeat\n\n";

/** What a stream consists of. */
interface StreamedPart {
  readonly isPing?: true | undefined;
  more?: boolean;
}

/** A committed stream. */
interface EventSource<Part> {
  onStop?: (reason: unknown) => void;
  readonly isStopped: boolean;
  read(): Promise<Part | undefined>;
  cancel(reason?: unknown): void;
}

/** Serializes a stream as complete events; returns an empty string if there is none yet. */
export interface EventWriter<Part = CompletionChunk> {
  /** An event or comment without meaning; a comment by default. */
  readonly heartbeat?: string;
  chunk(chunk: Part): string;
  /** Called after the last chunk of a complete response. */
  end(): string;
  /** Reports an error in place of the remainder of a response. */
  fail(error: unknown): string;
}

/** Returns the format of a stream that a writer serializes. */
export function toStreamFormat(
  writer: Pick<EventWriter, "heartbeat" | "fail">,
  contentType: string = "text/event-stream",
): StreamFormat {
  return { contentType, heartbeat: writer.heartbeat ?? heartbeatComment, fail: (error) => writer.fail(error) };
}

/**
 * Events of chat completions: one `data:` line per event, `[DONE]` after the last. If the provider fails midway, one
 * error event follows and no `[DONE]`.
 *
 * @param requestId For error events.
 */
export function chatEvents(requestId: string): EventWriter {
  return new ChatEvents(requestId);
}

class ChatEvents implements EventWriter {
  readonly #requestId: string;

  constructor(requestId: string) {
    this.#requestId = requestId;
  }

  chunk({ wire, value }: CompletionChunk): string {
    return `data: ${wire ?? JSON.stringify(value)}\n\n`;
  }

  end(): string {
    return "data: [DONE]\n\n";
  }

  fail(error: unknown): string {
    return `data: ${JSON.stringify(toErrorRow(error, this.#requestId).body)}\n\n`;
  }
}

/**
 * The body of a streamed response, without reading ahead. When the client disconnects, the provider's call is aborted.
 */
export class EventBody<Part extends StreamedPart = CompletionChunk> implements PlainStream {
  onStop?: (reason: unknown) => void;
  readonly #stream: EventSource<Part>;
  readonly #writer: EventWriter<Part>;
  readonly #onEnd: () => void;
  /** Events that have not been returned, since more have arrived with them. */
  #text = "";
  /** Whether the last event was written, or the body was cancelled. */
  #isOver = false;

  /**
   * @param options Serializer of the events; `onEnd` is called at the end, possibly more than once.
   */
  constructor(stream: EventSource<Part>, { writer, onEnd }: { writer: EventWriter<Part>; onEnd: () => void }) {
    this.#stream = stream;
    this.#writer = writer;
    this.#onEnd = onEnd;
    stream.onStop = (reason) => {
      this.onStop?.(reason);
      onEnd();
    };
  }

  /**
   * Returns the events received so far. Chunks without events are skipped, since an empty string would end some bodies.
   */
  read(): Promise<string | undefined> {
    return this.#isOver ? Promise.resolve(undefined) : this.#readOn();
  }

  cancel(): void {
    this.#isOver = true;
    this.#stream.cancel();
    this.#onEnd();
  }

  #readOn(): Promise<string | undefined> {
    return this.#stream.read().then(this.#write, this.#fail);
  }

  readonly #write = (chunk: Part | undefined): string | Promise<string | undefined> => {
    try {
      const writer = this.#writer;
      if (chunk === undefined) {
        this.#text += writer.end();
        return this.#end();
      }
      this.#text += chunk.isPing ? writer.heartbeat ?? heartbeatComment : writer.chunk(chunk);
    } catch (error) {
      return this.#fail(error);
    }
    return chunk.more === true || this.#text === "" ? this.#readOn() : this.#takeText();
  };

  readonly #fail = (error: unknown): string => {
    if (this.#stream.isStopped) throw error;
    this.#text += this.#writer.fail(error);
    this.#stream.cancel(error); // still open if the writer failed
    return this.#end();
  };

  #end(): string {
    this.#isOver = true;
    this.#onEnd();
    return this.#takeText();
  }

  #takeText(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }
}
