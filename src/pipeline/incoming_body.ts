/**
 * A body that comes bit by bit, as it is sent.
 * @module
 */

/** What is noted of it. */
interface ConnectionMonitor {
  /** Something has moved. */
  touch(): void;
  /** Ends the call. */
  abort(reason: unknown): void;
}

/** A body that comes from elsewhere: each chunk is a sign of life, and its failure is the call's. */
export class IncomingBody implements AsyncIterable<Uint8Array> {
  /** Some of it was read: it cannot be sent again. */
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
