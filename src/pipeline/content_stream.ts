/**
 * Responses other than JSON, such as audio, streamed to the client.
 * @module
 */
import type { CompletionResponse } from "../contracts/provider.ts";
import type { StopSignal } from "../contracts/runtime.ts";
import { StreamInterruptedError, UpstreamError } from "../errors.ts";
import type { Outcome } from "../state/counters/usage.ts";
import { endIterator } from "../util/end_iterator.ts";
import { AttemptTimeout, type Failure, summarizeFailure, toFailure } from "./failure.ts";
import { clientDisconnect, type Routed, type Served } from "./routed.ts";
import type { AnswerUsage } from "./operation.ts";

/** Content whose first bytes have been received. */
export interface OpenContent {
  /** Further facts from the provider. */
  readonly body: unknown;
  readonly type: string;
  readonly first: Uint8Array;
  /** The bytes after the first ones. */
  readonly rest: AsyncIterator<Uint8Array>;
}

/**
 * Reads content up to its first bytes. After a failure before that, the request can rotate.
 *
 * @param response The response, not yet read.
 * @param signal Aborts the call.
 * @throws Any error of the provider before the first bytes.
 */
export async function openContent(
  { content, body }: CompletionResponse<unknown>,
  signal: StopSignal,
): Promise<Served<OpenContent>> {
  if (content === undefined) throw new UpstreamError("The provider sent no content", { kind: "invalid_response" });
  const { type, bytes } = content;
  const rest = (bytes instanceof Uint8Array ? once(bytes) : bytes)[Symbol.asyncIterator]();
  signal.addEventListener("abort", () => endIterator(rest));
  for (;;) {
    const { done, value } = await rest.next();
    if (signal.aborted) throw signal.reason;
    if (done) return { answer: { body, type, first: new Uint8Array(), rest }, empty: true };
    if (value.length > 0) return { answer: { body, type, first: value, rest }, empty: false };
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

/** Dependencies of a {@linkcode ContentStream}. */
interface ContentStreamParts {
  readonly routed: Routed<OpenContent>;
  /** The known usage. */
  readonly usage: AnswerUsage;
  /** Called if the provider fails midway. */
  readonly onInterrupt: () => void;
  readonly redact: (text: string) => string;
}

/** The bytes of one response, chunk by chunk, without reading ahead. */
export class ContentStream {
  /** Media type, such as `audio/mpeg`. */
  readonly type: string;
  /** Called with the reason if the stream is stopped while no read is pending. */
  onStop?: (reason: unknown) => void;
  readonly #parts: ContentStreamParts;
  #first: Uint8Array | undefined;
  #isOver = false;
  #leave: (reason: unknown) => void = () => {};

  constructor(parts: ContentStreamParts) {
    this.#parts = parts;
    const { answer, connection } = parts.routed;
    this.type = answer.type;
    this.#first = answer.first;
    connection.pause();
    connection.stop.addEventListener("abort", () => {
      const { reason } = connection.stop;
      // an idle timeout of the provider is its failure: the pending read ends the stream
      if (!(reason instanceof AttemptTimeout) && this.#end("none", reason)) this.onStop?.(reason);
      this.#leave(reason);
    });
  }

  /**
   * The next bytes; undefined at the end.
   *
   * @throws {StreamInterruptedError} When the provider fails midway.
   * @throws The reason, if the stream was stopped.
   */
  async read(): Promise<Uint8Array | undefined> {
    const { connection, answer: { rest }, member } = this.#parts.routed;
    if (this.#isOver) {
      if (connection.stop.aborted) throw connection.stop.reason;
      return undefined;
    }
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    connection.listen();
    try {
      const { done, value } = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        this.#leave = reject;
        if (connection.stop.aborted) reject(connection.stop.reason);
        rest.next().then(resolve, reject);
      });
      if (!done) return value;
      this.#end("success");
      return undefined;
    } catch (error) {
      const { host } = connection;
      const failure = { ...toFailure(error, member.model.instance.provider!, this.#parts.redact), host };
      const reason = new StreamInterruptedError(`The answer was cut short: ${summarizeFailure(failure)}`, "");
      if (!this.#end("failure", reason, failure)) throw error;
      this.#parts.onInterrupt();
      connection.abort(reason);
      throw reason;
    } finally {
      connection.pause();
    }
  }

  /** Cancels the stream and the provider's call. It does not count as a failure. */
  cancel(): void {
    const reason = clientDisconnect();
    if (this.#end("none", reason)) this.#parts.routed.connection.abort(reason);
  }

  /** Settles the request once. Returns false if it was settled before. */
  #end(outcome: Outcome, cause?: unknown, failure?: Failure): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    const { routed: { settle, answer }, usage } = this.#parts;
    settle(outcome, { ...usage, cause, failure });
    endIterator(answer.rest);
    return true;
  }
}
