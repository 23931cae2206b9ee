/**
 * A committed stream on its way to the client.
 * @module
 */
import type { ChatCompletionChunk, CompletionUsage } from "../contracts/openai.ts";
import type { CompletionChunk } from "../contracts/provider.ts";
import { StreamInterruptedError } from "../errors.ts";
import { editMembers } from "../util/json_members.ts";
import type { Outcome } from "../state/usage.ts";
import { AttemptTimeout, failureOf } from "./failure.ts";
import type { OpenStream } from "./open_stream.ts";
import { OutputEstimate } from "./output_estimate.ts";
import type { Routed } from "./routed.ts";

/** What an {@linkcode AnswerStream} is made of. */
export interface AnswerStreamParts {
  /** Where the stream comes from. */
  readonly routed: Routed<OpenStream>;
  /** Whether the client asked for the usage. */
  readonly wantsUsage: boolean;
  /** Told when the provider fails midway. */
  readonly onInterrupt: () => void;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
}

/** The events of one answer, one after the other. */
export class AnswerStream {
  readonly #parts: AnswerStreamParts;
  readonly #written = new OutputEstimate();
  #place = 0;
  #usage: CompletionUsage | undefined;
  /** The last event that told of nothing but usage. */
  #counts: CompletionChunk | undefined;
  #last: ChatCompletionChunk | undefined;
  #isOver = false;
  /** Told when it is ended from outside: by the client's signal, or because nobody read on. */
  onStop?: (reason: unknown) => void;
  /** Ends the wait for the next event: a source may not heed the connection's end. */
  #leave: (reason: unknown) => void = () => {};
  /** Why the client's side ended it, between two reads or during one. */
  #stopped: { readonly reason: unknown } | undefined;

  /** @param parts What it is made of. */
  constructor(parts: AnswerStreamParts) {
    this.#parts = parts;
    const { connection, answer } = parts.routed;
    answer.held.forEach((chunk) => this.#measure(chunk));
    connection.pause();
    connection.stop.addEventListener("abort", () => {
      this.#stop(connection.stop.reason);
      this.#leave(connection.stop.reason);
    });
  }

  /**
   * The next event; undefined when the answer is complete.
   *
   * @throws {StreamInterruptedError} When the provider fails midway.
   */
  async read(): Promise<CompletionChunk | undefined> {
    while (!this.#isOver) {
      const chunk = await this.#next();
      if (chunk === undefined && this.#isOver) break;
      if (chunk === undefined) return this.#finish();
      const { usage } = chunk.value;
      if (usage === null || usage === undefined) return this.#pass(chunk);
      this.#usage = usage; // told once, at the end
      this.#counts = undefined;
      if (chunk.value.choices.length > 0) return this.#pass(withoutUsage(chunk));
      this.#counts = chunk;
    }
    const stopped = this.#stopped;
    this.#stopped = undefined; // told once
    if (stopped !== undefined) throw stopped.reason;
    return undefined;
  }

  /** Ends the stream early, and the provider's call with it; no failure of anybody. */
  cancel(): void {
    if (this.#isOver) return;
    this.#end("none");
    this.#parts.routed.connection.abort(new DOMException("The client has left", "AbortError"));
    this.#closeSource();
  }

  /** The connection was ended: by the client's signal, or because nobody read on. A silence of the provider is its failure. */
  #stop(reason: unknown): void {
    if (this.#isOver || reason instanceof AttemptTimeout) return;
    this.#stopped = { reason };
    this.#end("none");
    this.#closeSource();
    this.onStop?.(reason);
  }

  #pass(chunk: CompletionChunk): CompletionChunk {
    this.#last = chunk.value;
    return chunk;
  }

  /** Also what the client leaves unread was written. */
  #measure({ value, others }: CompletionChunk): void {
    this.#written.add(value.choices);
    others?.forEach(({ choices }) => this.#written.add(choices));
  }

  async #next(): Promise<CompletionChunk | undefined> {
    const { held, rest, complete } = this.#parts.routed.answer;
    if (this.#place < held.length) return held[this.#place++];
    if (complete) return undefined;
    const { connection, member } = this.#parts.routed;
    connection.listen();
    try {
      const { done, value } = await new Promise<IteratorResult<CompletionChunk>>((resolve, reject) => {
        this.#leave = reject;
        if (connection.stop.aborted) reject(connection.stop.reason);
        rest.next().then(resolve, reject);
      });
      if (done) return undefined;
      this.#measure(value);
      return value;
    } catch (error) {
      if (this.#isOver) return undefined;
      const failure = failureOf(error, member.model.instance.provider!, this.#parts.redact);
      this.#end("failure");
      connection.abort(error);
      throw new StreamInterruptedError(`The answer was cut short: ${failure.message}`, "");
    } finally {
      connection.pause();
    }
  }

  /** The end of a complete answer, after its usage where the client asked for that. */
  #finish(): CompletionChunk | undefined {
    const usage = this.#usage;
    this.#end("success");
    if (!this.#parts.wantsUsage || usage === undefined) return undefined;
    if (this.#counts !== undefined || this.#last === undefined) return this.#counts;
    const { id, object, created, model } = this.#last;
    return { value: { id, object, created, model, choices: [], usage }, more: true };
  }

  #end(outcome: Outcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#parts.routed.settle(outcome, { usage: this.#usage, written: () => this.#written.tokens });
    if (outcome === "failure") this.#parts.onInterrupt();
    if (outcome === "success") this.#closeSource();
  }

  /** Lets a source that has more to say, such as data after `[DONE]`, free its socket. */
  #closeSource(): void {
    // a failure of what nobody reads any more is none
    this.#parts.routed.answer.rest.return?.()?.catch(() => {});
  }
}

/** What an event says beside the usage; its text stays byte for byte. */
function withoutUsage({ value, wire, ...rest }: CompletionChunk): CompletionChunk {
  const { usage: _, ...other } = value;
  return { ...rest, value: other, ...(wire === undefined ? {} : { wire: editMembers(wire, { usage: undefined }) }) };
}
