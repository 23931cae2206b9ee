/**
 * JSON lines, as they come.
 * @module
 */
import { UnsupportedRequestError } from "../errors.ts";
import { concat } from "../util/bytes.ts";

/** A line that is not blank. */
export interface Line {
  /** From 1. */
  readonly number: number;
  readonly bytes: Uint8Array;
}

const newline = 10;
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Finds lines in chunks. */
export class LineSplitter {
  readonly #maxBytes: number;
  #held: Uint8Array[] = [];
  #size = 0;
  #number = 1;

  /** @param maxBytes Of one line. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * The lines that end in a chunk, blank ones left out.
   *
   * @throws {UnsupportedRequestError} For a longer one.
   */
  *push(chunk: Uint8Array): Generator<Line> {
    for (let from = 0; from < chunk.length;) {
      const at = chunk.indexOf(newline, from);
      const isWhole = at >= 0;
      const piece = chunk.subarray(from, isWhole ? at : chunk.length);
      this.#held.push(isWhole ? piece : piece.slice()); // the chunk itself is free again
      this.#size += piece.length;
      if (this.#size > this.#maxBytes) throw brokenLine(this.#number, `is over ${this.#maxBytes} bytes`);
      if (!isWhole) return;
      yield* this.end();
      this.#number++;
      from = at + 1;
    }
  }

  /** The last line. */
  *end(): Generator<Line> {
    const bytes = concat(this.#held);
    this.#held = [];
    this.#size = 0;
    if (!isBlank(bytes)) yield { number: this.#number, bytes };
  }
}

/**
 * The lines of a file, blank ones left out.
 *
 * @param chunks Read once.
 * @param maxBytes Of one line.
 * @throws {UnsupportedRequestError} For a longer line.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Line> {
  const splitter = new LineSplitter(maxBytes);
  for await (const chunk of chunks) yield* splitter.push(chunk);
  yield* splitter.end();
}

/**
 * The object of a line.
 *
 * @throws {UnsupportedRequestError} Naming the line, when it is none.
 */
export function objectIn({ number, bytes }: Line): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(bytes));
  } catch {
    throw brokenLine(number, "is not valid JSON");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw brokenLine(number, "is no JSON object");
}

/** The error of a line: a file of JSON lines has one object in each. */
export function brokenLine(number: number, what: string): UnsupportedRequestError {
  return new UnsupportedRequestError(`Line ${number} of the file ${what}`, { code: "invalid_value", param: "file" });
}

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 32 || byte === 9 || byte === 13);
}
