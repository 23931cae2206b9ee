/**
 * State of one request: its deadline, its cancellation, and its attempts.
 * @module
 */
import type { FallbackStep, ModelTry } from "../contracts/events.ts";
import type { ChatApi } from "../contracts/provider.ts";
import type { Cancel, Clock, StopSignal } from "../contracts/runtime.ts";
import { DeadlineError } from "../errors.ts";
import type { Member } from "../registry/registry.ts";
import type { Usage } from "../state/counters/usage.ts";
import type { AdmissionDenial } from "../state/counters/admission_denial.ts";
import type { Rotate } from "./decide.ts";
import type { Failure } from "./failure.ts";
import type { RequestPlan } from "./eligibility.ts";
import type { RouteDeps } from "./request.ts";
import type { TraceContext } from "../contracts/observability.ts";

/** A failed attempt. */
export interface FailedAttempt {
  readonly member: Member;
  readonly failure: Failure;
  /** The decision after the failure. */
  readonly next: Rotate;
  /** Why it was not sent: other processes have taken what it had reserved. */
  readonly denial?: AdmissionDenial;
}

/** What a request waits for: a connection, a delay, its turn in a queue, or several attempts. */
interface Abortable {
  abort(reason: unknown): void;
}

/** An attempt or a try. */
interface Step {
  readonly outcome: string;
  /** Duration, ms. */
  readonly ms: number;
  /** HTTP status, if a response was received. */
  readonly status?: number | undefined;
  /** The provider's own message about a failure. */
  readonly error?: string | undefined;
}

const none: readonly string[] = [];

/** The state of one request: its deadline, its attempts, and the denials of models. */
export class RequestContext {
  readonly plan: RequestPlan;
  readonly deps: RouteDeps;
  readonly clock: Clock;
  /** Monotonic ms. */
  readonly startedAt: number;
  /** Attempts, in order. */
  readonly chain: FallbackStep[] = [];
  /** Tries, in order. */
  readonly tries: ModelTry[] = [];
  /** Failed attempts. */
  readonly failures: FailedAttempt[] = [];
  /** The first model tried. */
  first: Member | undefined;
  /** Number of rotations of the pool when a model was last selected. */
  rotationsSeen = 0;
  /** Names of the models tried. */
  tried: readonly string[] = none;
  /** Providers whose other models are excluded from this request. */
  ruledOut: readonly string[] = none;
  /** The API through which the current model is called; undefined if it declares none. */
  api: ChatApi | undefined;
  /** Upstream calls sent. */
  attempts = 0;
  /** Time spent in the queue of its pool, ms; undefined if it did not wait there. */
  queuedMs: number | undefined;
  /** Time spent in providers, in retry delays and in the queue, ms. */
  upstreamMs = 0;
  /** Time for which the last try waited for a provider without receiving a response, ms. */
  withoutResponseMs = 0;
  /** Whether a call without a received response may have been billed. */
  possiblyBilled = false;
  /** Whether the response of the second model was used, if the request was hedged. */
  declare hedge?: "won" | "lost";
  /** Whether the model that responded was faster than the selected one, which remains that of the pool. */
  declare isOutrun?: boolean;
  /** The cost of all attempts so far; without a cost if none is known. */
  charged: Pick<Usage, "costNanoUsd" | "estimated"> = {};
  /** Denials of members whose shared limits were exhausted by other processes; undefined if there are none. */
  takenElsewhere: Map<Member, AdmissionDenial> | undefined;
  #denials: Map<Member, AdmissionDenial> | undefined;
  readonly #deadlineAt: number;
  readonly #signal: StopSignal | undefined;
  readonly #onAbort = () => this.#stop(this.#signal!.reason);
  #cancelDeadline: Cancel;
  #trace: TraceContext | undefined;
  #current: Abortable | undefined;
  #stopped: { readonly reason: unknown } | undefined;

  /**
   * Starts the deadline.
   *
   * @param plan The request and its eligible models.
   * @param deps Dependencies.
   */
  constructor(plan: RequestPlan, deps: RouteDeps) {
    this.plan = plan;
    this.deps = deps;
    const { clock } = deps.runtime;
    this.clock = clock;
    this.startedAt = clock.monotonic();
    const timeoutMs = Math.max(0, Math.round(plan.request.timeoutMs));
    this.#deadlineAt = this.startedAt + timeoutMs;
    this.#cancelDeadline = clock.after(
      timeoutMs,
      () => this.#stop(new DeadlineError(`The request was not answered within the ${timeoutMs} ms it had`)),
    );
    this.#signal = plan.request.signal;
    if (this.#signal?.aborted) this.#stop(this.#signal.reason);
    else this.#signal?.addEventListener("abort", this.#onAbort);
  }

  /** Denials of active candidates when no candidate was left. */
  get denials(): Map<Member, AdmissionDenial> {
    return this.#denials ??= new Map();
  }

  /** Remaining time until the deadline, ms. */
  get remainingMs(): number {
    return Math.max(0, (this.plan.request.sharing?.deadlineAt ?? this.#deadlineAt) - this.clock.monotonic());
  }

  /** Whether the client's abort or the deadline has ended the request. */
  get isStopped(): boolean {
    return this.#stopped !== undefined;
  }

  /** Throws the reason if the request was ended early: the client's abort, or the deadline. */
  check(): void {
    if (this.#stopped !== undefined) throw this.#stopped.reason;
  }

  /** Adds the cost of an attempt, if it is known. */
  addCharge({ costNanoUsd, estimated = this.charged.estimated }: Pick<Usage, "costNanoUsd" | "estimated">): void {
    if (costNanoUsd === undefined) return;
    this.charged = { costNanoUsd: (this.charged.costNanoUsd ?? 0) + costNanoUsd, ...(estimated && { estimated }) };
  }

  /** Adds an attempt to the chain. */
  addStep({ model }: Member, { outcome, ms, status, error }: Step): void {
    const { api } = this;
    this.chain.push({
      model: model.name,
      provider: model.instance.entry.id,
      outcome,
      ms: Math.round(ms),
      // at the end: members after a spread are slow to add
      ...(api !== undefined && { api }),
      ...(status !== undefined && { status }),
      ...(error !== undefined && { error }),
    });
  }

  /** Records a try that has ended or committed. */
  addTry({ model: { name, info, instance } }: Member, { outcome, ms, status, model, trace }: Step & {
    /** The model id in the response. */
    readonly model?: string | undefined;
    /** The trace context that the provider received. */
    readonly trace?: TraceContext | undefined;
  }): void {
    const provider = instance.entry.id;
    const { hub } = this.deps;
    this.tries.push({
      model: name,
      provider,
      vendor: instance.telemetryName,
      upstreamModel: info.id,
      responseModel: model,
      outcome,
      status,
      startedAt: this.clock.now() - ms,
      ms,
      traceparent: hub.exportsSpans ? trace?.traceparent : undefined,
    });
    if (!hub.isTraced("debug")) return;
    const message = `A try of the model "${name}" ended: ${outcome}`;
    const facts = { request_id: this.plan.request.id, model: name, provider, status, ms: Math.round(ms) };
    hub.trace({ severity: "debug", component: "provider", message, ...facts });
  }

  /**
   * Returns the trace context of the next call, if spans are exported: that of a span of its own. Without a caller's span,
   * it begins a trace.
   */
  beginSpan(): TraceContext | undefined {
    const { deps: { hub }, plan: { request: { trace } } } = this;
    return hub.beginSpan(this.rootTrace) ?? trace;
  }

  /** The trace context above all calls. */
  get rootTrace(): TraceContext | undefined {
    const { deps: { hub }, plan: { request: { trace } } } = this;
    return this.#trace ??= trace ?? (hub.exportsSpans ? hub.beginSpan() : undefined);
  }

  /**
   * Changes the outcome of a committed attempt, whose response did not reach its end.
   *
   * @param end `stream_interrupted`, or `aborted`, and the provider's message about its failure.
   */
  endStep({ model: { name } }: Member, { outcome, error }: Pick<Step, "outcome" | "error">): void {
    const { chain, tries } = this;
    const step = chain.findLastIndex(({ model }) => model === name);
    const last = tries.findLastIndex(({ model }) => model === name);
    chain[step] = { ...chain[step]!, outcome, ...(error === undefined ? {} : { error }) };
    tries[last] = { ...tries[last]!, outcome };
  }

  /** Sets what to abort if the request is stopped. */
  follow(current: Abortable): void {
    this.#current = current;
    if (this.#stopped !== undefined) current.abort(this.#stopped.reason);
  }

  /** Waits between tries. Rejects if the request ends early. */
  async wait(ms: number): Promise<void> {
    const controller = new AbortController();
    this.follow(controller);
    const from = this.clock.monotonic();
    try {
      await this.clock.sleep(ms, controller.signal);
    } finally {
      this.upstreamMs += this.clock.monotonic() - from;
    }
  }

  /** Ends the deadline, since a response has begun. Only the idle timeout or the client ends the request after that. */
  commit(): void {
    this.#cancelDeadline();
  }

  /** Releases timers and listeners at the end of the request. */
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
