/**
 * The call of a request whose response may be repeated. Equal requests that arrive meanwhile share it.
 * @module
 */
import type { CompletionResponse } from "../../contracts/provider.ts";
import type { Outcome, Usage } from "../../state/counters/usage.ts";
import { MeshError } from "../../errors.ts";
import { nanoPerUsd } from "../../util/pricing.ts";
import type { EventStream } from "../committed_stream.ts";
import type { CallSharing, RouteDeps, RoutedRequest } from "../request.ts";
import { clientDisconnect, type ResponseEnd, type ServedResult } from "../result.ts";
import type { RecordedEvent } from "./replay.ts";
import { type CallTerms, type Recording, SharedCall } from "./shared_call.ts";
import type { OpenedResponse } from "./waiting_caller.ts";

/** The longest time of a timer, ms: the deadlines of callers apply. */
const endless = 2 ** 31 - 1;

/** The result of a call, until its request is settled. */
export type OpenResult = ServedResult & { settle(outcome: Outcome, end: ResponseEnd): Usage };

/** Settles a result when its response is complete. */
export type Settle = OpenResult["settle"];

/** What is known of a call that is over. */
export interface CallFacts {
  /** The events of a stream that is complete, and not longer than an entry may be. */
  readonly events: readonly RecordedEvent[] | undefined;
  /** What it has cost, USD; undefined if that is unknown. */
  readonly costUsd: number | undefined;
}

/** A response of a model as it begins. */
export type Begun =
  & {
    readonly result: OpenResult;
    /** Estimates the cost of its input, of which alone the cost is known before the end, nano-dollars. */
    readonly estimateCost?: (() => number | undefined) | undefined;
    /** What the parts of it that the cache had have cost, USD; undefined if that is unknown. */
    readonly savedUsd?: number | undefined;
    /** Keeps the response for later requests. Called once, when it is complete and has passed the guards of a request. */
    readonly keep?: ((facts: CallFacts) => void) | undefined;
  }
  & (
    | { readonly kind: "complete"; readonly response: CompletionResponse<unknown>; readonly end: ResponseEnd }
    | { readonly kind: "stream"; readonly stream: EventStream }
  );

/** Dependencies of a {@linkcode PendingCall}. */
interface PendingCallParts {
  /** The request that begins the call. */
  readonly request: RoutedRequest;
  readonly deps: RouteDeps;
  /** Maximum size of the events of a stream that are kept, characters. */
  readonly maxChars: number;
  /**
   * Sends the request to a model.
   *
   * @param settle Settles the result of a stream.
   */
  readonly begin: (request: RoutedRequest, settle: (result: OpenResult) => Settle) => Promise<Begun>;
  /** Called when no further request can join. */
  readonly onOver: (call: PendingCall) => void;
}

/** How a request ended. */
interface RequestEnding {
  /** Why it did not get the complete response. */
  readonly cause?: unknown;
  /** Whether the request log may have the response as the model sent it. */
  readonly isLogged: boolean;
}

/** One call of a model, for the request that has begun it and for equal ones. */
export class PendingCall {
  readonly #parts: PendingCallParts;
  readonly #shared: SharedCall;
  #begun: Begun | undefined;
  /** How the response ended. */
  #end: { readonly outcome: Outcome; readonly end: ResponseEnd; readonly used: Usage } | undefined;
  /** How the request that has begun the call ended. */
  #ending: RequestEnding | undefined;
  #recording: Recording | undefined;
  #isOver = false;
  #isRetained = false;
  /** Why it failed. */
  failure: { readonly error: unknown } | undefined;

  constructor(parts: PendingCallParts) {
    this.#parts = parts;
    const { deps: { runtime }, maxChars } = parts;
    this.#shared = new SharedCall({
      runtime,
      maxChars,
      open: (terms) => this.#open(terms),
      onOver: (recording) => {
        this.#recording = recording;
        this.#isOver = true;
        parts.onOver(this);
      },
    });
  }

  /** Whether another request would get the response from its beginning. */
  get isJoinable(): boolean {
    return this.#shared.isJoinable;
  }

  /** What the response has cost, USD: before its end, an estimate of its input. Undefined if that is unknown. */
  get costUsd(): number | undefined {
    const { estimateCost, savedUsd } = this.#begun ?? {};
    const spentUsd = this.#end === undefined ? toUsd(estimateCost?.()) : this.#spentUsd;
    return savedUsd === undefined ? spentUsd : savedUsd + (spentUsd ?? 0);
  }

  get #spentUsd(): number | undefined {
    return toUsd(this.#end?.used.costNanoUsd);
  }

  /** The result of the response, once it has begun. */
  get result(): OpenResult {
    return this.#begun!.result;
  }

  /** Usage and text of a complete response. */
  get responseEnd(): ResponseEnd {
    return this.#end!.end;
  }

  /**
   * Waits for the response on behalf of a request, which may be the first one.
   *
   * @param onEnd Called at the end of its stream; with a cause if it did not get all of it.
   * @throws Its own abort reason or deadline, or the error of the call.
   */
  join(
    { body, delivery, signal, timeoutMs }: RoutedRequest,
    onEnd: (cause?: unknown) => void,
  ): Promise<OpenedResponse> {
    return this.#shared.join({
      signal,
      timeoutMs,
      isStreamed: delivery === "stream",
      wantsUsage: Object(body.stream_options).include_usage === true,
      onEnd,
    });
  }

  /**
   * Ends the request that has begun the call, whose record is emitted once the response has ended, too.
   *
   * @returns The usage of a response that has ended.
   */
  endFirst(ending: RequestEnding): Usage {
    if (this.#ending === undefined) {
      this.#ending = ending;
      this.#record();
    }
    return this.#end?.used ?? {};
  }

  /** Keeps the response, once it is complete. */
  keep(): void {
    if (this.#isRetained || !this.#isOver || this.#begun === undefined) return;
    this.#isRetained = true;
    const events = this.#recording?.kind === "stream" ? this.#recording.events : undefined;
    this.#begun.keep?.({ events, costUsd: this.#spentUsd });
  }

  async #open(terms: CallTerms): Promise<OpenedResponse> {
    const first = () => this.#ending;
    const sharing: CallSharing = {
      get deadlineAt() {
        return terms.deadlineAt;
      },
      get cause() {
        return toFault(first()?.cause);
      },
    };
    const request = { ...this.#parts.request, signal: terms.signal, timeoutMs: endless, sharing };
    try {
      const settle = (result: OpenResult): Settle => (outcome, end) => this.#settle(result, { outcome, end });
      const begun = this.#begun = await this.#parts.begin(request, settle);
      if (begun.kind === "complete") this.#settle(begun.result, { outcome: "success", end: begun.end });
      else this.#record(); // it may have ended already
      return begun;
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }

  /** Settles the result, whose record waits for the end of its request. */
  #settle(result: OpenResult, { outcome, end }: { readonly outcome: Outcome; readonly end: ResponseEnd }): Usage {
    const used = result.settle(outcome, { ...end, isPending: true });
    this.#end ??= { outcome, end, used };
    this.#record();
    return used;
  }

  #record(): void {
    if (this.#end === undefined || this.#ending === undefined || this.#begun === undefined) return;
    const { outcome, end: { text, ...end } } = this.#end;
    const { cause, isLogged } = this.#ending;
    const ended = { ...end, cause: end.cause ?? toFault(cause), ...(isLogged && text && { text }) };
    this.#begun.result.settle(outcome, ended);
  }
}

function toUsd(nanoUsd: number | undefined): number | undefined {
  return nanoUsd === undefined ? undefined : nanoUsd / nanoPerUsd;
}

/** Returns a reason as a record states it: what a program aborts with may be anything. */
function toFault(cause: unknown): unknown {
  if (cause === undefined || MeshError.isInstance(cause) || cause instanceof DOMException) return cause;
  return clientDisconnect();
}
