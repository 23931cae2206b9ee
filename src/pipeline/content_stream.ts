/**
 * Responses other than JSON, such as audio, streamed to the client.
 * @module
 */
import type { CompletionRequest, CompletionResponse } from "../contracts/provider.ts";
import type { StopSignal } from "../contracts/runtime.ts";
import { StreamInterruptedError, UpstreamError } from "../errors.ts";
import type { Outcome } from "../state/counters/usage.ts";
import { concat } from "../util/bytes.ts";
import { endIterator } from "../util/end_iterator.ts";
import { AttemptTimeout, type Failure, summarizeFailure, toFailure } from "./failure.ts";
import { readResponse } from "./read_response.ts";
import type { RouteDeps } from "./request.ts";
import { type Call, clientDisconnect, type Received, type Result } from "./result.ts";
import type { Operation, ResponseUsage } from "./operation.ts";

/** Content whose first bytes have been received. */
export interface OpenContent extends Received {
  /** Further facts from the provider. */
  readonly body: unknown;
  readonly type: string;
  readonly first: Uint8Array;
  /** The bytes after the first ones. */
  readonly rest: AsyncIterator<Uint8Array>;
}

/** Requests content from one model. */
export function openingContent(operation: Operation): Call<OpenContent> {
  return async ({ model }, { completion }, connection) => {
    connection.passOn();
    const response = await model.instance.provider!.complete(completion as CompletionRequest, connection);
    const content = await openContent(readResponse(response, completion, operation), connection.stop);
    connection.begin();
    return content;
  };
}

/** Reads committed content. */
export function readContent(result: Result<OpenContent>, operation: Operation, deps: RouteDeps): ContentStream {
  const usage = operation.usageIn(result.received.body);
  const onInterrupt = () => result.reportInterrupt();
  return new ContentStream({ result, usage, onInterrupt, redact: deps.redact });
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
): Promise<OpenContent> {
  if (content === undefined) throw new UpstreamError("The provider sent no content", { kind: "invalid_response" });
  const { type, bytes } = content;
  const rest = (bytes instanceof Uint8Array ? emitOnce(bytes) : bytes)[Symbol.asyncIterator]();
  signal.addEventListener("abort", () => endIterator(rest));
  let first: Uint8Array = new Uint8Array();
  for (;;) {
    const { done, value } = await rest.next();
    if (signal.aborted) throw signal.reason;
    if (done) return { body, type, first, rest, isEmpty: true };
    first = first.length === 0 ? value : concat([first, value]);
    if (hasContent(first, type)) return { body, type, first, rest, isEmpty: false };
  }
}

/** Maximum length of comments that are held before events, bytes. */
const maxHeldBytes = 64 * 1024;

/** Whether bytes contain more than comments, which a provider sends before its first event. */
function hasContent(bytes: Uint8Array, type: string): boolean {
  const isEvents = /^text\/event-stream\b/i.test(type) && bytes.length < maxHeldBytes;
  return isEvents ? /^data:/m.test(new TextDecoder().decode(bytes)) : bytes.length > 0;
}

async function* emitOnce(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

/** Dependencies of a {@linkcode ContentStream}. */
interface ContentStreamParts {
  readonly result: Pick<Result<OpenContent>, "member" | "received" | "connection" | "settle">;
  /** The known usage. */
  readonly usage: ResponseUsage;
  /** Called if the provider fails midway. */
  readonly onInterrupt: () => void;
  readonly redact: (text: string) => string;
}

/** The bytes of a response as its consumers read them. */
export type ByteStream = Pick<ContentStream, "type" | "onStop" | "read" | "cancel">;

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
    const { received, connection } = parts.result;
    this.type = received.type;
    this.#first = received.first;
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
    const { connection, received: { rest }, member } = this.#parts.result;
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
      const redact = connection.toRedaction(this.#parts.redact);
      const failure = { ...toFailure(error, member.model.instance.provider!, redact), host };
      const reason = new StreamInterruptedError(`The response was cut short: ${summarizeFailure(failure)}`, "");
      if (!this.#end(failure.kind === "request" ? "none" : "failure", reason, failure)) throw error;
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
    if (this.#end("none", reason)) this.#parts.result.connection.abort(reason);
  }

  /** Settles the request once. Returns false if it was settled before. */
  #end(outcome: Outcome, cause?: unknown, failure?: Failure): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    const { result, usage } = this.#parts;
    result.settle(outcome, { ...usage, cause, failure });
    endIterator(result.received.rest);
    return true;
  }
}
