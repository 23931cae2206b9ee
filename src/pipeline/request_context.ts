/**
 * What one request keeps on its way: its deadline, its client, where it has been and how long that took.
 * @module
 */
import type { FallbackStep, ModelTry } from "../contracts/events.ts";
import type { Cancel, Clock, StopSignal } from "../contracts/runtime.ts";
import { DeadlineError } from "../errors.ts";
import type { Member } from "../registry/registry.ts";
import type { AdmissionDenial } from "../state/limits/admission_denial.ts";
import type { Connection } from "./connection.ts";
import type { Rotate } from "./decide.ts";
import type { Failure } from "./failure.ts";
import type { RequestPlan } from "./plan.ts";
import type { RouteDeps } from "./deps.ts";

/** A model that did not serve in all its tries. */
export interface FailedAttempt {
  readonly member: Member;
  readonly failure: Failure;
  /** What follows from the failure. */
  readonly next: Rotate;
}

/** One model's part in the request, or one try of it. */
interface Step {
  readonly outcome: string;
  /** How long it took. */
  readonly ms: number;
  /** HTTP status, where one came. */
  readonly status?: number | undefined;
}

/** The state of one request: its deadline, its attempts, the models that denied it. */
export class RequestContext {
  readonly plan: RequestPlan;
  readonly deps: RouteDeps;
  readonly clock: Clock;
  /** Monotonic ms. */
  readonly startedAt: number;
  /** Every model tried, in order. */
  readonly chain: FallbackStep[] = [];
  /** Every try of a model, in order. */
  readonly tries: ModelTry[] = [];
  /** Those that did not serve. */
  readonly failures: FailedAttempt[] = [];
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
  upstreamMs = 0;
  /** How long the last try waited for a provider that did not answer at all, ms. */
  unansweredMs = 0;
  /** What denied the request to active candidates when no other was left. */
  readonly denials: Map<Member, AdmissionDenial> = new Map();
  /** What denied the request to members for which other processes had taken what was left. */
  readonly takenElsewhere: Map<Member, AdmissionDenial> = new Map();
  /** A call may have been billed although its answer never came. */
  possiblyBilled = false;
  readonly #deadlineAt: number;
  readonly #signal: StopSignal | undefined;
  readonly #onAbort = () => this.#stop(this.#signal!.reason);
  #cancelDeadline: Cancel;
  #current: Connection | AbortController | undefined;
  #stopped: { readonly reason: unknown } | undefined;

  /**
   * Starts the deadline.
   *
   * @param plan The request, and the models that can take it.
   * @param deps What the pipeline works with.
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

  /** What is left of the deadline, ms. */
  get remainingMs(): number {
    return Math.max(0, this.#deadlineAt - this.clock.monotonic());
  }

  /** Whether the client's abort or the deadline has ended it. */
  get isStopped(): boolean {
    return this.#stopped !== undefined;
  }

  /** Throws what ended the request early: the client's abort, or the deadline. */
  check(): void {
    if (this.#stopped !== undefined) throw this.#stopped.reason;
  }

  /** Writes down one step of the chain. */
  addStep({ model }: Member, { outcome, ms, status }: Step): void {
    this.chain.push({
      model: model.name,
      provider: model.instance.entry.id,
      outcome,
      ...(status === undefined ? {} : { status }),
      ms: Math.round(ms),
    });
  }

  /** Writes down one try, which is over or has begun to answer. */
  addTry({ model }: Member, { outcome, ms, status }: Step): void {
    const [name, provider] = [model.name, model.instance.entry.id];
    this.tries.push({ model: name, provider, outcome, status, startedAt: this.clock.now() - ms, ms });
    const { hub } = this.deps;
    if (!hub.isTraced("debug")) return;
    const message = `A try of the model "${name}" ended: ${outcome}`;
    const facts = { request_id: this.plan.request.id, model: name, provider, status, ms: Math.round(ms) };
    hub.trace({ severity: "debug", component: "provider", message, ...facts });
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
    const from = this.clock.monotonic();
    try {
      await this.clock.sleep(ms, controller.signal);
    } finally {
      this.upstreamMs += this.clock.monotonic() - from;
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
