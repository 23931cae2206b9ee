/**
 * What a call has reserved of the rate limits of one API key and model.
 * @module
 */
import type { RateReading } from "../../util/rate_headers.ts";
import type { CounterRequest } from "../counters/replicated_counter.ts";
import type { RateCounter } from "../counters/rate_counter.ts";
import type { ReservedPart, Settlement } from "../counters/reservation.ts";
import { type SharedRate, slicedDay, slicedMinute } from "../counters/shared_rate.ts";
import type { ApiKey } from "./api_key_pool.ts";
import type { ConcurrencySlots } from "./concurrency_slots.ts";

/** What is counted of one API key and model. */
export interface RateCounters {
  readonly requests: RateCounter;
  readonly tokens: RateCounter;
  /** Requests in flight. */
  inFlight: number;
  /** Sequence number of the newest reservation. */
  sequence: number;
  /** Slots that several processes share, if concurrency is limited. */
  slots: ConcurrencySlots | undefined;
  /** Called when the counters may admit more than before; undefined while no request waits for that. */
  onFreed: (() => void) | undefined;
  /** Converts a monotonic time to wall-clock time, ms. */
  readonly wallTimeAt: (monotonicMs: number) => number;
}

/** One of several API keys. */
export interface KeyChoice {
  readonly apiKey: ApiKey;
  /** Its position in the list. Processes identify it by that. */
  readonly index: number;
}

/** The reservation of one request and its tokens. Times are monotonic ms. */
export class ReservedRate implements ReservedPart {
  /** When it was reserved. */
  readonly at: number;
  /** The API key of the call, if the provider has several. */
  readonly apiKey: ApiKey | undefined;
  /** Its position in the list. */
  readonly keyIndex: number | undefined;
  readonly #counters: RateCounters;
  readonly #requests: ReturnType<RateCounter["reserve"]>;
  readonly #tokens: ReturnType<RateCounter["reserve"]>;
  #isOpen = true;
  #hasSlot = false;

  /** @param key The API key of the call, if the provider has several. */
  constructor(counters: RateCounters, { now, tokens, key }: {
    readonly now: number;
    readonly tokens: number;
    readonly key?: KeyChoice | undefined;
  }) {
    this.at = now;
    this.apiKey = key?.apiKey;
    this.keyIndex = key?.index;
    this.#counters = counters;
    const sequence = ++counters.sequence;
    this.#requests = counters.requests.reserve(now, 1, sequence);
    this.#tokens = counters.tokens.reserve(now, roundTokens(tokens), sequence);
    counters.inFlight++;
  }

  /** Number of tokens reserved. */
  get tokens(): number {
    return this.#tokens.amount;
  }

  /**
   * Returns the declared request limits that several processes enforce exactly.
   *
   * @param name Identifies the provider and the model.
   */
  sharedRates(name: string): SharedRate[] {
    const { minute, day } = this.#counters.requests.declared;
    const key = this.keyIndex === undefined ? name : `${name} ${this.keyIndex}`;
    return [
      ...minute === undefined ? [] : [{ name: `model ${key}`, limit: minute, ...slicedMinute }],
      ...day === undefined ? [] : [{ name: `model ${key} day`, limit: day, ...slicedDay }],
    ];
  }

  /** Returns the request for a concurrency slot, if concurrency is limited. */
  counterRequests(): readonly CounterRequest[] {
    const { slots, wallTimeAt } = this.#counters;
    return slots === undefined ? [] : [slots.request(wallTimeAt(this.at))];
  }

  /** Takes a concurrency slot, or returns it. */
  confirm(isConfirmed = true): void {
    const { slots } = this.#counters;
    if (slots === undefined || this.#hasSlot === isConfirmed || !this.#isOpen) return;
    this.#hasSlot = isConfirmed;
    if (isConfirmed) slots.take();
    else slots.release();
  }

  /** Settles it: a response arrived. */
  settle({ tokens }: Settlement, now: number): void {
    if (!this.#isOpen) return;
    this.#end(now, this.#requests.amount, tokens === undefined ? this.#tokens.amount : roundTokens(tokens));
    this.#counters.onFreed?.();
  }

  /**
   * Ends it: the request failed. Requests that wait are not notified, since they would be sent to the model before its
   * failure is recorded.
   *
   * @param wasSent Whether the request counts: vendors count failed ones as well.
   */
  fail(now: number, wasSent: boolean): void {
    if (wasSent) this.#end(now, this.#requests.amount, this.#tokens.amount);
    else this.#end(now, 0, 0);
  }

  /** Releases it as if it had never been made: the request was not sent. */
  release(now: number): void {
    this.#end(now, 0, 0);
    this.#counters.onFreed?.();
  }

  /**
   * Applies the rate-limit headers of the response, also after the end. Reservations made after the request are
   * subtracted from the reported remainder. A reading from an older request than the current one is ignored.
   *
   * @param reading The parsed headers, and whether resets are stated as dates.
   */
  observe(now: number, { requests, tokens, hasDates: isDate }: RateReading & { readonly hasDates?: boolean }): void {
    const { requests: requestCounter, tokens: tokenCounter } = this.#counters;
    if (requests !== undefined) requestCounter.observe(now, requests, { mark: this.#requests, isDate });
    if (tokens !== undefined) tokenCounter.observe(now, tokens, { mark: this.#tokens, isDate });
    this.#counters.onFreed?.();
  }

  #end(now: number, requests: number, tokens: number): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const counters = this.#counters;
    counters.inFlight--;
    if (this.#hasSlot) counters.slots!.release();
    counters.requests.settle(now, this.#requests, requests);
    counters.tokens.settle(now, this.#tokens, tokens);
  }
}

/** Rounds up to an integer. Estimates may be fractional, and reported values invalid; these become 0. */
export function roundTokens(tokens: number): number {
  return tokens > 0 && tokens < Infinity ? Math.ceil(tokens) : 0;
}
