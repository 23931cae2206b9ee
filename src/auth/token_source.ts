/**
 * One provider's token: fetched when it is first needed, kept until shortly before its end, fetched once for all who
 * wait.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import { untilAborted } from "../util/until_aborted.ts";
import type { Grant } from "./grants.ts";

/** A token is not handed out so shortly before its end, ms: a request may be under way for a while. */
const marginMs = 60_000;

/** Hands out a token. */
export class TokenSource {
  readonly #grant: Grant;
  readonly #clock: Clock;
  #current: { readonly value: string; readonly until: number } | undefined;
  #pending: Promise<string> | undefined;

  /**
   * @param grant Fetches one.
   * @param clock For its end.
   */
  constructor(grant: Grant, clock: Clock) {
    this.#grant = grant;
    this.#clock = clock;
  }

  /**
   * The token.
   *
   * @param signal Ends this wait; the token is fetched for the others all the same.
   * @throws {UpstreamError} When there is none to be had.
   */
  async get(signal: AbortSignal): Promise<string> {
    const current = this.#current;
    if (current !== undefined && this.#clock.monotonic() < current.until) return current.value;
    return await untilAborted(this.#pending ??= this.#fetch(), signal);
  }

  /**
   * Another token than one that was refused; the same for all whom it was refused to.
   *
   * @param refused The token that was refused.
   * @param signal Ends this wait.
   * @throws {UpstreamError} When there is none to be had.
   */
  async renew(refused: string, signal: AbortSignal): Promise<string> {
    if (this.#current?.value === refused) this.#current = undefined;
    return await this.get(signal);
  }

  async #fetch(): Promise<string> {
    const from = this.#clock.monotonic();
    try {
      const { value, lifetimeMs = Infinity } = await this.#grant(); // one without an end holds until it is refused
      this.#current = { value, until: from + lifetimeMs - marginMs };
      return value;
    } finally {
      this.#pending = undefined;
    }
  }
}
