/**
 * The body of a response, as it comes over its connection.
 * @module
 */
import { ChunkedDecoder } from "./chunked.ts";
import type { Connection } from "./connection.ts";
import type { Framing } from "./framing.ts";

/** Said of a connection that ends before its response does. */
export class CutResponse extends Error {
  override readonly name = "CutResponse";
}

/** What a body is read of, and who wants to hear of it. */
interface BodyOptions {
  readonly framing: Framing;
  readonly onBytes?: (() => void) | undefined;
  /** Called when all has been read. */
  readonly onEnd: () => void;
}

/** Reads a body to its end, and no byte further. */
export class Body {
  readonly #connection: Connection;
  readonly #options: BodyOptions;
  readonly #decoder: ChunkedDecoder | undefined;
  /** Bytes to come, where that is known. */
  #left: number;
  #isOver = false;

  constructor(connection: Connection, options: BodyOptions) {
    const { framing } = options;
    this.#connection = connection;
    this.#options = options;
    this.#decoder = framing.kind === "chunked" ? new ChunkedDecoder() : undefined;
    this.#left = framing.kind === "length" ? framing.length : Infinity;
    if (this.#left === 0) this.#end();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * What comes next.
   *
   * @returns Undefined at the end.
   * @throws {MalformedResponse} For broken chunks.
   * @throws {CutResponse} When the connection ends first.
   */
  async read(): Promise<Uint8Array | undefined> {
    const connection = this.#connection;
    while (!this.#isOver) {
      const piece = connection.start < connection.end ? this.#take() : undefined;
      if (piece !== undefined && piece.length > 0) return piece;
      if (this.#isOver) break;
      if (!await connection.fill()) {
        if (this.#options.framing.kind !== "close") throw new CutResponse("before its end");
        this.#end();
        break;
      }
      this.#options.onBytes?.();
    }
    return undefined;
  }

  #take(): Uint8Array {
    const connection = this.#connection;
    const decoder = this.#decoder;
    if (decoder !== undefined) {
      const { bytes, start, end } = connection;
      const dataEnd = decoder.decode(bytes, start, end);
      connection.start = decoder.consumed;
      const piece = bytes.slice(start, dataEnd);
      if (decoder.isOver) this.#end();
      return piece;
    }
    const piece = connection.take(this.#left);
    this.#left -= piece.length;
    if (this.#left === 0) this.#end();
    return piece;
  }

  #end(): void {
    this.#isOver = true;
    this.#options.onEnd();
  }
}
