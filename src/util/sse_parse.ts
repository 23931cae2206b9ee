/**
 * Parser of server-sent events (SSE): lines end in LF, CR or CRLF, `data` lines are joined by LF, one leading space is
 * removed, comments and unknown fields are ignored.
 *
 * Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 * @module
 */
import type { BodyReader } from "../contracts/runtime.ts";
import { UpstreamError } from "../errors.ts";

export interface SseEvent {
  /** Event type; empty for an unnamed event. */
  readonly event: string;
  /** `data` lines, joined by LF. */
  readonly data: string;
  /** Whether it stands for comments between events, which show that the server is alive. */
  readonly isComment?: true;
}

const comment: SseEvent = { event: "", data: "", isComment: true };

const maxEventChars = 4 * 1024 * 1024;

/** Incremental parser. Chunks may be split anywhere. */
export class SseParser {
  #partialLine = "";
  #data: string | undefined;
  #event = "";
  #afterCr = false;
  #hasComment = false;
  readonly #maxChars: number;

  /** @param maxChars Maximum length of an event, 4 MiB by default. */
  constructor(maxChars: number = maxEventChars) {
    this.#maxChars = maxChars;
  }

  /**
   * Parses the next chunk.
   *
   * @param text Decoded text; may end anywhere.
   * @returns The events it completes.
   * @throws {UpstreamError} When an event is too long.
   */
  push(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    const isSecondHalf = this.#afterCr && text.startsWith("\n"); // of a CRLF split across chunks
    if (text !== "") this.#afterCr = text.endsWith("\r");
    // only new text is searched: a long line may arrive in many chunks
    const lines = text.slice(isSecondHalf ? 1 : 0).replace(/\r\n?/g, "\n").split("\n");
    const last = lines.pop()!;
    for (const line of lines) {
      this.#line(this.#partialLine + line, events);
      this.#partialLine = "";
    }
    this.#partialLine += last;
    if (this.#partialLine.length + (this.#data?.length ?? 0) > this.#maxChars) {
      throw new UpstreamError("The provider sent an event over 4 MiB", { kind: "invalid_response" });
    }
    return events;
  }

  /** Whether a comment was read since the last call. */
  takeComment(): boolean {
    const hasComment = this.#hasComment;
    this.#hasComment = false;
    return hasComment;
  }

  /** The incomplete event at the end of the stream, which the standard discards. */
  get unfinished(): SseEvent | undefined {
    const line = this.#partialLine.startsWith("data:") ? this.#partialLine.slice(5).trimStart() : undefined;
    const data = this.#data === undefined ? line : line === undefined ? this.#data : `${this.#data}\n${line}`;
    return data === undefined ? undefined : { event: this.#event, data };
  }

  #line(line: string, events: SseEvent[]): void {
    if (line === "") {
      if (this.#data !== undefined) events.push({ event: this.#event, data: this.#data });
      this.#data = undefined;
      this.#event = "";
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) {
      this.#hasComment = true;
      return;
    }
    const field = colon < 0 ? line : line.slice(0, colon);
    if (field !== "data" && field !== "event") return;
    const value = colon < 0 ? "" : line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    if (field === "event") this.#event = value;
    else this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
  }
}

/** Reads a body as batches of events that arrive together. */
export class SseReader {
  readonly #reader: BodyReader;
  readonly #decoder = new TextDecoder();
  readonly #parser = new SseParser();
  #isOver = false;

  /** @param reader The body. A UTF-8 character may be split across chunks. */
  constructor(reader: BodyReader) {
    this.#reader = reader;
  }

  /** The event that is truncated by the end of the body. */
  get unfinished(): SseEvent | undefined {
    return this.#parser.unfinished;
  }

  /** Whether a comment was read since the last call. */
  takeComment(): boolean {
    return this.#parser.takeComment();
  }

  /**
   * Returns the events that the next chunk of the body completes, possibly none; undefined after the last chunk.
   *
   * @throws Any error of reading the body.
   */
  async read(): Promise<SseEvent[] | undefined> {
    if (this.#isOver) return undefined;
    const { done, value } = await this.#reader.read();
    this.#isOver = done;
    return this.#parser.push(done ? this.#decoder.decode() : this.#decoder.decode(value, { stream: true }));
  }

  /** Cancels the body, unless all of it was read. */
  async cancel(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#reader.cancel().catch(() => {}); // rejects if the body has failed
  }
}

/**
 * Reads a body as batches of events that arrive together. Comments that arrive alone are one batch. The last event may be
 * one that the end of the body truncates: many servers omit the blank line after it. Exiting the loop early cancels the
 * body.
 *
 * @param reader The body. A UTF-8 character may be split across chunks.
 * @throws Any error of reading the body.
 *
 * @example
 * ```ts
 * const response = await fetch("https://api.acme.example/v1/events");
 * for await (const events of readSse(response.body!.getReader())) for (const { data } of events) console.log(data);
 * ```
 */
export async function* readSse(reader: BodyReader): AsyncGenerator<SseEvent[]> {
  const events = new SseReader(reader);
  try {
    for (let batch = await events.read(); batch !== undefined; batch = await events.read()) {
      const hasComment = events.takeComment();
      if (batch.length > 0) yield batch;
      else if (hasComment) yield [comment];
    }
    if (events.unfinished !== undefined) yield [events.unfinished];
  } finally {
    await events.cancel();
  }
}
