/**
 * An access token that is kept until shortly before it expires.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";

/** A token is replaced this long before its end, ms. */
const marginMs = 60_000;

/** A token as it was given out. */
export interface GivenToken {
  /** What goes into `Authorization`, without its scheme. */
  readonly token: string;
  /** How long it holds, seconds. */
  readonly expiresInSeconds: number;
}

/** Hands out one token until it is about to expire; all who wait for a new one share one call. */
export class Tokens {
  readonly #clock: Clock;
  readonly #fetch: (task: string) => Promise<GivenToken>;
  #current: { readonly token: string; readonly until: number } | undefined;
  #coming: Promise<string> | undefined;

  /**
   * @param clock Tells when one is over.
   * @param fetch Asks for one; told what it is for, for messages.
   */
  constructor(clock: Clock, fetch: (task: string) => Promise<GivenToken>) {
    this.#clock = clock;
    this.#fetch = fetch;
  }

  /**
   * A token that holds.
   *
   * @param task What it is for, for messages.
   */
  get(task: string): Promise<string> {
    if (this.#current !== undefined && this.#clock.monotonic() < this.#current.until) {
      return Promise.resolve(this.#current.token);
    }
    return this.#coming ??= this.#renew(task).finally(() => this.#coming = undefined);
  }

  async #renew(task: string): Promise<string> {
    const { token, expiresInSeconds } = await this.#fetch(task);
    this.#current = { token, until: this.#clock.monotonic() + expiresInSeconds * 1000 - marginMs };
    return token;
  }
}
