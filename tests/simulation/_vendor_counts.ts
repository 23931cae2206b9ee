/**
 * A vendor's own counting: what it allows is what it sees, not what a mesh believes.
 * @module
 */
import type { RateLimits } from "../../mod.ts";
import { hour, minute } from "./_times.ts";

/** A limit that one more call would overrun. */
export type Overrun = "rpm" | "tpm" | "rpd" | "concurrent";

interface Served {
  readonly at: number;
  /** The UTC day. */
  readonly day: number;
  readonly tokens: number;
}

/** A time on both clocks, ms. */
export interface VendorTime {
  readonly now: number;
  readonly wall: number;
}

const dayOf = (wall: number) => Math.floor(wall / (24 * hour));

/** Counts of one model. Times are monotonic ms; days are those of the wall clock. */
export class VendorCounts {
  readonly #limits: RateLimits;
  readonly #served: Served[] = [];
  /** Calls under way. */
  underWay = 0;

  /** @param limits What the vendor allows. */
  constructor(limits: RateLimits) {
    this.#limits = limits;
  }

  /**
   * Takes a call in, if it is within the limits.
   *
   * @returns The limit it overruns.
   */
  arrive({ now, wall }: VendorTime, tokens: number): Overrun | undefined {
    const overrun = this.#overrun({ now, wall }, tokens);
    if (overrun === undefined) this.#served.push({ at: now, day: dayOf(wall), tokens });
    return overrun;
  }

  /**
   * Whether there is room however a mesh may reckon: half of every limit is left, no token was asked for lately. After the
   * clock was set back, the next day counts, too.
   */
  hasAmpleRoom({ now, wall }: VendorTime): boolean {
    const { rpm = Infinity, tpm, rpd = Infinity, concurrent = Infinity } = this.#limits;
    return 2 * (this.#requests(now, 2 * minute) + this.underWay + 1) <= rpm &&
      2 * (Math.max(this.#onDay(dayOf(wall)), this.#onDay(dayOf(wall) + 1)) + this.underWay + 1) <= rpd &&
      this.underWay + 1 <= concurrent && (tpm === undefined || this.#requests(now, 2 * minute) + this.underWay === 0);
  }

  /** What its responses say of requests a minute: how many are left, and when all of them are again, ms from now. */
  reported(now: number): { readonly left: number; readonly resetMs: number } {
    const left = Math.max(0, (this.#limits.rpm ?? Infinity) - this.#requests(now, minute));
    const newest = this.#served.at(-1);
    return { left, resetMs: newest === undefined ? 0 : Math.max(0, newest.at + minute - now) };
  }

  #overrun({ now, wall }: VendorTime, tokens: number): Overrun | undefined {
    const { rpm = Infinity, tpm = Infinity, rpd = Infinity, concurrent = Infinity } = this.#limits;
    if (this.#requests(now, minute) + 1 > rpm) return "rpm";
    if (this.#tokens(now, minute) + tokens > tpm) return "tpm";
    if (this.#onDay(dayOf(wall)) + 1 > rpd) return "rpd";
    return this.underWay > concurrent ? "concurrent" : undefined;
  }

  #onDay(day: number): number {
    return this.#served.filter((one) => one.day === day).length;
  }

  #requests(now: number, windowMs: number): number {
    return this.#served.filter(({ at }) => at > now - windowMs).length;
  }

  #tokens(now: number, windowMs: number): number {
    return this.#served.reduce((sum, { at, tokens }) => at > now - windowMs ? sum + tokens : sum, 0);
  }
}
