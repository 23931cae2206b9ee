/**
 * An access token that is fetched when it is first needed, kept until shortly before it expires, and fetched once for
 * all callers that wait.
 * @module
 */
import type { Clock, StopSignal } from "../contracts/runtime.ts";
import { untilAborted } from "./until_aborted.ts";

/** A token is not returned so shortly before it expires, ms: a request may be under way for a while. */
const marginMs = 60_000;

/** A token as it was issued. */
export interface IssuedToken {
  /** What goes into `Authorization`, without its scheme. */
  readonly value: string;
  /**
   * How long it is valid, ms; undefined: until it is refused.
   * @default Infinity
   */
  readonly lifetimeMs?: number;
}

/** One caller's wait. */
export interface TokenWait {
  /** Ends this wait; the token is fetched for the other callers all the same. */
  readonly signal?: StopSignal;
  /** What the token is for, for the messages of errors. */
  readonly purpose?: string;
}

/** Keeps one token. */
export class TokenCache {
  readonly #fetch: (purpose: string) => Promise<IssuedToken>;
  readonly #clock: Clock;
  #current: { readonly value: string; readonly until: number } | undefined;
  #pending: Promise<string> | undefined;

  /**
   * @param fetch Fetches a token; its errors are those of all callers that wait.
   * @param clock For the token's end.
   */
  constructor(fetch: (purpose: string) => Promise<IssuedToken>, clock: Clock) {
    this.#fetch = fetch;
    this.#clock = clock;
  }

  /**
   * The token.
   *
   * @param wait How long, and for what.
   */
  async get({ signal, purpose = "" }: TokenWait = {}): Promise<string> {
    const current = this.#current;
    if (current !== undefined && this.#clock.monotonic() < current.until) return current.value;
    return await untilAborted(this.#pending ??= this.#renew(purpose), signal);
  }

  /**
   * Another token than one that was refused; the same for all callers that it was refused to.
   *
   * @param refused The token that was refused.
   * @param wait How long, and for what.
   */
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
