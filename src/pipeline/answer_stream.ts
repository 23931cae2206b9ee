/**
 * A committed stream on its way to the client.
 * @module
 */
import type { ChatCompletionChunk, CompletionUsage } from "../contracts/openai.ts";
import type { CompletionChunk } from "../contracts/provider.ts";
import { StreamInterruptedError } from "../errors.ts";
import type { Outcome } from "../state/usage.ts";
import { editMembers } from "../util/json_members.ts";
import { AttemptTimeout, failureOf } from "./failure.ts";
import type { OpenStream } from "./open_stream.ts";
import { OutputEstimate } from "./output_estimate.ts";
import type { Routed } from "./routed.ts";

/** What an {@linkcode AnswerStream} is made of. */
interface AnswerStreamParts {
  /** Where the stream comes from. */
  readonly routed: Routed<OpenStream>;
  /** Whether the client asked for the usage. */
  readonly wantsUsage: boolean;
  /** Called when the provider fails midway. */
  readonly onInterrupt: () => void;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  /** How much of it is kept for the request log; 0: nothing. */
  readonly keptBytes: number;
}

/**
 * How a stream ended:
 * - `complete`: the provider sent all of it
 * - `interrupted`: the provider failed midway
 * - `cancelled`: the reader does not want the rest
 * - `stopped`: by the client's signal, or because it was not read; between two reads or during one
 */
type StreamEnd =
  | { readonly kind: "complete" | "cancelled" }
  | { readonly kind: "interrupted" | "stopped"; readonly reason: unknown };

/** What an end means for the model: only an interruption is its failure. */
const outcomes: Readonly<Record<StreamEnd["kind"], Outcome>> = {
  complete: "success",
  interrupted: "failure",
  cancelled: "none",
  stopped: "none",
};

const none = () => {};

/** The events of one answer, one after the other. */
export class AnswerStream {
  /** Called when it is stopped, with the reason. */
  onStop?: (reason: unknown) => void;
  readonly #parts: AnswerStreamParts;
  readonly #written = new OutputEstimate();
  /** Its events as they are logged, one a line. */
  #kept = "";
  #position = 0;
  #usage: CompletionUsage | undefined;
  /** The last event that had nothing but usage. */
  #counts: CompletionChunk | undefined;
  #last: ChatCompletionChunk | undefined;
  /** Undefined while it is open; the first end holds. */
  #end: StreamEnd | undefined;
  /** Ends the wait for the next event: a source may ignore the connection's end. */
  #leave: (reason: unknown) => void = none;

  /** @param parts What it is made of. */
  constructor(parts: AnswerStreamParts) {
    this.#parts = parts;
    const { connection, answer } = parts.routed;
    answer.held.forEach((chunk) => this.#measure(chunk));
    connection.pause();
    connection.stop.addEventListener("abort", () => {
      const { reason } = connection.stop;
      // a silence of the provider is its failure: the read that waits for it ends the stream
      if (!(reason instanceof AttemptTimeout)) this.#close({ kind: "stopped", reason });
      this.#leave(reason);
    });
  }

  /** Whether the client's side ended it; what is read from then on is the reason, thrown. */
  get isStopped(): boolean {
    return this.#end?.kind === "stopped";
  }

  /**
   * The next event; undefined when the answer is complete, or was cancelled.
   *
   * @throws {StreamInterruptedError} When the provider fails midway.
   * @throws The reason of a stop.
   */
  async read(): Promise<CompletionChunk | undefined> {
    while (this.#end === undefined) {
      const { held, complete } = this.#parts.routed.answer;
      const isHeld = this.#position < held.length;
      const chunk = isHeld ? held[this.#position++] : complete ? undefined : await this.#next();
      if (this.#end !== undefined) break;
      if (chunk === undefined) return this.#finish();
      const { usage } = chunk.value;
      if (usage === null || usage === undefined) return this.#pass(chunk);
      this.#usage = usage; // passed on once, at the end
      this.#counts = undefined;
      if (chunk.value.choices.length > 0) return this.#pass(withoutUsage(chunk));
      this.#counts = chunk;
    }
    if (this.#end.kind === "stopped") throw this.#end.reason;
    return undefined;
  }

  /** Ends the stream early, and the provider's call with it; no failure of anybody. */
  cancel(): void {
    this.#close({ kind: "cancelled" });
  }

  #pass(chunk: CompletionChunk): CompletionChunk {
    this.#last = chunk.value;
    if (this.#kept.length < this.#parts.keptBytes) this.#kept += `${chunk.wire ?? JSON.stringify(chunk.value)}\n`;
    return chunk;
  }

  /** Also what the client leaves unread was written. */
  #measure({ value, others }: CompletionChunk): void {
    this.#written.add(value.choices);
    others?.forEach(({ choices }) => this.#written.add(choices));
  }

  /** Reads the next chunk of the source. Creates few promises, since every event passes here. */
  #next(): Promise<CompletionChunk | undefined> {
    const { connection, answer: { rest } } = this.#parts.routed;
    connection.listen();
    return new Promise((resolve, reject) => {
      const settle = () => {
        this.#leave = none;
        connection.pause();
        if (this.#end === undefined) return true;
        resolve(undefined);
        return false;
      };
      const fail = (error: unknown) => {
        if (settle()) reject(this.#interrupted(error));
      };
      this.#leave = fail;
      if (connection.stop.aborted) return fail(connection.stop.reason);
      // a custom connector may throw in place of a rejection, and produce anything
      const take = (result: IteratorResult<CompletionChunk>) => {
        if (!settle()) return;
        try {
          if (!result.done) this.#measure(result.value);
          resolve(result.done ? undefined : result.value);
        } catch (error) {
          reject(this.#interrupted(error));
        }
      };
      try {
        rest.next().then(take, fail);
      } catch (error) {
        fail(error);
      }
    });
  }

  #interrupted(error: unknown): StreamInterruptedError {
    const { member } = this.#parts.routed;
    const failure = failureOf(error, member.model.instance.provider!, this.#parts.redact);
    this.#close({ kind: "interrupted", reason: error });
    return new StreamInterruptedError(`The answer was cut short: ${failure.message}`, "");
  }

  /** The end of a complete answer, after its usage where the client asked for that. */
  #finish(): CompletionChunk | undefined {
    const usage = this.#usage;
    this.#close({ kind: "complete" });
    if (!this.#parts.wantsUsage || usage === undefined) return undefined;
    if (this.#counts !== undefined || this.#last === undefined) return this.#counts;
    const { id, object, created, model } = this.#last;
    return { value: { id, object, created, model, choices: [], usage }, more: true };
  }

  /** The one way from open to an end: settles the request, frees the source, ends the provider's call. */
  #close(end: StreamEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    const { routed: { connection, answer, settle }, onInterrupt } = this.#parts;
    settle(outcomes[end.kind], {
      usage: this.#usage,
      written: () => this.#written.tokens,
      text: () => this.#kept,
    });
    if (end.kind === "interrupted") {
      onInterrupt();
      connection.abort(end.reason);
    }
    if (end.kind === "cancelled") connection.abort(new DOMException("The client has left", "AbortError"));
    // a source that has more to send, such as data after `[DONE]`, frees its socket; its failure is none any more
    answer.rest.return?.()?.catch(() => {});
    if (end.kind === "stopped") this.onStop?.(end.reason);
  }
}

/** What an event has beside the usage; its text stays byte for byte. */
function withoutUsage({ value, wire, ...rest }: CompletionChunk): CompletionChunk {
  const { usage: _, ...other } = value;
  return { ...rest, value: other, ...(wire === undefined ? {} : { wire: editMembers(wire, { usage: undefined }) }) };
}
