/**
 * Statistics of one model, provider or pool.
 * @module
 */
import type { StatsMetrics, StatsScope } from "../contracts/events.ts";
import { nanoPerUsd } from "../util/pricing.ts";
import { LatencyHistogram } from "./_histograms.ts";
import type { MemberNames, RequestResult } from "./hub_events.ts";
import type { BreakerOwner } from "../state/breaker/circuit_breaker.ts";
import { MemberIndex } from "../state/model/member_index.ts";

/** Counters of one model, provider or pool. Times are monotonic ms. */
class StatsCounters {
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
   * @param result The outcome, of which `none` counts neither as success nor as failure; the time to a response, which
   * counts in case of success; and the usage, whose values count as 0 unless they are positive finite numbers.
   */
  addRequest(request: number, { outcome, latencyMs, tokensIn, tokensOut, costNanoUsd }: RequestResult): void {
    this.#tokensIn += countOrZero(tokensIn);
    this.#tokensOut += countOrZero(tokensOut);
    this.#costNanoUsd += countOrZero(costNanoUsd);
    if (outcome === "success" && latencyMs !== undefined) this.#latencies.add(latencyMs);
    if (this.#latestRequest !== request) {
      this.#latestRequest = request;
      this.#total++;
      if (outcome === "success") this.#success++;
    }
    if (outcome !== "failure" || this.#latestFailedRequest === request) return;
    this.#latestFailedRequest = request;
    this.#failed++;
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
export function countOrZero(count: number | undefined): number {
  return typeof count === "number" && count > 0 && count < Infinity ? Math.floor(count) : 0;
}

function roundToMicroseconds(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1000) / 1000;
}

interface Member {
  readonly names: MemberNames;
  /** Counters of its pool, its model and its provider. */
  readonly counters: readonly StatsCounters[];
  /** Number of its owners that are in standby: the member itself, its model, its provider. */
  standbyOwners: number;
}

/** Counters of a mesh, and the members that each covers. Bounded by the configuration. Times are monotonic ms. */
export class Membership {
  readonly #counters: Readonly<Record<StatsScope, Map<string, StatsCounters>>> = {
    model: new Map(),
    provider: new Map(),
    pool: new Map(),
  };
  readonly #members = new Map<string, Member>();
  readonly #index = new MemberIndex<Member>(({ names }) => names);
  readonly #ownersInStandby = new Set<string>();

  /** Returns the counters of a model, provider or pool, created on first use. */
  getCounters(scope: StatsScope, id: string): StatsCounters {
    const existing = this.#counters[scope].get(id);
    if (existing !== undefined) return existing;
    const created = new StatsCounters();
    this.#counters[scope].set(id, created);
    return created;
  }

  /** Iterates over all counters, by scope and in order of creation. */
  *all(): Generator<readonly [scope: StatsScope, id: string, counters: StatsCounters]> {
    for (const scope of ["model", "provider", "pool"] as const) {
      for (const [id, counters] of this.#counters[scope]) yield [scope, id, counters];
    }
  }

  /** Removes all members and ends all standbys. Counters are kept. */
  clear(now: number): void {
    this.#members.clear();
    this.#index.clear();
    this.#ownersInStandby.clear();
    for (const [, , counters] of this.all()) counters.clearMembers(now);
  }

  /** Adds a model to a pool, once. */
  add(names: MemberNames, now: number): void {
    const { pool, model, provider } = names;
    const key = toMemberKey(names);
    if (this.#members.has(key)) return;
    const counters = [
      this.getCounters("pool", pool),
      this.getCounters("model", model),
      this.getCounters("provider", provider),
    ];
    const owners = [names, { model, provider }, { provider }];
    const standbyOwners = owners.filter((owner) => this.#ownersInStandby.has(toMemberKey(owner))).length;
    const member = { names, counters, standbyOwners };
    this.#members.set(key, member);
    this.#index.add(member);
    for (const each of counters) each.addMember(standbyOwners > 0, now);
  }

  /** Puts an owner in standby. Returns false if it already was. */
  enterStandby(owner: BreakerOwner, now: number): boolean {
    const key = toMemberKey(owner);
    if (this.#ownersInStandby.has(key)) return false;
    this.#ownersInStandby.add(key);
    for (const member of this.#index.find(owner)) {
      if (member.standbyOwners++ === 0) { for (const each of member.counters) each.memberChanged(true, now); }
    }
    return true;
  }

  /** Ends the standby of an owner. Has no effect if it is not in standby. */
  leaveStandby(owner: BreakerOwner, now: number): void {
    if (!this.#ownersInStandby.delete(toMemberKey(owner))) return;
    for (const member of this.#index.find(owner)) {
      if (--member.standbyOwners === 0) { for (const each of member.counters) each.memberChanged(false, now); }
    }
  }

  /** Returns the counters that an owner's standby affects: its own, and those of every member it covers. */
  affectedBy(owner: BreakerOwner): ReadonlySet<StatsCounters> {
    const { pool, model, provider } = owner;
    const affected = new Set([this.getCounters("provider", provider)]);
    if (model !== undefined) affected.add(this.getCounters("model", model));
    if (pool !== undefined) affected.add(this.getCounters("pool", pool));
    for (const member of this.#index.find(owner)) for (const each of member.counters) affected.add(each);
    return affected;
  }
}

/** Returns a map key. JSON, since names may contain any character. */
function toMemberKey({ pool, model, provider }: BreakerOwner): string {
  return JSON.stringify([pool, model, provider]);
}
