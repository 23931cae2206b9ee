/**
 * A request body that is received and sent in chunks.
 * @module
 */

/** Receives the progress of the body. */
interface ConnectionMonitor {
  /** Restarts the idle timeout. */
  touch(): void;
  /** Aborts the call. */
  abort(reason: unknown): void;
}

/** A body from the client. Each chunk restarts the idle timeout; an error aborts the call. */
export class IncomingBody implements AsyncIterable<Uint8Array> {
  /** Whether it was read in part, and therefore cannot be resent. */
  isBegun = false;
  readonly #source: AsyncIterable<Uint8Array>;
  readonly #connection: ConnectionMonitor;

  constructor(source: AsyncIterable<Uint8Array>, connection: ConnectionMonitor) {
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
