/**
 * The aggregator behind `stats()`, statistics sinks, `/metrics` and the dashboard.
 * @module
 */
import type { FallbackStep, RoutingRecord, StatsRecord } from "../contracts/events.ts";
import type { StandbyReason } from "../contracts/rotation.ts";
import type { Clock } from "../contracts/runtime.ts";
import type { BreakerOwner, Transition } from "../state/breaker/circuit_breaker.ts";
import { newId } from "../util/request_id.ts";
import { Membership } from "./_stats_counters.ts";
import type { Hub } from "./hub.ts";
import type { MemberNames, MeshMembers, RequestResult } from "./hub_events.ts";
import type { RequestMetrics } from "./request_metrics.ts";

/** The models a request was routed to: the members of a {@linkcode RoutingRecord} that are counted. */
export type RequestPath = Pick<RoutingRecord, "pool" | "model" | "provider" | "fallback_chain">;

/** Reasons of standbys that end when a quota, limit or budget is reset. */
const quotaReasons: ReadonlySet<StandbyReason> = new Set([
  "quota_exhausted",
  "quota_window",
  "request_limit",
  "token_limit",
  "budget_limit",
  "provider_budget",
]);

/**
 * Feeds statistics from the events of a hub.
 *
 * @param statistics The statistics. Meshes that succeed each other can share them.
 */
export function countEvents(hub: Hub, statistics: Statistics): void {
  let isInStandby: MeshMembers["isInStandby"] = () => false;
  hub.on("members_changed", (mesh) => {
    ({ isInStandby } = mesh);
    statistics.setMembers(mesh.members(), mesh.ownersInStandby());
  });
  hub.on("members_added", (members) => statistics.addMembers(members, isInStandby));
  hub.on("event", ({ event, pool, model, provider, reason, metadata }) => {
    if (event === "guard") {
      const { guard = "", stage = "" } = metadata as { readonly guard?: string; readonly stage?: string };
      statistics.metrics?.addGuardAction({ guard, stage, action: reason });
    }
    if (event === "rotation" && pool !== undefined) statistics.metrics?.addRotation(pool, reason);
    if (event !== "deactivation" && event !== "recovery") return;
    const owner = { pool, model, provider };
    const to = event === "deactivation" ? "standby" : "active";
    // another standby of the same owner may still be active
    if (to === "active" && isInStandby(owner)) return;
    statistics.addTransition({ owner, to, reason: reason as StandbyReason });
  });
  hub.on("request_started", () => statistics.inFlight++);
  hub.on("cache_lookup", (lookup) => statistics.metrics?.addLookup(lookup));
  hub.on("request_refused", (request) => statistics.metrics?.addRefused(request));
  hub.on("request_finished", (request) => {
    statistics.inFlight--;
    statistics.metrics?.addRequest(request);
    const { record } = request;
    if (record.cached) return statistics.addCached(record.pool, request);
    const { pool, fallback_chain: chain } = record;
    for (let step = 0; step < chain.length - 1; step++) {
      if (chain[step]!.outcome !== "hedge_lost") statistics.addRotation(pool, chain[step]!);
    }
    statistics.addRequest(record, request);
  });
}

/**
 * Statistics of models, providers and pools since its creation. Memory is bounded by the configuration.
 *
 * @example Count a request that its second model served
 * ```ts
 * import { fakeClock } from "../runtime/test.ts";
 *
 * const statistics = new Statistics(fakeClock());
 * const left = { model: "a", provider: "one", outcome: "server_error", ms: 80 } as const;
 * const path = { pool: "chat", model: "b", provider: "two", fallback_chain: [left] };
 * statistics.addRotation("chat", left);
 * statistics.addRequest(path, { outcome: "success", latencyMs: 420, tokensIn: 12, tokensOut: 80, costNanoUsd: 5_200 });
 * statistics.records().find(({ scope, id }) => scope === "pool" && id === "chat")?.requests_total; // 1
 * ```
 */
export class Statistics {
  readonly #clock: Clock;
  readonly #since: number;
  /** Identifies these statistics among all processes. */
  readonly instanceId: string = newId();
  readonly #membership = new Membership();
  #requests = 0;
  /** Requests in flight. */
  inFlight = 0;
  /** Labelled request metrics, from when an exporter sets them. */
  metrics?: RequestMetrics;

  /** @param clock Wall clock for the window of records, monotonic clock for downtime. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  /** Creation time, wall-clock ms since 1970. */
  get since(): number {
    return this.#since;
  }

  /** Adds members. Their downtime is known, too. */
  addMembers(members: Iterable<MemberNames>, isInStandby: (owner: BreakerOwner) => boolean): void {
    const now = this.#clock.monotonic();
    for (const names of members) {
      this.#membership.add(names, now);
      if (isInStandby(names)) this.#membership.enterStandby(names, now);
    }
  }

  /**
   * Replaces all members, after the start and after a change of configuration. Counters continue by name.
   *
   * @param members Every model in every pool, in the order of the records.
   * @param inStandby Owners in standby. Their downtime counts from now on, without an event.
   */
  setMembers(members: Iterable<MemberNames>, inStandby: Iterable<BreakerOwner> = []): void {
    const now = this.#clock.monotonic();
    this.#membership.clear(now);
    for (const names of members) this.#membership.add(names, now);
    for (const owner of inStandby) this.#membership.enterStandby(owner, now);
  }

  /**
   * Records that a model or a provider has entered standby or become active.
   *
   * @param transition The transition. A mere change of the reason is ignored.
   */
  addTransition({ owner, to, reason }: Transition): void {
    const now = this.#clock.monotonic();
    const { pool, model, provider } = owner;
    if (pool !== undefined && model !== undefined) this.#membership.add({ pool, model, provider }, now);
    if (to === "standby") {
      if (!this.#membership.enterStandby(owner, now)) return;
      for (const counters of this.#membership.affectedBy(owner)) counters.addStandbyEvent();
      return;
    }
    this.#membership.leaveStandby(owner, now);
    if (!quotaReasons.has(reason)) return;
    for (const counters of this.#membership.affectedBy(owner)) counters.addQuotaReset();
  }

  /**
   * Counts a rotation.
   *
   * @param pool Name of the pool.
   * @param left The model that the request moved on from.
   */
  addRotation(pool: string, left: Pick<FallbackStep, "model" | "provider">): void {
    this.#membership.getCounters("pool", pool).addRotation();
    this.#membership.getCounters("model", left.model).addRotation();
    this.#membership.getCounters("provider", left.provider).addRotation();
  }

  /**
   * Counts a request that has ended. Its outcome counts for the model and provider that served it or were tried last;
   * others have failed, returned an empty response, or were slower than the one that served it.
   *
   * @param path The models it was routed to.
   * @param result Outcome and usage.
   */
  addRequest({ pool, model, provider, fallback_chain }: RequestPath, result: RequestResult): void {
    const request = this.#requests++;
    this.#membership.getCounters("pool", pool).addRequest(request, result);
    let latencyMs: number | undefined;
    for (const step of fallback_chain) {
      const isSlower = step.outcome === "hedge_lost";
      const left = { outcome: isSlower || step.outcome === "empty" ? "none" : "failure" } as const;
      if (step.model === model) latencyMs = isSlower ? latencyMs : latencyMs ?? step.ms;
      else this.#membership.getCounters("model", step.model).addRequest(request, left);
      if (step.provider !== provider) this.#membership.getCounters("provider", step.provider).addRequest(request, left);
    }
    if (model === null || provider === null) return;
    const { outcome, tokensIn, tokensOut, costNanoUsd } = result;
    const served = { outcome, latencyMs, tokensIn, tokensOut, costNanoUsd };
    this.#membership.getCounters("model", model).addRequest(request, served);
    this.#membership.getCounters("provider", provider).addRequest(request, served);
  }

  /** Counts a request that was served from the cache, for its pool: no model has taken part. */
  addCached(pool: string, { outcome }: Pick<RequestResult, "outcome">): void {
    this.#membership.getCounters("pool", pool).addRequest(this.#requests++, { outcome });
  }

  /**
   * Returns the statistics of models, providers and pools, in this order; within each, as configured, then in order of
   * first use.
   */
  records(): readonly StatsRecord[] {
    const monotonic = this.#clock.monotonic();
    const from = new Date(this.#since).toISOString();
    const to = new Date(Math.max(this.#since, this.#clock.now())).toISOString(); // the wall clock may go backwards
    return [...this.#membership.all()].map(([scope, id, counters]) => ({
      type: "stats",
      timestamp: to,
      scope,
      id,
      window: { from, to },
      ...counters.metrics(monotonic),
    }));
  }
}
