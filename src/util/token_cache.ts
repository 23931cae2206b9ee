/**
 * Caches an access token until shortly before it expires. Concurrent callers share one fetch.
 * @module
 */
import type { Clock, StopSignal } from "../contracts/runtime.ts";
import { startAge } from "./age.ts";
import { untilAborted } from "./until_aborted.ts";

/** Safety margin before expiry, ms, since a request with the token may take a while. */
const marginMs = 60_000;

/** An issued token. */
export interface IssuedToken {
  /** The value of `Authorization` after its scheme. */
  readonly value: string;
  /**
   * Lifetime, ms. Infinity: until the server rejects it.
   * @default Infinity
   */
  readonly lifetimeMs?: number;
}

interface TokenWait {
  /** Aborts this wait only. The fetch continues for other callers. */
  readonly signal?: StopSignal;
  /** Purpose of the token, for error messages. */
  readonly purpose?: string;
}

export class TokenCache {
  readonly #fetch: (purpose: string) => Promise<IssuedToken>;
  readonly #clock: Clock;
  #current: {
    readonly value: string;
    readonly ageMs: () => number;
    /** The age up to which it is used, ms. */
    readonly maxAgeMs: number;
  } | undefined;
  #pending: Promise<string> | undefined;

  /** @param fetch Fetches a token. Its errors are thrown to all waiting callers. */
  constructor(fetch: (purpose: string) => Promise<IssuedToken>, clock: Clock) {
    this.#fetch = fetch;
    this.#clock = clock;
  }

  /** Returns a valid token, fetched unless one is cached. */
  async get({ signal, purpose = "" }: TokenWait = {}): Promise<string> {
    const current = this.#current;
    if (current !== undefined && current.ageMs() < current.maxAgeMs) return current.value;
    return await untilAborted(this.#pending ??= this.#renew(purpose), signal);
  }

  /** Returns a token other than a rejected one. Concurrent callers with the same rejected token share one fetch. */
  async renew(refused: string, wait: TokenWait = {}): Promise<string> {
    if (this.#current?.value === refused) this.#current = undefined;
    return await this.get(wait);
  }

  async #renew(purpose: string): Promise<string> {
    const ageMs = startAge(this.#clock);
    try {
      const { value, lifetimeMs = Infinity } = await this.#fetch(purpose);
      this.#current = { value, ageMs, maxAgeMs: lifetimeMs - marginMs };
      return value;
    } finally {
      this.#pending = undefined;
    }
  }
}
