/**
 * Parses a stream of JSON lines.
 * @module
 */
import { UnsupportedRequestError } from "../errors.ts";
import { parseBoundedJson } from "../util/bounded_json.ts";
import { concat } from "../util/bytes.ts";

/** A non-empty line. */
export interface Line {
  /** Line number, starting at 1. */
  readonly number: number;
  readonly bytes: Uint8Array;
}

const newline = 10;
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Splits chunks into lines. */
export class LineSplitter {
  readonly #maxBytes: number;
  #buffered: Uint8Array[] = [];
  #size = 0;
  #number = 1;

  /** @param maxBytes Maximum line length. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Returns the lines that end in a chunk, without empty ones.
   *
   * @throws {UnsupportedRequestError} When a line is too long.
   */
  *push(chunk: Uint8Array): Generator<Line> {
    for (let from = 0; from < chunk.length;) {
      const at = chunk.indexOf(newline, from);
      const isComplete = at >= 0;
      const part = chunk.subarray(from, isComplete ? at : chunk.length);
      this.#buffered.push(isComplete ? part : part.slice()); // copied, so that the chunk can be collected
      this.#size += part.length;
      if (this.#size > this.#maxBytes) throw brokenLine(this.#number, `is over ${this.#maxBytes} bytes`);
      if (!isComplete) return;
      yield* this.end();
      this.#number++;
      from = at + 1;
    }
  }

  /** Returns the last line. */
  *end(): Generator<Line> {
    const bytes = concat(this.#buffered);
    this.#buffered = [];
    this.#size = 0;
    if (!isBlankLine(bytes)) yield { number: this.#number, bytes };
  }
}

/**
 * Yields the lines of a file, without empty ones.
 *
 * @param chunks The content. Can be read once.
 * @param maxBytes Maximum line length.
 * @throws {UnsupportedRequestError} When a line is too long.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Line> {
  const splitter = new LineSplitter(maxBytes);
  for await (const chunk of chunks) yield* splitter.push(chunk);
  yield* splitter.end();
}

/**
 * Parses a line as a JSON object.
 *
 * @throws {UnsupportedRequestError} When it is not one; the message names the line.
 */
export function parseLineObject({ number, bytes }: Line): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseBoundedJson(decoder.decode(bytes));
  } catch {
    throw brokenLine(number, "is not valid JSON");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw brokenLine(number, "is not a JSON object");
}

/** Returns the error of an invalid line. */
export function brokenLine(number: number, what: string): UnsupportedRequestError {
  return new UnsupportedRequestError(`Line ${number} of the file ${what}`, { code: "invalid_value", param: "file" });
}

function isBlankLine(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 32 || byte === 9 || byte === 13);
}
