/**
 * Caches a credential that expires, such as an access token, until shortly before its end. Concurrent callers share one
 * fetch.
 * @module
 */
import type { IssuedToken } from "../contracts/connector.ts";
import type { Clock, StopSignal } from "../contracts/runtime.ts";
import { startAge } from "./age.ts";
import { untilAborted } from "./until_aborted.ts";

/** Safety margin before expiry, ms, since a request with the credential may take a while. */
const marginMs = 60_000;

/** The pause after failed fetches in a row: of the first, and the maximum, ms. */
const firstPauseMs = 1_000;
const maxPauseMs = 30_000;

/** Failures in a row after which callers may fetch at once: requests have a backoff of their own. */
const freeFailures = 3;

/** A caller's wait. */
export interface TokenWait {
  /** Aborts this wait only. The fetch continues for other callers. */
  readonly signal?: StopSignal | undefined;
  /** Purpose of the credential, for error messages. */
  readonly purpose?: string;
}

/**
 * The cache. A failed fetch leaves a credential that is still valid in use, and is repeated with exponential backoff.
 */
export class TokenCache<Value = string> {
  readonly #fetch: (purpose: string) => Promise<IssuedToken<Value>>;
  readonly #clock: Clock;
  #current: {
    readonly value: Value;
    readonly ageMs: () => number;
    /** The age from which the next one is fetched in the background, ms. */
    readonly renewalMs: number;
    /** The age up to which callers do not wait for the next one, ms. */
    readonly freshMs: number;
    /** The age up to which it is used if no other can be had, ms. */
    readonly lifetimeMs: number;
  } | undefined;
  #pending: Promise<Value> | undefined;
  #failure: { readonly error: unknown; readonly count: number; readonly ageMs: () => number } | undefined;

  /** @param fetch Fetches a credential. Its errors are thrown to all waiting callers. */
  constructor(fetch: (purpose: string) => Promise<IssuedToken<Value>>, clock: Clock) {
    this.#fetch = fetch;
    this.#clock = clock;
  }

  /** Returns a valid credential, fetched unless one is cached. */
  async get({ signal, purpose = "" }: TokenWait = {}): Promise<Value> {
    const current = this.#current;
    const ageMs = current?.ageMs() ?? Infinity;
    if (current === undefined || ageMs >= current.freshMs) {
      return await untilAborted(this.#next(purpose, ageMs), signal);
    }
    // all waiting callers, and the source itself, learn of a failure; this one does not wait
    if (ageMs >= current.renewalMs && !this.#isPausing(0)) this.#renew(purpose).catch(() => {});
    return current.value;
  }

  /** Returns a credential other than a rejected one. Concurrent callers with the same rejected one share one fetch. */
  async renew(refused: Value, wait: TokenWait = {}): Promise<Value> {
    if (this.#current?.value === refused) this.#current = undefined;
    return await this.get(wait);
  }

  /** The next credential, or the current one while it is valid and no other can be had. */
  async #next(purpose: string, ageMs: number): Promise<Value> {
    const current = this.#current;
    const isValid = current !== undefined && ageMs < current.lifetimeMs;
    if (this.#pending === undefined && this.#isPausing(isValid ? 0 : freeFailures)) {
      if (isValid) return current.value;
      throw this.#failure!.error;
    }
    try {
      return await this.#renew(purpose);
    } catch (error) {
      if (this.#current === current && current !== undefined && current.ageMs() < current.lifetimeMs) {
        return current.value;
      }
      throw error;
    }
  }

  /** @param free Failures in a row without a pause. */
  #isPausing(free: number): boolean {
    if (this.#failure === undefined) return false;
    const { count, ageMs } = this.#failure;
    return count > free && ageMs() < Math.min(maxPauseMs, firstPauseMs * 2 ** (count - free - 1));
  }

  #renew(purpose: string): Promise<Value> {
    return this.#pending ??= this.#fetchNext(purpose);
  }

  async #fetchNext(purpose: string): Promise<Value> {
    const ageMs = startAge(this.#clock);
    try {
      const { value, lifetimeMs = Infinity, aheadMs = 0 } = await this.#fetch(purpose);
      const freshMs = lifetimeMs - marginMs;
      this.#current = { value, ageMs, renewalMs: Math.max(freshMs - aheadMs, freshMs / 2), freshMs, lifetimeMs };
      this.#failure = undefined;
      return value;
    } catch (error) {
      this.#failure = { error, count: (this.#failure?.count ?? 0) + 1, ageMs: startAge(this.#clock) };
      throw error;
    } finally {
      this.#pending = undefined;
    }
  }
}
