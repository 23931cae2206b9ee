/**
 * One caller of a shared call: its deadline, its abort, and the form of its response.
 * @module
 */
import type { CompletionResponse } from "../../contracts/provider.ts";
import type { Clock, StopSignal } from "../../contracts/runtime.ts";
import { DeadlineError } from "../../errors.ts";
import type { EventStream } from "../committed_stream.ts";
import { ReplayedStream, toCompletion, toEvents, toRecordedEvents } from "./replay.ts";
import type { SharedStream } from "./shared_stream.ts";

/** A response in the form that its caller requested. */
export type OpenedResponse =
  | { readonly kind: "complete"; readonly response: CompletionResponse<unknown> }
  | { readonly kind: "stream"; readonly stream: EventStream };

/** A response that several callers get. */
export type SharedResponse =
  | {
    readonly kind: "complete";
    readonly response: CompletionResponse<unknown>;
    /** The JSON of its body. */
    readonly text: string;
  }
  | { readonly kind: "stream"; readonly stream: SharedStream };

/** A caller. */
export interface Caller {
  readonly signal?: StopSignal | undefined;
  /** Maximum time to a response, or to the first content of a stream, ms. */
  readonly timeoutMs: number;
  /** Whether it gets a stream. */
  readonly isStreamed: boolean;
  /** Whether it requested usage (`stream_options.include_usage`). */
  readonly wantsUsage: boolean;
  /**
   * Called once its stream has ended.
   *
   * @param cause Why it did not get all of it.
   */
  readonly onEnd: (cause?: unknown) => void;
}

/** A caller, from its arrival to its response. */
export class WaitingCaller {
  /** Rejects at its deadline, when it aborts, and with the error of the call. */
  readonly response: Promise<OpenedResponse>;
  /** Monotonic ms. */
  readonly deadlineAt: number;
  readonly #caller: Caller;
  readonly #clock: Clock;
  readonly #onAbort = () => this.#stop(this.#caller.signal!.reason);
  readonly #cancelDeadline: () => void;
  /** Ends it: its wait at first, then its stream. */
  #stop: (reason: unknown) => void;
  #resolve!: (opened: OpenedResponse) => void;
  #reject!: (error: unknown) => void;

  /**
   * @param caller A caller that has not aborted.
   * @param leave Called if it leaves before its response.
   */
  constructor(caller: Caller, clock: Clock, leave: (caller: WaitingCaller, reason: unknown) => void) {
    const { timeoutMs, signal } = caller;
    this.#caller = caller;
    this.#clock = clock;
    this.deadlineAt = clock.monotonic() + timeoutMs;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#stop = (reason) => leave(this, reason);
    const message = `The request was not answered within the ${Math.round(timeoutMs)} ms it had`;
    this.#cancelDeadline = clock.after(timeoutMs, () => this.#stop(new DeadlineError(message)));
    signal?.addEventListener("abort", this.#onAbort);
  }

  /** Ends its wait with an error. */
  fail(error: unknown): void {
    this.#release();
    this.#reject(error);
  }

  /** Ends its wait with the response, in the form that it requested. */
  accept(shared: SharedResponse, isFirst: boolean): void {
    if (shared.kind === "stream") return this.#read(shared.stream);
    const { response, text } = shared;
    if (!this.#caller.isStreamed) {
      this.#release();
      return this.#resolve({ kind: "complete", response: isFirst ? response : toCopy(response, text) });
    }
    const { wantsUsage } = this.#caller;
    this.#cancelDeadline();
    const stream = new ReplayedStream(toEvents(JSON.parse(text)), { wantsUsage, onEnd: this.#onEnd });
    this.#stop = (reason) => stream.stop(reason);
    this.#resolve({ kind: "stream", stream });
  }

  readonly #onEnd = (cause?: unknown): void => {
    this.#release();
    this.#caller.onEnd(cause);
  };

  #read(shared: SharedStream): void {
    const { isStreamed, wantsUsage } = this.#caller;
    if (isStreamed) {
      this.#cancelDeadline();
      const stream = shared.join({ wantsUsage, onEnd: this.#onEnd });
      this.#stop = (reason) => stream.stop(reason);
      return this.#resolve({ kind: "stream", stream });
    }
    const stream = shared.join({ wantsUsage: true, onEnd: () => this.#release() });
    this.#stop = (reason) => stream.stop(reason);
    collectEvents(stream).then(
      (events) => this.#resolve({ kind: "complete", response: { body: toCompletion(events) } }),
      this.#reject,
    );
  }

  #release(): void {
    this.#cancelDeadline();
    this.#caller.signal?.removeEventListener("abort", this.#onAbort);
  }
}

/** Returns a response that its caller may change. */
function toCopy(response: CompletionResponse<unknown>, text: string): CompletionResponse<unknown> {
  const { wire, content } = response;
  return { body: JSON.parse(text), ...(wire && { wire }), ...(content && { content }) };
}

/**
 * Reads a stream to its end.
 *
 * @throws Why it did not reach its end.
 */
async function collectEvents(stream: EventStream): Promise<readonly string[]> {
  const events: string[] = [];
  for (let chunk = await stream.read(); chunk !== undefined; chunk = await stream.read()) {
    if (!chunk.isPing) events.push(...toRecordedEvents(chunk).map(({ text }) => text));
  }
  return events;
}
