/**
 * A request in a queue.
 * @module
 */
import type { Cancel } from "../contracts/runtime.ts";
import type { Member } from "../registry/registry.ts";
import type { AdmissionDenial } from "../state/counters/admission_denial.ts";
import type { Ordered } from "./queue_order.ts";
import type { RequestContext } from "./request_context.ts";

/** What was reserved for a request. */
interface Grant {
  /** Continues the request. */
  readonly accept: () => void;
  /** Returns it, since the request has left meanwhile. */
  readonly withdraw: () => void;
}

/** Dependencies of a {@linkcode Waiting}. */
interface WaitingParts extends Pick<Ordered, "priority" | "sequence"> {
  readonly context: RequestContext;
  /** Models that may serve it, in any state. */
  readonly candidates: () => readonly Member[];
  /** Whether it was admitted at its only candidate before: it may be the trial request of that model. */
  readonly isReadmission: boolean;
  /** Reserves at one of several models; a promise of undefined if other processes have taken it. */
  readonly reserve: (open: readonly Member[]) => Grant | Promise<Grant | undefined>;
  /** Continues the request without a model. */
  readonly leave: () => void;
  readonly reject: (error: unknown) => void;
  /** Called when the client leaves, or at the deadline. */
  readonly onAbort: (reason: unknown) => void;
}

/** A request in a queue, or about to be admitted. */
export class Waiting implements Ordered {
  readonly context: RequestContext;
  readonly candidates: () => readonly Member[];
  readonly reserve: WaitingParts["reserve"];
  readonly leave: () => void;
  readonly reject: (error: unknown) => void;
  readonly abort: (reason: unknown) => void;
  readonly isReadmission: boolean;
  readonly isReturning: boolean;
  readonly priority: number;
  readonly sequence: number;
  state: "queued" | "reserving" | "over" = "queued";
  /** Since when it waits, monotonic ms; undefined if it does not. */
  since: number | undefined;
  /** When it has to be admitted, monotonic ms. */
  endsAt: number | undefined;
  /** Cancels the timer of its maximum wait. */
  cancelTimer: Cancel = () => {};

  constructor(parts: WaitingParts) {
    this.context = parts.context;
    this.candidates = parts.candidates;
    this.reserve = parts.reserve;
    this.leave = parts.leave;
    this.reject = parts.reject;
    this.abort = parts.onAbort;
    this.isReadmission = parts.isReadmission;
    this.isReturning = parts.context.first !== undefined;
    this.priority = parts.priority;
    this.sequence = parts.sequence;
  }

  get client(): string {
    return this.context.plan.request.client?.id ?? "";
  }

  get arrivedAt(): number {
    return this.context.startedAt;
  }

  /** Ends the wait, and counts it. */
  end(now: number): void {
    this.state = "over";
    if (this.since === undefined) return;
    const { context } = this;
    const waitedMs = now - this.since;
    this.cancelTimer();
    context.queuedMs = (context.queuedMs ?? 0) + waitedMs;
    context.upstreamMs += waitedMs;
  }
}

/** Denials that pass when other requests end, or with time. */
const passing: ReadonlySet<AdmissionDenial["reason"]> = new Set(["rate_limited", "min_delta", "max_rpm"]);

/**
 * Returns when a model that does not admit a request now may do so, as far as is known.
 *
 * @param now Monotonic ms.
 * @returns Monotonic ms; Infinity if another request has to end first; undefined if a request does not wait for that.
 */
export function findWaitEnd(member: Member, context: RequestContext, now: number): number | undefined {
  const { state } = member;
  state.refresh(now);
  if (state.status === "standby") return state.reason === "rate_limited" ? state.retryAt ?? Infinity : undefined;
  const { plan: { load }, takenElsewhere } = context;
  const denial = state.tracker.denial(load, now);
  if (denial !== undefined) return passing.has(denial.reason) ? state.tracker.freesAt(load, now) : undefined;
  const taken = takenElsewhere?.get(member);
  if (taken !== undefined) return passing.has(taken.reason) ? taken.until : undefined;
  return Infinity; // its trial request has to end
}
