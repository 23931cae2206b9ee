/**
 * The right to ask one model, for one request.
 * @module
 */
import type { RateLimits } from "../../contracts/provider.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { InFlightRequest } from "../breaker/model_breakers.ts";
import type { CallReservation } from "../call_reservation.ts";
import type { CounterReplicator, CounterRequest, Replication } from "../replication/counter_replicator.ts";
import type { RateGrant, SharedRate } from "../replication/shared_rate.ts";
import type { Load, Outcome, RequestEnd } from "../usage.ts";
import type { AdmissionDenial } from "./admission_denial.ts";

/** When a request that found reserved by other processes what it needs may come back, ms. */
const contestedMs = 1_000;

/** The model that a {@linkcode Permit} counts at. */
export interface PermittedModel {
  /** Counters shared with other processes. */
  readonly replicator: CounterReplicator;
  /** A request is admitted. */
  begin(): InFlightRequest;
  /** Reserves for a call that is about to be sent. */
  reserve(load: Load, now: number): CallReservation;
  /** An admitted request is sent. */
  sent(now: number): void;
  /** An admitted request was not sent. */
  withdraw(request: InFlightRequest): void;
  /** The request is over. */
  finish(request: InFlightRequest, outcome: Outcome, now: number, end?: RequestEnd): void;
}

/**
 * Counts one request at a model from the moment it was admitted: as in flight, against limits and budgets, as the trial
 * request of a half-open model. Made by `ModelState.admit()`, and to be released exactly once, in one `finally`,
 * or withdrawn when another process has taken what was left. Times are monotonic ms.
 *
 * @example
 * ```ts ignore
 * if (state.denial(load, now) !== undefined) return askAnother();
 * const permit = state.admit(load, now); // in the same turn of the event loop: nothing comes between
 * const denial = await permit.confirm(clock);
 * if (denial !== undefined) return permit.withdraw();
 * try {
 *   await ask(permit.take());
 * } finally {
 *   permit.release("success", clock.monotonic(), { tokens: 120 });
 * }
 * ```
 */
export class Permit {
  readonly #state: PermittedModel;
  readonly #request: InFlightRequest;
  #reservation: CallReservation;
  /** When the call was admitted. */
  #at: number;
  /** When the request was admitted, monotonic ms. */
  readonly admittedAt: number;
  /** The call was sent; before that it costs nothing. */
  #isTaken = false;
  #isUsed = false;
  /** The model's counts know that the request is sent. */
  #isSent = false;
  /** What the call was granted of rates that are shared. */
  #granted: readonly (readonly [SharedRate, RateGrant])[] = [];
  #isOver = false;

  /**
   * @param state The model.
   * @param load What the request will take, by estimate.
   */
  constructor(state: PermittedModel, load: Load, now: number) {
    this.#state = state;
    this.#at = this.admittedAt = now;
    this.#request = state.begin();
    this.#reservation = state.reserve(load, now);
  }

  /**
   * Asks for room in what several processes count together.
   *
   * @param clock Monotonic.
   * @returns Undefined where nothing is shared: the permit holds; else what denies the request, which may be nothing. A
   *   permit that is denied has to be withdrawn.
   */
  confirm(clock: Pick<Clock, "monotonic">): Promise<AdmissionDenial | undefined> | undefined {
    const { replication } = this.#state.replicator;
    if (replication !== undefined) {
      const rates = this.#reservation.sharedRates();
      const wanted = this.#reservation.counterRequests(!this.#isSent);
      if (rates.length + wanted.length > 0) return this.#confirmShared(replication, { rates, wanted, clock });
    }
    this.#confirm(this.#reservation, this.#at);
    return undefined;
  }

  async #confirmShared(
    replication: Replication,
    { rates, wanted, clock }: {
      readonly rates: readonly SharedRate[];
      readonly wanted: readonly CounterRequest[];
      readonly clock: Pick<Clock, "monotonic">;
    },
  ): Promise<AdmissionDenial | undefined> {
    const reservation = this.#reservation;
    const waitMs = await this.#takeRates(replication, rates);
    if (waitMs > 0) return { reason: "rate_limited", until: clock.monotonic() + waitMs };
    // in the turn in which it is granted: else a report in between gives it back
    const grant = () => this.#confirm(reservation, clock.monotonic());
    let reason = await replication.reserve(wanted, grant);
    if (reason !== undefined) {
      await replication.refresh(); // gives back what was reserved here and not used
      reason = await replication.reserve(wanted, grant);
    }
    if (reason !== undefined) return { reason, until: clock.monotonic() + contestedMs };
    grant(); // also where the store is unavailable: it is informed later
    return undefined;
  }

  /** Takes one request of each rate, or of none: 0, or the time until there is one of all, ms. */
  async #takeRates(replication: Replication, rates: readonly SharedRate[]): Promise<number> {
    const granted: [SharedRate, RateGrant][] = [];
    this.#granted = granted;
    for (const rate of rates) {
      const grant = await replication.admit(rate);
      if (grant === undefined) return 0; // the store is unavailable: this process counts by itself
      if (grant.waitMs > 0) return grant.waitMs;
      granted.push([rate, grant]);
    }
    return 0;
  }

  #confirm(reservation: CallReservation, now: number): void {
    if (this.#isOver) return;
    reservation.confirm();
    if (this.#isSent) return;
    this.#isSent = true;
    this.#state.sent(now);
  }

  /** Counts one more call of the same request; the one before it is over. */
  renew(load: Load, now: number): void {
    this.#cancel();
    this.#reservation = this.#state.reserve(load, now);
    this.#at = now;
    this.#isTaken = false;
  }

  /** Whether a call was sent, this one or an earlier one. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** The share in the counts of the call that is sent now. */
  take(): CallReservation {
    this.#isTaken = this.#isUsed = true;
    return this.#reservation;
  }

  /** Applies limits that the provider reports. */
  limit(limits: RateLimits): void {
    this.#reservation.limit(limits);
  }

  /**
   * Gives everything back: no call was sent.
   */
  withdraw(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cancel();
    this.#state.withdraw(this.#request);
  }

  /** Ends the request at this model. A second release counts for nothing. */
  release(outcome: Outcome, now: number, end: RequestEnd = {}): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#isTaken) this.#reservation.end(end);
    else this.#cancel();
    this.#state.finish(this.#request, outcome, now, end);
  }

  /** The call was not sent: of it nothing counts. */
  #cancel(): void {
    if (this.#isTaken) return;
    this.#reservation.cancel();
    for (const [rate, grant] of this.#granted) this.#state.replicator.replication?.giveBack(rate, grant);
    this.#granted = [];
  }
}
