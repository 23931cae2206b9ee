/**
 * What one call to a provider reserves of rate limits, quotas and budgets.
 * @module
 */
import type { RateLimits } from "../../contracts/provider.ts";
import { maxHintMs } from "../breaker/circuit_breaker.ts";
import { statedEnd } from "../breaker/end_date.ts";
import { type AdmissionDenial, takenElsewhereMs } from "../counters/admission_denial.ts";
import type { KeyRejection, RejectedCall } from "../limits/api_key_pool.ts";
import type { Budget, BudgetStep, Reservation } from "../limits/budget.ts";
import type { Quota, QuotaReservation } from "../limits/quota.ts";
import { quotaRecovery } from "../limits/quota_recovery.ts";
import type { ModelRateLimiter, RateReservation } from "../limits/rate_limiter.ts";
import type { CounterRequest, Replication } from "../counters/counter_replicator.ts";
import { reserveAgain } from "../counters/reserve_again.ts";
import type { SharedRate } from "../counters/shared_rate.ts";
import type { Usage } from "../counters/usage.ts";
import type { UsageTrackerParts } from "./usage.ts";

type RateReader = typeof import("../../util/rate_headers.ts");

interface ResponseHeaders {
  get(name: string): string | null;
}

let reader: RateReader | undefined;

/** One header of each known family of rate-limit headers: the one that is always present. */
const rateHeaders = [
  "x-ratelimit-remaining-requests",
  "x-ratelimit-remaining-tokens",
  "x-ratelimit-remaining-tokens-minute",
  "anthropic-ratelimit-requests-remaining",
  "ratelimit",
  "ratelimit-remaining",
  "x-ratelimit-remaining",
];

/** Usage of a failed or unsent call. */
const noUsage: Usage = { tokens: 0, costNanoUsd: 0 };

/** Reservations of the individual limits. */
interface CallReservationParts {
  /** Of the vendor's rate limits. */
  readonly rate: RateReservation;
  /** Of the pool's limits. */
  readonly quota: Quota;
  readonly usage: QuotaReservation;
  /** Of every budget. */
  readonly budgets: readonly { readonly budget: Budget; readonly reservation: Reservation }[];
}

/** The reservation of one call, from admission to the end of the call. It ends once; further ends are ignored. */
export class CallReservation {
  readonly #tracker: UsageTrackerParts;
  readonly #parts: CallReservationParts;
  /** Number of the lease under which the shared counters have granted it. */
  #lease: number | undefined;
  #isAnswered = false;
  #isOver = false;

  constructor(tracker: UsageTrackerParts, parts: CallReservationParts) {
    this.#tracker = tracker;
    this.#parts = parts;
  }

  /**
   * Returns what the call requests of counters that several processes share.
   *
   * @param isFirst Whether it is the first call of its request.
   */
  counterRequests(isFirst: boolean): readonly CounterRequest[] {
    const { rate, quota, usage, budgets } = this.#parts;
    const { shared, clock } = this.#tracker;
    return [
      ...shared.rate.slotRequests(rate, clock.now()),
      ...quota.counterRequests(usage, isFirst),
      ...budgets.flatMap(({ budget, reservation }) => budget.counterRequests(reservation)),
    ];
  }

  /** Returns the rate limits that several processes share. */
  sharedRates(): readonly SharedRate[] {
    const { shared: { rate }, facts: { provider, info } } = this.#tracker;
    return rate.sharedRates(`${provider.id} ${info.id}`, this.#parts.rate);
  }

  /** Confirms the reservation, after the shared counters have granted it. */
  confirm(): void {
    this.#lease = this.#tracker.replicator.replication?.lease.number;
    this.#show(true);
  }

  /**
   * Makes sure that the call still has what it reserved, before it is sent. A process that was suspended may have lost
   * it to other processes.
   *
   * @returns Undefined when the call may be sent; otherwise a promise of the denial, or of undefined.
   */
  hold(): Promise<AdmissionDenial | undefined> | undefined {
    const { replication } = this.#tracker.replicator;
    if (replication === undefined || this.#lease === undefined) return undefined;
    const { lease } = replication;
    return lease.isCertain && lease.number === this.#lease ? undefined : this.#reserveAgain(replication, this.#lease);
  }

  async #reserveAgain(replication: Replication, lease: number): Promise<AdmissionDenial | undefined> {
    const reason = await reserveAgain(replication, lease, {
      requests: () => this.counterRequests(false).filter(({ isLeased }) => isLeased),
      confirm: (isConfirmed) => this.#show(isConfirmed),
    });
    this.#lease = replication.lease.number;
    return reason && { reason, until: this.#tracker.clock.monotonic() + takenElsewhereMs };
  }

  #show(isConfirmed: boolean): void {
    if (this.#isOver) return;
    const { rate, quota, usage, budgets } = this.#parts;
    this.#tracker.shared.rate.takeSlot(rate, isConfirmed);
    quota.confirm(usage, isConfirmed);
    for (const { budget, reservation } of budgets) budget.confirm(reservation, isConfirmed);
  }

  /** The API key of the call, if the provider has several. */
  get apiKey(): string | undefined {
    return this.#parts.rate.apiKey?.value;
  }

  /** Puts the API key in standby; returns undefined when the failure is not about the key. */
  rejectApiKey(call: RejectedCall): KeyRejection | undefined {
    const { keys, clock, facts: { info, routing: { recovery }, provider } } = this.#tracker;
    const { apiKey } = this.#parts.rate;
    if (apiKey === undefined) return undefined;
    const times = {
      cooldownMs: recovery.cooldownMs,
      quotaMs: quotaRecovery(recovery, provider, clock),
      statedEnd: statedEnd(call.retryAt, clock, call.kind === "rate_limited" ? maxHintMs : undefined),
    };
    return keys!.reject(apiKey, info.id, call, { now: clock.monotonic(), times });
  }

  /**
   * Updates rate limits from response headers.
   *
   * @returns Undefined once they are applied. The parser is imported with the first response that has rate-limit
   * headers; until then, a promise.
   */
  observe(headers: ResponseHeaders): Promise<void> | undefined {
    this.#isAnswered = true;
    this.#tracker.outages.answered();
    if (reader !== undefined) return this.#read(headers, reader);
    if (rateHeaders.every((name) => headers.get(name) === null)) return undefined;
    const read = (loaded: RateReader) => this.#read(headers, reader = loaded);
    return import("../../util/rate_headers.ts").then(read, () => {}); // without the parser, the response still counts
  }

  #read(headers: ResponseHeaders, { hasResetDates, readRateHeaders }: RateReader): undefined {
    const { shared: { rate }, clock } = this.#tracker;
    const reading = readRateHeaders(headers, clock.now());
    if (reading === undefined) return;
    const hasDates = hasResetDates(headers);
    rate.observe(clock.monotonic(), { ...reading, hasDates }, this.#parts.rate);
  }

  /** Applies limits that the provider has reported by other means. */
  limit({ rpm, tpm }: RateLimits): void {
    const { shared: { rate }, clock } = this.#tracker;
    const reading = {
      ...(rpm !== undefined && { requests: { limit: rpm } }),
      ...(tpm !== undefined && { tokens: { limit: tpm } }),
    };
    rate.observe(clock.monotonic(), reading, this.#parts.rate);
  }

  /** Releases the reservation: the call was not sent. */
  cancel(): void {
    this.#end(noUsage, (rate, now) => rate.release(now, this.#parts.rate));
  }

  /** Ends the reservation of a failed call, which costs nothing. */
  fail(wasSent: boolean): void {
    if (!wasSent) this.cancel();
    // vendors count failed requests as well
    else this.#end(noUsage, (rate, now) => rate.settle(now, this.#parts.rate));
    const { outages, facts } = this.#tracker;
    if (!this.#isAnswered) outages.unanswered(facts.info.id);
  }

  /** Ends the reservation of a successful call with its usage. */
  end(usage: Usage): void {
    if (this.#isOver) return;
    const { keys, facts: { info } } = this.#tracker;
    const { apiKey, requests } = this.#parts.rate;
    if (apiKey !== undefined && this.#isAnswered) keys!.recordSuccess(apiKey, info.id, requests.at);
    this.#end(usage, (rate, now) => rate.settle(now, this.#parts.rate, usage.tokens));
  }

  #end({ tokens, costNanoUsd }: Usage, endRate: (rate: ModelRateLimiter, now: number) => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { shared: { rate }, clock, facts, onBudgetSteps } = this.#tracker;
    const { quota, usage, budgets } = this.#parts;
    endRate(rate, clock.monotonic());
    quota.settle(usage, { tokens, nano_usd: costNanoUsd });
    if (budgets.length === 0) return;
    const onSteps = (steps: readonly BudgetStep[]) => onBudgetSteps(steps, facts.provider.id);
    for (const { budget, reservation } of budgets) {
      const steps = budget.settle(reservation, costNanoUsd, onSteps);
      if (steps.length > 0) onSteps(steps);
    }
  }
}
