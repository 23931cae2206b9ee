/**
 * The one aggregator of numbers: what `stats()`, statistics sinks, `/metrics` and the dashboard print.
 * @module
 */
import type { FallbackStep, RoutingRecord, StatsRecord } from "../contracts/events.ts";
import type { StandbyReason } from "../contracts/rotation.ts";
import type { Clock } from "../contracts/runtime.ts";
import type { Outcome } from "../state/model_state.ts";
import type { BreakerOwner, Transition } from "../state/rest.ts";
import { type MemberNames, Membership } from "./_membership.ts";

export type { MemberNames } from "./_membership.ts";

/** Where a request has been: a {@linkcode RoutingRecord}, as far as it is counted. */
export type RequestPath = Pick<RoutingRecord, "pool" | "model" | "provider" | "fallback_chain">;

/** What came of a request. Numbers that nobody knows are left out. */
export interface RequestResult {
  /** Whether it was answered in full; `none`: the client gave it up. A deadline is a failure. */
  readonly vote: Outcome;
  /** From its arrival to the answer, or to a stream's first content, ms. */
  readonly latencyMs?: number | undefined;
  /** Tokens read. */
  readonly tokensIn?: number | undefined;
  /** Tokens written. */
  readonly tokensOut?: number | undefined;
  /** What it cost, nano-dollars. */
  readonly costNano?: number | undefined;
}

/** Rests for these end because a quota, a limit or a budget counts from zero again. */
const quotaReasons: ReadonlySet<StandbyReason> = new Set([
  "quota_exhausted",
  "quota_window",
  "request_limit",
  "token_limit",
  "budget_limit",
  "provider_budget",
]);

/**
 * Counts what happens to models, providers and pools, from its making on. Its room is bounded by what is configured.
 *
 * @example Count a request that its second model answered
 * ```ts ignore
 * statistics.rotation("chat", { model: "a", provider: "one" });
 * statistics.request(routing, { vote: "success", latencyMs: 420, tokensIn: 12, tokensOut: 80, costNano: 5_200 });
 * statistics.records().find(({ scope, id }) => scope === "pool" && id === "chat")?.requests_total; // 1
 * ```
 */
export class Statistics {
  readonly #clock: Clock;
  readonly #since: number;
  readonly #membership = new Membership();
  /** Requests counted. */
  #requests = 0;

  /** @param clock Wall clock for the records' window, monotonic for downtime. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  /**
   * What exists from now on, in place of what did before: after the start and after a change of configuration. Numbers
   * go on by name.
   *
   * @param members Every model in every pool, in the order of the records.
   * @param resting Whose rests are under way: their downtime counts from now on, and no event.
   */
  configure(members: Iterable<MemberNames>, resting: Iterable<BreakerOwner> = []): void {
    const now = this.#clock.monotonic();
    this.#membership.clear(now);
    for (const names of members) this.#membership.add(names, now);
    for (const owner of resting) this.#membership.rest(owner, now);
  }

  /**
   * A model in a pool that was made on demand; said again it changes nothing.
   *
   * @param names Their names.
   */
  add(names: MemberNames): void {
    this.#membership.add(names, this.#clock.monotonic());
  }

  /**
   * A model, or a provider, moved to standby or came back.
   *
   * @param transition The change. One that only gives a rest another reason counts for nothing.
   */
  transition({ owner, to, reason }: Transition): void {
    const now = this.#clock.monotonic();
    const { pool, model, provider } = owner;
    if (pool !== undefined && model !== undefined) this.#membership.add({ pool, model, provider }, now);
    if (to === "standby") {
      if (!this.#membership.rest(owner, now)) return;
      for (const tally of this.#membership.concerned(owner)) tally.standby();
      return;
    }
    this.#membership.wake(owner, now);
    if (!quotaReasons.has(reason)) return;
    for (const tally of this.#membership.concerned(owner)) tally.quotaReset();
  }

  /**
   * A request left a model for another one.
   *
   * @param pool The pool's name.
   * @param left The model it left.
   */
  rotation(pool: string, left: Pick<FallbackStep, "model" | "provider">): void {
    this.#membership.tally("pool", pool).rotation();
    this.#membership.tally("model", left.model).rotation();
    this.#membership.tally("provider", left.provider).rotation();
  }

  /**
   * A request is over; to be told once. Its model and provider are who answered it, or who was tried last: what came of
   * the request is what came of it there, while others it had been to failed, or had nothing to say.
   *
   * @param path Where it has been.
   * @param result What came of it.
   */
  request({ pool, model, provider, fallback_chain }: RequestPath, result: RequestResult): void {
    const request = this.#requests++;
    const { vote, tokensIn, tokensOut, costNano } = result;
    const ofPool = this.#membership.tally("pool", pool);
    ofPool.request(request, vote);
    if (vote === "success") ofPool.latency(result.latencyMs);
    ofPool.took(tokensIn, tokensOut, costNano);
    for (const step of fallback_chain) {
      const stepVote = step.outcome === "empty" ? "none" : "failure";
      if (step.model !== model) this.#membership.tally("model", step.model).request(request, stepVote);
      if (step.provider !== provider) this.#membership.tally("provider", step.provider).request(request, stepVote);
    }
    if (model === null || provider === null) return;
    const ms = vote === "success" ? fallback_chain.find((step) => step.model === model)?.ms : undefined;
    for (const tally of [this.#membership.tally("model", model), this.#membership.tally("provider", provider)]) {
      tally.request(request, vote);
      tally.latency(ms);
      tally.took(tokensIn, tokensOut, costNano);
    }
  }

  /** The numbers of every model, provider and pool, in this order; within each as configured, then as they came. */
  records(): readonly StatsRecord[] {
    const monotonic = this.#clock.monotonic();
    const from = new Date(this.#since).toISOString();
    const to = new Date(Math.max(this.#since, this.#clock.now())).toISOString(); // a wall clock may be set back
    return [...this.#membership.all()].map(([scope, id, tally]) => ({
      type: "stats",
      timestamp: to,
      scope,
      id,
      window: { from, to },
      ...tally.metrics(monotonic),
    }));
  }
}
