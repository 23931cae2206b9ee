/**
 * A call of a model for several equal requests at once. It goes on while one of their callers is left.
 * @module
 */
import type { Runtime, Stopper, StopSignal } from "../../contracts/runtime.ts";
import { copyError } from "./copy_error.ts";
import type { RecordedEvent } from "./replay.ts";
import { SharedStream } from "./shared_stream.ts";
import { type Caller, type OpenedResponse, type SharedResponse, WaitingCaller } from "./waiting_caller.ts";

/** What a call for several requests needs of their callers. */
export interface CallTerms {
  /** Aborts when the last caller has left. */
  readonly signal: StopSignal;
  /** The latest deadline of the callers that are left, monotonic ms. */
  readonly deadlineAt: number;
}

/** What a call has received, once it is over. */
export type Recording =
  | Extract<SharedResponse, { kind: "complete" }>
  | { readonly kind: "stream"; readonly events: readonly RecordedEvent[] };

/** Dependencies of a {@linkcode SharedCall}. */
interface SharedCallParts {
  readonly runtime: Pick<Runtime, "clock" | "stopper">;
  /** Maximum size of the events of a stream that are kept, characters. */
  readonly maxChars: number;
  /** Calls the model. */
  readonly open: (terms: CallTerms) => Promise<OpenedResponse>;
  /**
   * Called once, when the call is over.
   *
   * @param recording What it has received; undefined if it has failed, was left by all, or is larger than the limit.
   */
  readonly onOver: (recording: Recording | undefined) => void;
}

/** One upstream call, and those who wait for its response. */
export class SharedCall {
  readonly #parts: SharedCallParts;
  readonly #stopper: Stopper;
  readonly #waiting = new Set<WaitingCaller>();
  #first: WaitingCaller | undefined;
  #shared: SharedResponse | undefined;
  #isOver = false;

  constructor(parts: SharedCallParts) {
    this.#parts = parts;
    this.#stopper = parts.runtime.stopper?.() ?? new AbortController();
  }

  /** Whether another caller would get the response from its beginning. */
  get isJoinable(): boolean {
    if (this.#isOver) return false;
    return this.#shared === undefined || this.#shared.kind === "stream" && this.#shared.stream.isJoinable;
  }

  /**
   * Waits for the response on behalf of a caller. The first one begins the call.
   *
   * @throws {DeadlineError} At the caller's own deadline.
   * @throws The reason of its signal, or the error of the call.
   */
  async join(caller: Caller): Promise<OpenedResponse> {
    if (caller.signal?.aborted) throw caller.signal.reason;
    const { clock } = this.#parts.runtime;
    const waiting = new WaitingCaller(caller, clock, (left, reason) => this.#leave(left, reason));
    if (this.#shared !== undefined) waiting.accept(this.#shared, false);
    else this.#waiting.add(waiting);
    const isFirst = this.#first === undefined;
    this.#first ??= waiting;
    const [response] = await Promise.all([waiting.response, isFirst ? this.#open() : undefined]);
    return response;
  }

  /** Never rejects: the callers get the error. */
  async #open(): Promise<void> {
    const deadlines = () => [...this.#waiting].map(({ deadlineAt }) => deadlineAt);
    const terms = {
      signal: this.#stopper.signal,
      get deadlineAt() {
        return Math.max(...deadlines());
      },
    };
    try {
      this.#accept(await this.#parts.open(terms));
    } catch (error) {
      this.#end(undefined);
      const waiting = [...this.#waiting];
      this.#waiting.clear();
      for (const caller of waiting) caller.fail(caller === this.#first ? error : copyError(error));
    }
  }

  #accept(opened: OpenedResponse): void {
    if (this.#isOver) return this.#discard(opened);
    const shared = this.#share(opened);
    this.#shared = shared;
    for (const caller of this.#waiting) caller.accept(shared, caller === this.#first);
    this.#waiting.clear();
    if (shared.kind === "complete") this.#end(shared.text.length > this.#parts.maxChars ? undefined : shared);
  }

  #share(opened: OpenedResponse): SharedResponse {
    if (opened.kind === "complete") return { ...opened, text: JSON.stringify(opened.response.body) };
    const { maxChars, runtime: { clock } } = this.#parts;
    const stream = new SharedStream(opened.stream, {
      clock,
      maxChars,
      abort: (reason) => this.#stopper.abort(reason),
      onEnd: (events) => this.#end(events && { kind: "stream", events }),
    });
    return { kind: "stream", stream };
  }

  /** A response that begins although all have left. */
  #discard(opened: OpenedResponse): void {
    const { reason } = this.#stopper.signal;
    if (opened.kind === "stream") opened.stream.cancel(reason);
    throw reason;
  }

  /** The last caller leaves with the call, whose end it awaits. */
  #leave(caller: WaitingCaller, reason: unknown): void {
    if (this.#waiting.size > 1) {
      this.#waiting.delete(caller);
      return caller.fail(reason);
    }
    this.#end(undefined);
    this.#stopper.abort(reason);
  }

  #end(recording: Recording | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#parts.onOver(recording);
  }
}
