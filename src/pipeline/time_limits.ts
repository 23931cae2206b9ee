/**
 * Time limits of a try: to the first content, and without data.
 * @module
 */
import { defaultTimeouts } from "../config/settings/defaults.ts";
import type { Cancel, Clock } from "../contracts/runtime.ts";
import type { Member } from "../registry/registry.ts";
import type { RequestPlan } from "./eligibility.ts";
import { AttemptTimeout } from "./failure.ts";

/** A check that is later than this, ms, means that the process was stopped, as with its virtual machine. */
const stoppedMs = 1_000;

/** The limit of the time to the first content. */
export interface FirstContentLimit {
  readonly limitMs: number;
  /** Maximum time without data before the first content, ms; undefined: no further limit. */
  readonly silenceMs?: number | undefined;
  /** The setting that limits it, for messages. */
  readonly setting: string;
}

/**
 * Finds the limit of the first content of a stream, or of content that is passed on as it arrives: that of the request, else of the pool, else of the provider, else the default.
 *
 * @param plan The request and its pool.
 * @returns Undefined if none applies: the default limits responses that are requested as streams alone.
 */
export function findFirstContentLimit(
  { request, pool }: Pick<RequestPlan, "request" | "pool">,
  { model: { instance: { entry, connector } } }: Member,
): FirstContentLimit | undefined {
  const isStream = request.delivery === "stream";
  const silenceMs = isStream ? entry.configuredSilenceMs : undefined;
  const requested = request.routingConstraints?.firstTokenMs;
  if (requested !== undefined) return { limitMs: requested, silenceMs, setting: '"first_token" of the request' };
  const { firstTokenTimeoutMs: pooled } = pool.routing;
  if (pooled !== undefined) return { limitMs: pooled, silenceMs, setting: "first_token_timeout of the pool" };
  const setting = "execution.first_token_timeout";
  const { firstTokenTimeoutMs: own } = entry;
  if (own !== undefined) return { limitMs: own, silenceMs, setting };
  const { firstToken, firstTokenOfLocal } = defaultTimeouts;
  return isStream ? { limitMs: connector?.local ? firstTokenOfLocal : firstToken, silenceMs, setting } : undefined;
}

/** Creates the failure of a provider that has sent no content in time. */
export function limitExceeded({ limitMs, setting }: FirstContentLimit): AttemptTimeout {
  return new AttemptTimeout(`The provider sent no content within ${limitMs} ms (${setting})`, "first_token_timeout");
}

/** Limits of an {@linkcode IdleTimer}. */
interface IdleLimits {
  /** The limit of the provider, ms. */
  readonly limitMs: number;
  /** Whether the limit applies to all waiting together; else to the time without data. */
  readonly isTotal: boolean;
  /** Applies until {@linkcode IdleTimer.begin}; undefined: from the start the other limits alone apply. */
  readonly first: FirstContentLimit | undefined;
  readonly onLimit: () => void;
  readonly onFirstLimit: (limit: FirstContentLimit) => void;
  /** The limit of the reader, ms. */
  readonly unreadMs: number;
  readonly onUnread: () => void;
}

/**
 * Detects that a provider takes too long while the reader waits, or that the reader stops. One timer, re-armed only
 * when it fires.
 */
export class IdleTimer {
  readonly #clock: Clock;
  #limits: IdleLimits;
  #isShortened = false;
  /** Undefined once the first content has arrived. */
  #first: FirstContentLimit | undefined;
  /** From when the first content is waited for, monotonic ms. */
  #startedAt: number;
  /** Time waited before `#since`, ms. */
  #waitedMs = 0;
  #since: number;
  #isListening = true;
  /** When the next check is due, monotonic ms. */
  #dueAt = 0;
  #cancel: Cancel = () => {};

  constructor(clock: Clock, limits: IdleLimits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#first = limits.first;
    this.#startedAt = this.#since = clock.monotonic();
    this.#arm(this.#since, this.#leftMs(this.#since));
  }

  /** Ends the limit of the first content, since it has arrived. */
  begin(): void {
    if (this.#first === undefined) return;
    this.#first = undefined;
    const now = this.#clock.monotonic();
    const leftMs = this.#leftMs(now);
    if (this.#dueAt - now <= leftMs) return;
    this.#cancel();
    this.#arm(now, leftMs);
  }

  touch(): void {
    if (!this.#limits.isTotal) this.#since = this.#clock.monotonic();
  }

  listen(): void {
    this.#since = this.#clock.monotonic();
    this.#isListening = true;
  }

  /** Without a total, its time runs from the last data: the reader has just received them. */
  pause(): void {
    if (this.#limits.isTotal && this.#isListening) {
      const now = this.#clock.monotonic();
      this.#waitedMs += now - this.#since;
      this.#since = now;
    }
    this.#isListening = false;
  }

  stop(): void {
    this.#cancel();
  }

  /** Applies a shorter limit from now on. Once it is reached, only that of the reader is left. */
  shorten(limitMs: number, onLimit: () => void): void {
    if (this.#isShortened) return;
    this.#isShortened = true;
    this.#first = undefined;
    const limits = this.#limits;
    const end = () => {
      this.#limits = { ...limits, limitMs: Infinity };
      this.#arm(this.#clock.monotonic(), limits.unreadMs);
      onLimit();
    };
    this.#limits = { ...limits, limitMs: Math.min(limitMs, limits.limitMs), onLimit: end };
    this.#cancel();
    this.#check();
  }

  /** Time until a limit is reached if no data arrive, ms. */
  #leftMs(now: number): number {
    const { limitMs, isTotal } = this.#limits;
    const elapsedMs = now - this.#since;
    if (this.#first === undefined) return limitMs - this.#waitedMs - elapsedMs;
    const { limitMs: firstMs, silenceMs = Infinity } = this.#first;
    const idleMs = (isTotal ? limitMs : silenceMs) - elapsedMs;
    return Math.min(idleMs, this.#startedAt + firstMs - now);
  }

  #check(): void {
    const { limitMs, isTotal, onLimit, onFirstLimit, unreadMs, onUnread } = this.#limits;
    const now = this.#clock.monotonic();
    const lateMs = now - this.#dueAt;
    // the process was stopped: data may have arrived meanwhile
    if (lateMs > stoppedMs && !isTotal) {
      this.#since = now;
      this.#startedAt += lateMs;
    }
    const leftMs = this.#leftMs(now);
    if (this.#isListening && leftMs <= 0) {
      const isFirst = this.#first !== undefined && now - this.#startedAt >= this.#first.limitMs;
      return isFirst ? onFirstLimit(this.#first!) : onLimit();
    }
    const elapsedMs = now - this.#since;
    if (!this.#isListening && elapsedMs >= unreadMs) return onUnread();
    // without a listener it checks periodically, since a listener may be added at any time
    const nextMs = this.#isListening
      ? Math.min(leftMs, unreadMs)
      : Math.min(limitMs - this.#waitedMs, unreadMs - elapsedMs);
    this.#arm(now, Math.max(1, nextMs));
  }

  #arm(now: number, waitMs: number): void {
    this.#dueAt = now + waitMs;
    this.#cancel = this.#clock.after(waitMs, () => this.#check());
  }
}
