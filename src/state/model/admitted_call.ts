/**
 * Calls to a provider, from admission to their end.
 * @module
 */
import type { RateLimits } from "../../contracts/provider.ts";
import { maxHintMs } from "../breaker/circuit_breaker.ts";
import { quotaRecovery, statedEnd } from "../breaker/end_date.ts";
import { Reservation, type ReservedPart } from "../counters/reservation.ts";
import type { CounterRequest } from "../counters/replicated_counter.ts";
import type { SharedRate } from "../counters/shared_rate.ts";
import type { Usage } from "../counters/usage.ts";
import type { KeyRejection, RejectedCall } from "../limits/api_key_pool.ts";
import type { Quota } from "../limits/quota.ts";
import type { ReservedRate } from "../limits/reserved_rate.ts";
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

/** What an {@linkcode AdmittedCall} has reserved. */
interface AdmittedCallParts {
  /** Returns the maximum cost of the call, nano-dollars; undefined if unknown. */
  readonly findCost: () => number | undefined;
  /** Of the vendor's rate limits. */
  readonly rate: ReservedRate;
  /** Of the pool's limits, and of every budget. */
  readonly others: readonly ReservedPart[];
  /** The pool's limits, of which the first call of a request requests its share, besides. */
  readonly quota: Pick<Quota, "counterRequests"> | undefined;
}

/** One call, with its API key and what it reserves. It ends once; further ends are ignored. */
export class AdmittedCall extends Reservation {
  /** The API key of the call, if the provider has several. */
  readonly apiKey: string | undefined;
  readonly #tracker: UsageTrackerParts;
  readonly #parts: AdmittedCallParts;
  #hasResponse = false;

  constructor(tracker: UsageTrackerParts, parts: AdmittedCallParts) {
    super(parts.others.length === 0 ? [parts.rate] : [parts.rate, ...parts.others], tracker);
    this.apiKey = parts.rate.apiKey?.value;
    this.#tracker = tracker;
    this.#parts = parts;
  }

  /**
   * Returns what the call requests of counters that several processes share.
   *
   * @param isFirst Whether it is the first call of its request.
   */
  override counterRequests(isFirst = false): readonly CounterRequest[] {
    return [...isFirst && this.#parts.quota?.counterRequests() || [], ...super.counterRequests()];
  }

  /** Returns the rate limits that several processes share. */
  sharedRates(): readonly SharedRate[] {
    const { facts: { provider, info } } = this.#tracker;
    return this.#parts.rate.sharedRates(`${provider.id} ${info.id}`);
  }

  /** The maximum cost, nano-dollars, which budgets have reserved; undefined if the price is unknown. */
  get costNanoUsd(): number | undefined {
    return this.#parts.findCost();
  }

  /** Position of the API key in the provider's list; undefined for a provider with one key. */
  get keyIndex(): number | undefined {
    return this.#parts.rate.keyIndex;
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
    return keys!.reject(apiKey, info.id, { call, at: { now: clock.monotonic(), times } });
  }

  /**
   * Updates rate limits from response headers.
   *
   * @returns Undefined once they are applied. The parser is imported with the first response that has rate-limit
   * headers; until then, a promise.
   */
  observe(headers: ResponseHeaders): Promise<void> | undefined {
    this.#hasResponse = true;
    this.#tracker.outages.recordResponse();
    if (reader !== undefined) return this.#read(headers, reader);
    for (const name of rateHeaders) if (headers.get(name) !== null) return this.#load(headers);
    return undefined;
  }

  async #load(headers: ResponseHeaders): Promise<void> {
    try {
      reader ??= await import("../../util/rate_headers.ts");
    } catch {
      return; // without the parser, the response still counts
    }
    this.#read(headers, reader);
  }

  #read(headers: ResponseHeaders, { hasResetDates, readRateHeaders }: RateReader): undefined {
    const { clock } = this.#tracker;
    const reading = readRateHeaders(headers, clock.now());
    if (reading === undefined) return;
    const hasDates = hasResetDates(headers);
    this.#parts.rate.observe(clock.monotonic(), { ...reading, hasDates });
  }

  /** Applies limits that the provider has reported by other means. */
  limit({ rpm, tpm }: RateLimits): void {
    const reading = {
      ...(rpm !== undefined && { requests: { limit: rpm } }),
      ...(tpm !== undefined && { tokens: { limit: tpm } }),
    };
    this.#parts.rate.observe(this.#tracker.clock.monotonic(), reading);
  }

  /** Releases the reservation: the call was not sent. */
  cancel(): void {
    const now = this.#tracker.clock.monotonic();
    this.#parts.rate.release(now);
    this.settle(noUsage, now);
  }

  /** Ends the reservation of a failed call, which costs nothing. */
  fail(wasSent: boolean): void {
    const now = this.#tracker.clock.monotonic();
    this.#parts.rate.fail(now, wasSent);
    this.settle(noUsage, now);
    const { outages, facts } = this.#tracker;
    if (!this.#hasResponse) outages.recordSilence(facts.info.id);
  }

  /**
   * Ends the reservation of a successful call with its usage.
   *
   * @param now Monotonic ms.
   */
  end(usage: Usage, now?: number): void {
    if (this.isOver) return;
    const { keys, facts: { info } } = this.#tracker;
    const { apiKey, at } = this.#parts.rate;
    if (apiKey !== undefined && this.#hasResponse) keys!.recordSuccess(apiKey, info.id, at);
    this.settle(usage, now);
  }
}
