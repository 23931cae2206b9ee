/**
 * The streamed body of an upload, of which nothing is stored.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import type { PlainRequest } from "../contracts/shell.ts";
import { DeadlineError } from "../errors.ts";
import { untilAborted } from "../util/until_aborted.ts";
import { bodyTooLarge, ClientDisconnectedError } from "./body_reader.ts";
import { HttpError } from "./error_body.ts";

/** Idle timeout of a client while its body is read, ms. */
const idleMs = 30_000;

/** Bytes to read after an error, so that a client which sends before it reads receives the error. */
const maxDrained = 8 * 1024 * 1024;

/** Limits of an upload. */
interface UploadBounds {
  /** Bytes. */
  readonly maxBytes: number;
  readonly clock: Clock;
}

/** The chunks of a body. After the reader has stopped, the rest can be drained. */
export class UploadBody implements AsyncIterable<Uint8Array> {
  readonly #request: PlainRequest;
  readonly #bounds: UploadBounds;
  #source: AsyncIterator<Uint8Array> | undefined;
  #received = 0;
  #isOver = false;

  /** @throws {HttpError} 413 if the declared length is too large. */
  constructor(request: PlainRequest, bounds: UploadBounds) {
    this.#request = request;
    this.#bounds = bounds;
    if (Number(request.headers.get("content-length")) > bounds.maxBytes) throw this.#tooLarge();
  }

  /**
   * Iterates over the chunks.
   *
   * @throws {HttpError} 413 if it is too large, 504 after the idle timeout.
   * @throws {ClientDisconnectedError} If it ends early.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (let chunk = await this.#next(); chunk !== undefined; chunk = await this.#next()) {
      this.#received += chunk.length;
      if (this.#received > this.#bounds.maxBytes) throw this.#tooLarge();
      yield chunk;
    }
  }

  /** Reads and discards the rest, up to a limit. */
  async drain(): Promise<void> {
    const end = this.#received + maxDrained;
    while (!this.#isOver && this.#received < end) this.#received += (await this.#next())?.length ?? Infinity;
  }

  async #next(): Promise<Uint8Array | undefined> {
    const { signal, body } = this.#request;
    const source = this.#source ??= (body ?? none())[Symbol.asyncIterator]();
    try {
      const message = `The request's body came too slowly: nothing within ${idleMs / 1000} s`;
      const { done, value } = await untilAborted(source.next(), signal, {
        clock: this.#bounds.clock,
        ms: idleMs,
        message,
      });
      this.#isOver = done === true;
      return done ? undefined : value;
    } catch (error) {
      this.#isOver = true;
      if (signal.aborted || error instanceof HttpError) throw error;
      if (!DeadlineError.isInstance(error)) throw new ClientDisconnectedError("The client has disconnected");
      throw new HttpError(error.message, {
        status: 504,
        type: "server_error",
        code: "timeout",
        headers: { connection: "close" },
      });
    }
  }

  #tooLarge(): HttpError {
    return bodyTooLarge({ maxBytes: this.#bounds.maxBytes, limitKey: "upload_limit" });
  }
}

async function* none(): AsyncGenerator<Uint8Array> {}
