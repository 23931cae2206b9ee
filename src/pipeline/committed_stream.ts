/**
 * A committed stream, read by the client.
 * @module
 */
import type { ChatCompletionChunk, CompletionUsage } from "../contracts/openai.ts";
import type { CompletionChunk } from "../contracts/provider.ts";
import { StreamInterruptedError } from "../errors.ts";
import type { Outcome } from "../state/counters/usage.ts";
import { endIterator } from "../util/end_iterator.ts";
import { editMembers } from "../util/json_members.ts";
import { AttemptTimeout, type Failure, isOverloaded, summarizeFailure, toFailure } from "./failure.ts";
import { addUsage, type OpenStream } from "./open_stream.ts";
import type { ReportedUsage } from "./operation.ts";
import { OutputEstimate } from "./estimate.ts";
import { clientDisconnect, type Result } from "./result.ts";

/** Dependencies of a {@linkcode CommittedStream}. */
interface CommittedStreamParts {
  readonly result: Pick<Result<OpenStream>, "member" | "received" | "connection" | "settle">;
  /** Whether the client requested usage (`stream_options.include_usage`). */
  readonly wantsUsage: boolean;
  /** Called if the provider fails midway. */
  readonly onInterrupt: () => void;
  /** Redacts secrets in a string. */
  readonly redact: (text: string) => string;
  /** Size at which the request log stops keeping events; 0 keeps none. */
  readonly keptBytes: number;
}

/**
 * How a stream ended:
 * - `complete`: the provider sent the complete response
 * - `interrupted`: the provider failed midway
 * - `cancelled`: the reader cancelled it
 * - `stopped`: aborted by the client's signal, or because it was not read; between reads or during one
 */
type StreamEnd =
  | { readonly kind: "complete"; readonly reason?: undefined; readonly failure?: undefined }
  | {
    readonly kind: "interrupted" | "cancelled" | "stopped";
    readonly reason: unknown;
    readonly failure?: Failure;
  };

/** The outcome for the model. Only an interruption that is not the fault of the request counts as its failure. */
const outcomes: Readonly<Record<StreamEnd["kind"], Outcome>> = {
  complete: "success",
  interrupted: "failure",
  cancelled: "none",
  stopped: "none",
};

/** A read of the consumer. */
interface PendingRead {
  readonly resolve: (chunk: CompletionChunk | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** The events of a response as its consumers read them. */
export type EventStream = Pick<CommittedStream, "onStop" | "isStopped" | "read" | "cancel">;

/** The events of one streaming response, in order. */
export class CommittedStream {
  /** Called with the reason if the stream is stopped. */
  onStop?: (reason: unknown) => void;
  readonly #parts: CommittedStreamParts;
  readonly #written = new OutputEstimate();
  /** Events for the request log, one per line. */
  #kept = "";
  #position = 0;
  #usage: CompletionUsage | undefined;
  /** What the provider bills besides, and the service tier. */
  #billed: ReportedUsage = { usage: undefined };
  /** The last event, if it contains only usage. */
  #counts: CompletionChunk | undefined;
  #last: ChatCompletionChunk | undefined;
  /** Undefined while the stream is open. The first end applies. */
  #end: StreamEnd | undefined;
  #waiting: PendingRead | undefined;

  constructor(parts: CommittedStreamParts) {
    this.#parts = parts;
    const { connection, received } = parts.result;
    received.held.forEach((chunk) => this.#measure(chunk));
    connection.pause();
    connection.stop.addEventListener("abort", () => {
      if (connection.isEnded) return; // the source ends by itself
      const { reason } = connection.stop;
      // an idle timeout of the provider is its failure: the pending read ends the stream
      if (!(reason instanceof AttemptTimeout)) this.#close({ kind: "stopped", reason });
      this.#fail(reason); // since a source may ignore the signal
    });
    connection.onLeave = (reason) => this.#close({ kind: "stopped", reason });
  }

  /** Whether the stream was stopped. Later reads throw the reason. */
  get isStopped(): boolean {
    return this.#end?.kind === "stopped";
  }

  /**
   * The next event, or a ping of the provider; undefined when the response is complete or was cancelled.
   *
   * @throws {StreamInterruptedError} If the provider fails midway.
   * @throws The reason, if the stream was stopped.
   */
  read(): Promise<CompletionChunk | undefined> {
    return new Promise((resolve, reject) => {
      const read = { resolve, reject };
      if (this.#end === undefined) this.#advance(read);
      else this.#leave(read, this.#end);
    });
  }

  /**
   * Cancels the stream and the provider's call. It does not count as a failure of the model.
   *
   * @param reason The reason for the record.
   * @default the client has disconnected
   */
  cancel(reason: unknown = clientDisconnect()): void {
    this.#close({ kind: "cancelled", reason });
  }

  /** Ends a read with the next event. */
  #advance(read: PendingRead): void {
    const { held, complete } = this.#parts.result.received;
    while (this.#position < held.length) {
      const chunk = this.#select(held[this.#position++]!);
      if (chunk !== undefined) return read.resolve(chunk);
    }
    held.length = this.#position = 0; // an open stream keeps nothing that it has passed on
    if (complete) return read.resolve(this.#finish());
    this.#waiting = read;
    this.#next();
  }

  /** Ends a read of a stream that has ended. */
  #leave({ resolve, reject }: PendingRead, { kind, reason }: StreamEnd): void {
    if (kind === "stopped") reject(reason);
    else resolve(undefined);
  }

  /** Returns what is forwarded of an event now; undefined for usage, which is forwarded once, at the end. */
  #select(chunk: CompletionChunk): CompletionChunk | undefined {
    if (chunk.isPing) return chunk;
    const { usage } = chunk.value;
    if (usage === null || usage === undefined) return this.#pass(chunk);
    this.#usage = usage;
    this.#counts = undefined;
    if (chunk.value.choices.length > 0) return this.#pass(withoutUsage(chunk));
    this.#counts = chunk;
    return undefined;
  }

  #pass(chunk: CompletionChunk): CompletionChunk {
    this.#last = chunk.value;
    if (this.#kept.length < this.#parts.keptBytes) this.#kept += `${chunk.wire ?? JSON.stringify(chunk.value)}\n`;
    return chunk;
  }

  /** Counts output as generated, whether or not the client reads it. */
  #measure(chunk: CompletionChunk): void {
    const { value, others, billed } = chunk;
    if (billed !== undefined || value.service_tier !== undefined) this.#billed = addUsage(this.#billed, chunk);
    this.#written.add(value.choices);
    others?.forEach(({ choices }) => this.#written.add(choices));
  }

  /** Reads the next chunk of the source. Creates few objects, since every event passes here. */
  #next(): void {
    const { connection, received: { rest } } = this.#parts.result;
    connection.listen();
    if (connection.stop.aborted && !connection.isEnded) return this.#fail(connection.stop.reason);
    try {
      rest.next().then(this.#take, this.#fail);
    } catch (error) {
      this.#fail(error); // a custom connector may throw instead of rejecting
    }
  }

  readonly #take = (result: IteratorResult<CompletionChunk>): void => {
    const read = this.#settle();
    if (read === undefined) return;
    try {
      const chunk = result.done ? this.#finish() : this.#select(this.#accept(result.value));
      if (result.done || chunk !== undefined) return read.resolve(chunk);
    } catch (error) {
      return read.reject(this.#interrupted(error));
    }
    this.#waiting = read;
    this.#next();
  };

  /** @throws If a custom connector yields an invalid value. */
  #accept(event: CompletionChunk): CompletionChunk {
    const chunk = this.#parts.result.received.filter.read(event);
    this.#measure(chunk);
    return chunk;
  }

  readonly #fail = (error: unknown): void => this.#settle()?.reject(this.#interrupted(error));

  /** Ends the pending read. Returns it, unless the stream has ended meanwhile. */
  #settle(): PendingRead | undefined {
    const waiting = this.#waiting;
    if (waiting === undefined) return undefined;
    this.#waiting = undefined;
    this.#parts.result.connection.pause();
    if (this.#end === undefined) return waiting;
    this.#leave(waiting, this.#end);
    return undefined;
  }

  #interrupted(error: unknown): StreamInterruptedError {
    const { member, connection } = this.#parts.result;
    const redact = connection.toRedaction(this.#parts.redact);
    const failure = { ...toFailure(error, member.model.instance.provider!, redact), host: connection.host };
    const message = `The response was cut short: ${summarizeFailure(failure)}`;
    const interrupted = new StreamInterruptedError(message, "", { isOverload: isOverloaded(failure) });
    this.#close({ kind: "interrupted", reason: interrupted, failure });
    return interrupted;
  }

  /** Ends a complete response; returns its usage if the client requested that. */
  #finish(): CompletionChunk | undefined {
    const usage = this.#usage;
    this.#close({ kind: "complete" });
    if (!this.#parts.wantsUsage || usage === undefined) return undefined;
    if (this.#counts !== undefined || this.#last === undefined) return this.#counts;
    const { id, object, created, model } = this.#last;
    return { value: { id, object, created, model, choices: [], usage }, more: true };
  }

  /** Ends the stream once: settles the request, releases the source, and aborts an unfinished call. */
  #close(end: StreamEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    const { result, onInterrupt } = this.#parts;
    const { connection, received } = result;
    const isOfRequest = end.failure?.kind === "request"; // such as content that is refused
    const limit = end.kind === "complete" ? received.rate?.exceeded : undefined;
    result.settle(isOfRequest ? "none" : limit === undefined ? outcomes[end.kind] : "failure", {
      limit,
      cause: end.reason,
      failure: end.failure,
      ...this.#billed,
      usage: this.#usage,
      written: () => this.#written.tokens,
      text: () => this.#kept,
    });
    if (end.kind === "interrupted") onInterrupt();
    if (end.kind === "interrupted" || end.kind === "cancelled") connection.abort(end.reason);
    received.release?.();
    // releases the socket of a source with more data, such as after `[DONE]`; its errors no longer matter
    endIterator(received.rest);
    if (end.kind === "stopped") this.onStop?.(end.reason);
  }
}

/** Removes usage from an event. The remainder of its JSON is unchanged, byte for byte. */
function withoutUsage({ value, wire, ...rest }: CompletionChunk): CompletionChunk {
  const { usage: _, ...other } = value;
  return { ...rest, value: other, ...(wire === undefined ? {} : { wire: editMembers(wire, { usage: undefined }) }) };
}
