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
    const normalized = this.#afterCr || text.includes("\r") ? this.#replaceCr(text) : text;
    // only new text is searched: a long line may arrive in many chunks
    let start = 0;
    for (let end = normalized.indexOf("\n"); end >= 0; end = normalized.indexOf("\n", start)) {
      this.#line(this.#partialLine + normalized.slice(start, end), events);
      this.#partialLine = "";
      start = end + 1;
    }
    this.#partialLine += normalized.slice(start);
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

  /** Replaces CR and CRLF by LF. */
  #replaceCr(text: string): string {
    if (text === "") return text;
    const isSecondHalf = this.#afterCr && text.startsWith("\n"); // of a CRLF split across chunks
    this.#afterCr = text.endsWith("\r");
    return text.slice(isSecondHalf ? 1 : 0).replace(/\r\n?/g, "\n");
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

/** Decodes text that neither starts nor ends within a character. */
const plainDecoder = /* @__PURE__ */ new TextDecoder("utf-8", { ignoreBOM: true });

/** Reads a body as batches of events that arrive together. */
export class SseReader {
  readonly #reader: BodyReader;
  /** Created for the first character that is split across chunks: it takes longer, since it keeps state. */
  #splitDecoder: TextDecoder | undefined;
  #isSplit = false;
  #hasBegun = false;
  readonly #parser = new SseParser();
  #isOver = false;

  /** @param reader The body. A UTF-8 character may be split across chunks. */
  constructor(reader: BodyReader) {
    this.#reader = reader;
    reader.lend?.();
  }

  /** Whether the end of the body was read, or the body cancelled. */
  get isOver(): boolean {
    return this.#isOver;
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
    return this.#isOver ? undefined : this.parse(await this.receive());
  }

  /** Reads the next chunk of the body, which must be passed to {@linkcode parse}. */
  receive(): ReturnType<BodyReader["read"]> {
    return this.#reader.read();
  }

  /** Returns the events that a chunk completes, possibly none. */
  parse({ done, value }: ReadableStreamReadResult<Uint8Array>): SseEvent[] {
    this.#isOver = done;
    return this.#parser.push(this.#decode(value));
  }

  /** @param bytes Undefined at the end. */
  #decode(bytes: Uint8Array | undefined): string {
    const wasSplit = this.#isSplit;
    this.#isSplit = bytes === undefined ? false : bytes.length > 0 ? bytes[bytes.length - 1]! > 0x7f : wasSplit;
    const text = wasSplit || this.#isSplit
      ? (this.#splitDecoder ??= new TextDecoder("utf-8", { ignoreBOM: true })).decode(bytes, { stream: !this.#isOver })
      : plainDecoder.decode(bytes);
    if (this.#hasBegun || text === "") return text;
    this.#hasBegun = true;
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
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
