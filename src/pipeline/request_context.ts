/**
 * What one request keeps on its way: its deadline, its client, where it has been and how long that took.
 * @module
 */
import type { FallbackStep } from "../contracts/events.ts";
import type { Cancel, Clock, StopSignal } from "../contracts/runtime.ts";
import { DeadlineError } from "../errors.ts";
import type { Member } from "../registry/registry.ts";
import type { AdmissionDenial } from "../state/admission_denial.ts";
import type { Load } from "../state/meter.ts";
import type { Connection } from "./connection.ts";
import type { Failure } from "./failure.ts";
import type { RoutedRequest } from "./request.ts";

/** A model that was tried and did not serve. */
export interface Miss {
  readonly member: Member;
  readonly failure: Failure;
}

/** The state of one request: its deadline, its attempts, the models that denied it. */
export class RequestContext {
  readonly startedAt: number;
  /** Every model tried, in order. */
  readonly chain: FallbackStep[] = [];
  /** Those that did not serve. */
  readonly failures: Miss[] = [];
  /** The first model tried. */
  first?: Member;
  /** Rotations that its pool had reported when the last of them was chosen. */
  rotationsSeen = 0;
  /** Models tried. */
  readonly tried: Set<string> = new Set();
  /** Providers whose other models are ruled out for this request. */
  readonly ruledOut: Set<string> = new Set();
  /** Upstream calls sent. */
  attempts = 0;
  /** Time spent in providers and back-off, ms. */
  awayMs = 0;
  /** How long the last try waited for a provider that did not answer at all, ms. */
  unansweredMs = 0;
  /** What it will take, by estimate. */
  readonly load: Load;
  /** What denied the request to active candidates when no other was left. */
  readonly denials: Map<Member, AdmissionDenial> = new Map();
  /** Members for which other processes had taken what was left. */
  readonly contested: Set<Member> = new Set();
  /** A call may have been billed although its answer never came. */
  possiblyBilled = false;
  readonly #clock: Clock;
  readonly #deadlineAt: number;
  readonly #signal: StopSignal | undefined;
  readonly #onAbort = () => this.#stop(this.#signal!.reason);
  #cancelDeadline: Cancel;
  #current: Connection | AbortController | undefined;
  #stopped: { readonly reason: unknown } | undefined;

  /**
   * @param request The request.
   * @param clock For its deadline.
   * @param load What it will take, by estimate.
   */
  constructor(request: RoutedRequest, clock: Clock, load: Load) {
    this.#clock = clock;
    this.load = load;
    this.startedAt = clock.monotonic();
    const timeoutMs = Math.max(0, Math.round(request.timeoutMs));
    this.#deadlineAt = this.startedAt + timeoutMs;
    this.#cancelDeadline = clock.after(
      timeoutMs,
      () => this.#stop(new DeadlineError(`The request was not answered within the ${timeoutMs} ms it had`)),
    );
    this.#signal = request.signal;
    if (this.#signal?.aborted) this.#stop(this.#signal.reason);
    else this.#signal?.addEventListener("abort", this.#onAbort);
  }

  /** What is left of the deadline, ms. */
  get remainingMs(): number {
    return Math.max(0, this.#deadlineAt - this.#clock.monotonic());
  }

  /** Whether the client's abort or the deadline has ended it. */
  get isStopped(): boolean {
    return this.#stopped !== undefined;
  }

  /** Throws what ended the request early: the client's abort, or the deadline. */
  check(): void {
    if (this.#stopped !== undefined) throw this.#stopped.reason;
  }

  /** The connection that a stop has to end. */
  follow(current: Connection | AbortController | undefined): void {
    this.#current = current;
    if (this.#stopped !== undefined) current?.abort(this.#stopped.reason);
  }

  /** Waits between tries. Rejects when the request ends early. */
  async wait(ms: number): Promise<void> {
    const controller = new AbortController();
    this.follow(controller);
    const from = this.#clock.monotonic();
    try {
      await this.#clock.sleep(ms, controller.signal);
    } finally {
      this.awayMs += this.#clock.monotonic() - from;
    }
  }

  /** An answer has begun: from here on only silence ends it, or the client. */
  commit(): void {
    this.#cancelDeadline();
  }

  /** The request is over. */
  end(): void {
    this.#cancelDeadline();
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#current = undefined;
  }

  #stop(reason: unknown): void {
    this.#stopped ??= { reason };
    this.#current?.abort(this.#stopped.reason);
  }
}
