/**
 * A request body that is received and sent in chunks.
 * @module
 */
import type { Connection } from "./connection.ts";

/** A body from the client. Each chunk restarts the idle timeout; an error aborts the call. */
export class IncomingBody implements AsyncIterable<Uint8Array> {
  /** Whether it was read in part, and therefore cannot be resent. */
  isBegun = false;
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #connection: Pick<Connection, "touch" | "abort">;

  constructor(source: AsyncIterable<Uint8Array>, connection: Pick<Connection, "touch" | "abort">) {
    this.#source = source;
    this.#connection = connection;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    this.isBegun = true;
    const connection = this.#connection;
    try {
      for await (const chunk of this.#source) {
        connection.touch();
        yield chunk;
        connection.touch();
      }
    } catch (error) {
      connection.abort(error);
      throw error;
    }
  }
}
