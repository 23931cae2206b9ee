/**
 * An access token that is fetched when it is first needed, kept until shortly before it expires, and fetched once for
 * all callers that wait.
 * @module
 */
import type { Clock, StopSignal } from "../contracts/runtime.ts";
import { untilAborted } from "./until_aborted.ts";

/** A token is not returned so shortly before it expires, ms: a request may be under way for a while. */
const marginMs = 60_000;

/** A token as issued. */
export interface IssuedToken {
  /** Goes into `Authorization`, after its scheme. */
  readonly value: string;
  /**
   * Validity, ms; undefined: until the server refuses it.
   * @default Infinity
   */
  readonly lifetimeMs?: number;
}

interface TokenWait {
  /** Ends this wait only; the fetch goes on for other callers. */
  readonly signal?: StopSignal;
  /** Purpose of the token, for error messages. */
  readonly purpose?: string;
}

export class TokenCache {
  readonly #fetch: (purpose: string) => Promise<IssuedToken>;
  readonly #clock: Clock;
  #current: { readonly value: string; readonly until: number } | undefined;
  #pending: Promise<string> | undefined;

  /**
   * @param fetch Its errors reach all callers that wait.
   */
  constructor(fetch: (purpose: string) => Promise<IssuedToken>, clock: Clock) {
    this.#fetch = fetch;
    this.#clock = clock;
  }

  /** A valid token, fetched unless one is cached. */
  async get({ signal, purpose = "" }: TokenWait = {}): Promise<string> {
    const current = this.#current;
    if (current !== undefined && this.#clock.monotonic() < current.until) return current.value;
    return await untilAborted(this.#pending ??= this.#renew(purpose), signal);
  }

  /** A token other than a refused one; concurrent callers with the same refused token share one fetch. */
  async renew(refused: string, wait: TokenWait = {}): Promise<string> {
    if (this.#current?.value === refused) this.#current = undefined;
    return await this.get(wait);
  }

  async #renew(purpose: string): Promise<string> {
    const from = this.#clock.monotonic();
    try {
      const { value, lifetimeMs = Infinity } = await this.#fetch(purpose);
      this.#current = { value, until: from + lifetimeMs - marginMs };
      return value;
    } finally {
      this.#pending = undefined;
    }
  }
}
