/**
 * Permits: an admitted request in flight at one model.
 * @module
 */
import type { RateLimits } from "../../contracts/provider.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { InFlightRequest } from "../breaker/model_breakers.ts";
import type { AdmittedCall } from "./admitted_call.ts";
import type { CounterRequest } from "../counters/replicated_counter.ts";
import type { Replication } from "../counters/shared_counters.ts";
import type { RateGrant, SharedRate } from "../counters/shared_rate.ts";
import type { Outcome, RequestEnd } from "../counters/usage.ts";
import type { Load } from "./usage.ts";
import type { UsageTracker } from "./usage_tracker.ts";
import type { AdmissionDenial } from "../counters/admission_denial.ts";
import { takenElsewhereMs } from "../counters/reservation.ts";

/** The model that a {@linkcode Permit} belongs to. */
export interface PermittedModel {
  readonly tracker: UsageTracker;
  /** Registers an admitted request. */
  begin(): InFlightRequest;
  /** Reserves for a call about to be sent. */
  reserve(load: Load, now: number): AdmittedCall;
  /** Records that an admitted request is sent. */
  sent(now: number): void;
  /** Unregisters an admitted request that was not sent. */
  withdraw(request: InFlightRequest): void;
  /** Ends the request. */
  finish(
    request: InFlightRequest,
    outcome: Outcome,
    options: { readonly now: number; readonly end?: RequestEnd },
  ): void;
}

/**
 * The permit of one request at one model. From admission on it counts as in flight, against limits and budgets, and as
 * the trial request of a half-open model. `ModelState.admit()` creates it. It must be released exactly once, in a
 * `finally`, or withdrawn when another process has taken the remaining capacity. Times are monotonic ms.
 *
 * @example
 * ```ts
 * import type { Load } from "./usage.ts";
 * import type { ModelState } from "./model_state.ts";
 *
 * async function send(state: ModelState, load: Load, clock: { monotonic(): number }): Promise<void> {
 *   const now = clock.monotonic();
 *   if (state.tracker.denial(load, now) !== undefined) return;
 *   const permit = state.admit(load, now); // same turn of the event loop: check and reservation are atomic
 *   if (await permit.confirm(clock) !== undefined) return permit.withdraw();
 *   try {
 *     permit.take(); // and send the request
 *   } finally {
 *     permit.release("success", clock.monotonic(), { tokens: 120 });
 *   }
 * }
 * ```
 */
export class Permit {
  readonly #state: PermittedModel;
  readonly #request: InFlightRequest;
  #call: AdmittedCall;
  /** When the current call was admitted. */
  #at: number;
  /** When the request was admitted, monotonic ms. */
  readonly admittedAt: number;
  /** Whether the current call was sent. An unsent call costs nothing. */
  #isInUse = false;
  #isUsed = false;
  /** Whether the model has counted the request as sent. */
  #isSent = false;
  /** Grants of shared rate limits for the current call. */
  #granted: readonly RateGrant[] = [];
  #isOver = false;

  /**
   * @param load Estimated usage of the request.
   * @param now Monotonic ms.
   */
  constructor(state: PermittedModel, load: Load, now: number) {
    this.#state = state;
    this.#at = this.admittedAt = now;
    this.#request = state.begin();
    this.#call = state.reserve(load, now);
  }

  /**
   * Requests capacity from the counters that several processes share.
   *
   * @param clock Monotonic clock.
   * @returns Undefined when nothing is shared: the permit is valid. Else a promise of the denial, or of undefined when
   * capacity was granted. A denied permit must be withdrawn.
   */
  confirm(clock: Pick<Clock, "monotonic">): Promise<AdmissionDenial | undefined> | undefined {
    const { replication } = this.#state.tracker.sharedCounters;
    if (replication !== undefined) {
      const rates = this.#call.sharedRates();
      const requests = this.#call.counterRequests(!this.#isSent);
      if (rates.length + requests.length > 0) return this.#confirmShared(replication, { rates, requests, clock });
    }
    this.#confirm(this.#call, this.#at);
    return undefined;
  }

  async #confirmShared(
    replication: Replication,
    { rates, requests, clock }: {
      readonly rates: readonly SharedRate[];
      readonly requests: readonly CounterRequest[];
      readonly clock: Pick<Clock, "monotonic">;
    },
  ): Promise<AdmissionDenial | undefined> {
    const call = this.#call;
    const waitMs = await this.#admitRates(replication, rates);
    if (waitMs > 0) return { reason: "rate_limited", until: clock.monotonic() + waitMs };
    // confirm in the turn of the grant, else a sync in between would return it
    const grant = () => this.#confirm(call, clock.monotonic());
    let reason = await replication.reserve(requests, grant);
    if (reason !== undefined) {
      await replication.refresh(); // releases unused reservations of this process
      reason = await replication.reserve(requests, grant);
    }
    if (reason !== undefined) return { reason, until: clock.monotonic() + takenElsewhereMs };
    grant(); // also when the store is unavailable: the next sync reports it
    return undefined;
  }

  /** Takes one request of every shared rate, or of none. Returns 0, or the time until every rate allows one, ms. */
  async #admitRates(replication: Replication, rates: readonly SharedRate[]): Promise<number> {
    const granted: RateGrant[] = [];
    this.#granted = granted;
    for (const rate of rates) {
      const grant = await replication.admit(rate);
      if (grant === undefined) return 0; // the store is unavailable: only local counters apply
      if (grant.waitMs > 0) return grant.waitMs;
      granted.push(grant);
    }
    return 0;
  }

  #confirm(call: AdmittedCall, now: number): void {
    if (this.#isOver) return;
    call.confirm();
    if (this.#isSent) return;
    this.#isSent = true;
    this.#state.sent(now);
  }

  /** Reserves for another call of the same request, after the previous call has ended. */
  renew(load: Load, now: number): void {
    this.#cancel();
    this.#call = this.#state.reserve(load, now);
    this.#at = now;
    this.#isInUse = false;
  }

  /** Whether any call of the request was sent. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** Position of the API key of the current call in the provider's list; undefined for a provider with one key. */
  get keyIndex(): number | undefined {
    return this.#call.keyIndex;
  }

  /** Returns the call that is sent now. */
  take(): AdmittedCall {
    this.#isInUse = this.#isUsed = true;
    return this.#call;
  }

  /** Applies limits that the provider has reported. */
  limit(limits: RateLimits): void {
    this.#call.limit(limits);
  }

  /** Withdraws the permit and releases all reservations: no call was sent. */
  withdraw(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancel();
    this.#state.withdraw(this.#request);
  }

  /** Releases the permit: the request at this model has ended. A second call is ignored. */
  release(outcome: Outcome, now: number, end: RequestEnd = {}): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#isInUse) this.#call.end(end, now);
    else this.#cancel();
    this.#state.finish(this.#request, outcome, { now, end });
  }

  /** Cancels the reservation of an unsent call. */
  #cancel(): void {
    if (this.#isInUse) return;
    this.#call.cancel();
    for (const grant of this.#granted) grant.release();
    this.#granted = [];
  }
}
