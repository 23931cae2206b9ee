/**
 * The numbers of one model, provider or pool.
 * @module
 */
import type { StatsMetrics } from "../contracts/events.ts";
import type { Outcome } from "../state/model_state.ts";
import { Latencies } from "./_latencies.ts";

const nanoPerUsd = 1_000_000_000;

/** Counts for one model, provider or pool. Times are monotonic ms. */
export class Tally {
  readonly #latencies = new Latencies();
  #total = 0;
  #success = 0;
  #failed = 0;
  #tokensIn = 0;
  #tokensOut = 0;
  #costNano = 0;
  #standbyEvents = 0;
  #quotaResets = 0;
  #rotations = 0;
  /** The requests counted last: in all, and as failed. */
  #request = -1;
  #failedRequest = -1;
  /** Models in pools that belong to it, and those of them that rest. */
  #members = 0;
  #resting = 0;
  #downtimeMs = 0;
  /** Since when it has no active member. */
  #downSince: number | undefined;

  /**
   * A request is over. Told again of the same one, it counts it once, and as failed if any of it failed.
   *
   * @param request Its number; those of one request come in a row.
   * @param vote What came of it here; `none`: neither success nor failure.
   */
  request(request: number, vote: Outcome): void {
    if (this.#request !== request) {
      this.#request = request;
      this.#total++;
      if (vote === "success") this.#success++;
    }
    if (vote !== "failure" || this.#failedRequest === request) return;
    this.#failedRequest = request;
    this.#failed++;
  }

  /** What a request took: tokens, and nano-dollars. What makes no sense counts as 0. */
  took(tokensIn: number | undefined, tokensOut: number | undefined, costNano: number | undefined): void {
    this.#tokensIn += whole(tokensIn);
    this.#tokensOut += whole(tokensOut);
    this.#costNano += whole(costNano);
  }

  /** How long an answer took, ms; undefined when nobody knows. */
  latency(ms: number | undefined): void {
    if (ms !== undefined) this.#latencies.add(ms);
  }

  /** A request left it, or a model of it, for another model. */
  rotation(): void {
    this.#rotations++;
  }

  /** It, or some of its models, moved to standby. */
  standby(): void {
    this.#standbyEvents++;
  }

  /** A rest of it, or of some of its models, ended because a quota began anew. */
  quotaReset(): void {
    this.#quotaResets++;
  }

  /** A member is here from now on. */
  join(isResting: boolean, now: number): void {
    this.#members++;
    if (isResting) this.#resting++;
    this.#note(now);
  }

  /** Nobody is a member any more. */
  empty(now: number): void {
    this.#members = 0;
    this.#resting = 0;
    this.#note(now);
  }

  /** A member went to rest, or came back. */
  shift(isResting: boolean, now: number): void {
    this.#resting += isResting ? 1 : -1;
    this.#note(now);
  }

  /** The spec's metrics as they stand. */
  metrics(now: number): StatsMetrics {
    return {
      requests_total: this.#total,
      requests_success: this.#success,
      requests_failed: this.#failed,
      tokens_in: this.#tokensIn,
      tokens_out: this.#tokensOut,
      cost_total: this.#costNano / nanoPerUsd,
      latency_avg: thousandths(this.#latencies.mean),
      latency_p95: thousandths(this.#latencies.percentile95),
      downtime_total: Math.round(this.#downtimeMs + this.#downFor(now)),
      standby_events: this.#standbyEvents,
      quota_resets: this.#quotaResets,
      rotation_events: this.#rotations,
    };
  }

  /** Begins or ends the time without an active member. */
  #note(now: number): void {
    const isDown = this.#members > 0 && this.#resting === this.#members;
    if (isDown === (this.#downSince !== undefined)) return;
    this.#downtimeMs += this.#downFor(now);
    this.#downSince = isDown ? now : undefined;
  }

  #downFor(now: number): number {
    return this.#downSince === undefined ? 0 : Math.max(0, now - this.#downSince);
  }
}

/** Providers say what they like; one NaN would spoil a sum for good. */
function whole(count: number | undefined): number {
  return typeof count === "number" && count > 0 && count < Infinity ? Math.floor(count) : 0;
}

function thousandths(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1000) / 1000;
}
