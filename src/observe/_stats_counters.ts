/**
 * Statistics of one model, provider or pool.
 * @module
 */
import type { StatsMetrics } from "../contracts/events.ts";
import type { Outcome } from "../state/counters/usage.ts";
import { LatencyHistogram } from "./_latency_histogram.ts";
import type { RequestUsage } from "./hub_events.ts";

const nanoPerUsd = 1_000_000_000;

/** Counters of one model, provider or pool. Times are monotonic ms. */
export class StatsCounters {
  readonly #latencies = new LatencyHistogram();
  #total = 0;
  #success = 0;
  #failed = 0;
  #tokensIn = 0;
  #tokensOut = 0;
  #costNanoUsd = 0;
  #standbyEvents = 0;
  #quotaResets = 0;
  #rotations = 0;
  /** Number of the latest request counted, in the total and as failed. */
  #latestRequest = -1;
  #latestFailedRequest = -1;
  #members = 0;
  #membersInStandby = 0;
  #downtimeMs = 0;
  /** When the last active member entered standby; undefined while a member is active. */
  #downSince: number | undefined;

  /**
   * Counts a request that has ended. Repeated calls for one request count it once, and as failed if any call reports a
   * failure.
   *
   * @param request Sequence number of the request; calls for one request are consecutive.
   * @param outcome `none` counts neither as success nor as failure.
   */
  addRequest(request: number, outcome: Outcome): void {
    if (this.#latestRequest !== request) {
      this.#latestRequest = request;
      this.#total++;
      if (outcome === "success") this.#success++;
    }
    if (outcome !== "failure" || this.#latestFailedRequest === request) return;
    this.#latestFailedRequest = request;
    this.#failed++;
  }

  /** Adds the usage of a request. Values that are not positive finite numbers count as 0. */
  addUsage({ tokensIn, tokensOut, costNanoUsd }: RequestUsage): void {
    this.#tokensIn += countOrZero(tokensIn);
    this.#tokensOut += countOrZero(tokensOut);
    this.#costNanoUsd += countOrZero(costNanoUsd);
  }

  /** Records the time to a response, ms. */
  addLatency(ms: number | undefined): void {
    if (ms !== undefined) this.#latencies.add(ms);
  }

  /** Counts a rotation: a request moved on from this model, or from a model of this provider or pool. */
  addRotation(): void {
    this.#rotations++;
  }

  /** Counts a standby of this owner, or of some of its models. */
  addStandbyEvent(): void {
    this.#standbyEvents++;
  }

  /** Counts the end of a standby because a quota was reset. */
  addQuotaReset(): void {
    this.#quotaResets++;
  }

  /** Adds a model in a pool. */
  addMember(isStandby: boolean, now: number): void {
    this.#members++;
    if (isStandby) this.#membersInStandby++;
    this.#updateDowntime(now);
  }

  /** Removes all members. */
  clearMembers(now: number): void {
    this.#members = 0;
    this.#membersInStandby = 0;
    this.#updateDowntime(now);
  }

  /** Records that a member has entered standby or become active. */
  memberChanged(isStandby: boolean, now: number): void {
    this.#membersInStandby += isStandby ? 1 : -1;
    this.#updateDowntime(now);
  }

  /** Returns the metrics as the specification names them. */
  metrics(now: number): StatsMetrics {
    return {
      requests_total: this.#total,
      requests_success: this.#success,
      requests_failed: this.#failed,
      tokens_in: this.#tokensIn,
      tokens_out: this.#tokensOut,
      cost_total: this.#costNanoUsd / nanoPerUsd,
      latency_avg: roundToMicroseconds(this.#latencies.mean),
      latency_p95: roundToMicroseconds(this.#latencies.percentile95),
      downtime_total: Math.round(this.#downtimeMs + this.#downFor(now)),
      standby_events: this.#standbyEvents,
      quota_resets: this.#quotaResets,
      rotation_events: this.#rotations,
    };
  }

  /** Begins or ends the downtime: the time without an active member. */
  #updateDowntime(now: number): void {
    const isDown = this.#members > 0 && this.#membersInStandby === this.#members;
    if (isDown === (this.#downSince !== undefined)) return;
    this.#downtimeMs += this.#downFor(now);
    this.#downSince = isDown ? now : undefined;
  }

  #downFor(now: number): number {
    return this.#downSince === undefined ? 0 : Math.max(0, now - this.#downSince);
  }
}

/** Sanitizes a count, since providers report any value and one NaN would invalidate a sum. */
function countOrZero(count: number | undefined): number {
  return typeof count === "number" && count > 0 && count < Infinity ? Math.floor(count) : 0;
}

function roundToMicroseconds(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1000) / 1000;
}
