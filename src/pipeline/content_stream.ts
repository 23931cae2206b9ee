/**
 * A response that is no JSON, such as sound, on its way to the client: bytes as they arrive.
 * @module
 */
import type { CompletionResponse } from "../contracts/provider.ts";
import type { StopSignal } from "../contracts/runtime.ts";
import { StreamInterruptedError, UpstreamError } from "../errors.ts";
import type { Outcome } from "../state/usage.ts";
import { AttemptTimeout, failureOf } from "./failure.ts";
import type { AnswerUsage, Routed, Served } from "./routed.ts";

/** Content whose first bytes have arrived. */
export interface OpenContent {
  /** What else its provider says of it. */
  readonly body: unknown;
  readonly type: string;
  readonly first: Uint8Array;
  /** The bytes after them. */
  readonly rest: AsyncIterator<Uint8Array>;
}

/**
 * Reads content up to its first bytes: a failure up to there can go to another model.
 *
 * @param response Its content is not read yet.
 * @param signal Ends the call.
 * @throws Whatever the provider throws before them.
 */
export async function openContent(
  { content, body }: CompletionResponse<unknown>,
  signal: StopSignal,
): Promise<Served<OpenContent>> {
  if (content === undefined) throw new UpstreamError("The provider sent no content", { kind: "invalid_response" });
  const { type, bytes } = content;
  const rest = (bytes instanceof Uint8Array ? once(bytes) : bytes)[Symbol.asyncIterator]();
  signal.addEventListener("abort", () => void rest.return?.()?.catch(() => {}));
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

/** What a {@linkcode ContentStream} is made of. */
interface ContentStreamParts {
  readonly routed: Routed<OpenContent>;
  /** What the response took, as far as it is known. */
  readonly usage: AnswerUsage;
  /** Called when the provider fails midway. */
  readonly onInterrupt: () => void;
  readonly redact: (text: string) => string;
}

/** The bytes of one answer, chunk by chunk. Nothing is read ahead. */
export class ContentStream {
  /** Media type, such as `audio/mpeg`. */
  readonly type: string;
  /** Called when it is stopped while it is not read, with the reason. */
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
      // a silence of the provider is its failure: the read that waits for it ends the stream
      if (!(reason instanceof AttemptTimeout) && this.#end("none")) this.onStop?.(reason);
      this.#leave(reason);
    });
  }

  /**
   * The next bytes; undefined at the end.
   *
   * @throws {StreamInterruptedError} When the provider fails midway.
   * @throws The reason of a stop.
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
      if (!this.#end("failure")) throw error;
      const { message } = failureOf(error, member.model.instance.provider!, this.#parts.redact);
      this.#parts.onInterrupt();
      connection.abort(error);
      throw new StreamInterruptedError(`The answer was cut short: ${message}`, "");
    } finally {
      connection.pause();
    }
  }

  /** Ends it early, and the provider's call with it; no failure of anybody. */
  cancel(): void {
    if (!this.#end("none")) return;
    this.#parts.routed.connection.abort(new DOMException("The client has left", "AbortError"));
  }

  /** Settles the request once; false when it was over already. */
  #end(outcome: Outcome): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    const { routed: { settle, answer }, usage } = this.#parts;
    settle(outcome, usage);
    answer.rest.return?.()?.catch(() => {});
    return true;
  }
}
