/**
 * The counting for one model in one pool.
 * @module
 */
import type { Headroom } from "../contracts/rotation.ts";
import { costNanoUsd, isFree } from "../util/cost.ts";
import type { AdmissionDenial } from "./limits/admission_denial.ts";
import type { Budget } from "./limits/budget.ts";
import type { ApiKeyPool } from "./limits/api_key_pool.ts";
import type { DeactivationDecision } from "./breaker/model_breakers.ts";
import { CallReservation } from "./call_reservation.ts";
import type { BudgetScope, Load, Outcome, RequestEnd, UsageTrackerParts } from "./usage.ts";
import { firstGuess, type OutputTokens } from "./metrics/output_tokens.ts";
import type { CounterReplicator } from "./replication/counter_replicator.ts";
import { FailureWindow } from "./limits/failure_window.ts";
import { Quota } from "./limits/quota.ts";

/** When a request under way will end is unknown; a client that comes back then comes neither late nor often, ms. */
const inFlightRetryMs = 1_000;

/** Retry time of a request that is refused while the shared store is unavailable, ms. */
const unavailableRetryMs = 1_000;

/** Counts for one model in one pool. */
export class UsageTracker {
  readonly #parts: UsageTrackerParts;
  /** What it has served, against the pool's limits. */
  readonly quota: Quota;
  readonly #failures: FailureWindow | undefined;
  readonly #isFree: boolean;
  readonly #budgets: readonly Budget[];

  /** @param before The same model's quota under other settings, which counts on. */
  constructor(parts: UsageTrackerParts, before?: Quota) {
    this.#parts = parts;
    const { clock, facts: { pool, name, info, routing } } = parts;
    const { errorRate } = routing.deactivation;
    this.quota = new Quota(routing.deactivation, () => clock.now(), { name: `${pool} ${name}`, before });
    if (routing.rateLimit?.maxRpm !== undefined) parts.shared.rate.isWatched = true;
    this.#failures = errorRate && new FailureWindow({ windowMs: errorRate.windowMs });
    this.#budgets = parts.budgetScopes.map(({ budget }) => budget);
    this.#isFree = info.pricing !== undefined && info.pricing.every(isFree);
  }

  /** Its provider's API keys, where there are several. */
  get keys(): ApiKeyPool | undefined {
    return this.#parts.keys;
  }

  /** Counters shared with other processes. */
  get replicator(): CounterReplicator {
    return this.#parts.replicator;
  }

  /** Money that its requests have to fit in. */
  get budgetScopes(): readonly BudgetScope[] {
    return this.#parts.budgetScopes;
  }

  /** Tokens written per response. */
  get outputTokens(): OutputTokens {
    return this.#parts.shared.outputTokens;
  }

  /** Decaying mean of the time to a response, ms. */
  latencyMs(now: number): number | undefined {
    return this.#parts.shared.latency.value(now);
  }

  /** Requests the vendor still allows. */
  requests(now: number): Headroom | undefined {
    return this.#parts.shared.rate.requests(now);
  }

  /** Tokens the vendor still allows. */
  tokens(now: number): Headroom | undefined {
    return this.#parts.shared.rate.tokens(now);
  }

  /** Tokens written, at most: as the request says, else as nearly all of the model's answers took. */
  #outputOf({ output }: Pick<Load, "output">): number {
    return output ?? this.#parts.shared.outputTokens.percentile95() ?? firstGuess;
  }

  /** What a request would cost by estimate, nano-dollars; undefined where no price is known. */
  costOf({ input, output, units }: Load): number | undefined {
    const { facts: { info }, clock } = this.#parts;
    const quantities = { ...units, input, output: this.#outputOf({ output }) };
    return this.#isFree ? 0 : costNanoUsd(quantities, info.pricing, clock.now());
  }

  /** Why a request cannot be admitted now. */
  denial(load: Load, now: number): AdmissionDenial | undefined {
    const { shared: { rate }, facts: { routing: { rateLimit } } } = this.#parts;
    const until = rate.fullUntil(now, this.#tokensOf(load));
    if (until !== undefined) {
      return { reason: "rate_limited", until: until === Infinity ? now + inFlightRetryMs : until };
    }
    const budget = this.#budgetDenial(load, now);
    if (budget !== undefined) return budget;
    const reserved = this.quota.reserved;
    if (reserved !== undefined) return { reason: reserved, until: now + inFlightRetryMs };
    const { minDeltaMs, maxRpm } = rateLimit ?? {};
    const spaced = minDeltaMs === undefined ? 0 : (rate.lastStartedAt ?? -Infinity) + minDeltaMs;
    if (spaced > now) return { reason: "min_delta", until: spaced };
    return maxRpm !== undefined && rate.rpm(now) >= maxRpm ? { reason: "max_rpm", until: now } : undefined;
  }

  /** A request is admitted. */
  requestAdmitted(): void {
    this.quota.reserveRequest();
  }

  /** An admitted request is sent. */
  requestSent(): DeactivationDecision | undefined {
    this.quota.addRequest();
    return this.quota.decision();
  }

  /** An admitted request is not sent. */
  requestWithdrawn(): void {
    this.quota.withdrawRequest();
  }

  /** Reserves for a call that is about to be sent, also beyond a limit. */
  reserve(load: Load, now: number): CallReservation {
    const { shared: { rate }, clock } = this.#parts;
    const cost = this.costOf(load) ?? 0;
    const wall = clock.now();
    return new CallReservation(this.#parts, {
      rate: rate.reserve(now, this.#tokensOf(load)),
      quota: this.quota,
      usage: this.quota.reserve(load.input + this.#outputOf(load), cost),
      budgets: this.#budgetsOf(load).map((budget) => ({ budget, reservation: budget.reserve(cost, wall) })),
    });
  }

  /** The standby that a limit asks for although its time is over. */
  limitInForce(): DeactivationDecision | undefined {
    const decision = this.quota.decision();
    // without a window the counts begin anew after a standby
    return decision?.standbyMs === undefined ? this.#budgetDecision() : decision;
  }

  /** The standby that a limit or a budget asks for by now. */
  limitReached(): DeactivationDecision | undefined {
    return this.#budgetDecision() ?? this.quota.decision();
  }

  /** The model is back: what counts between two standbys begins anew. */
  recovered(): void {
    this.quota.recovered();
    this.#failures?.clear();
  }

  /** A request is over. */
  requestFinished(outcome: Outcome, end: RequestEnd, now: number): DeactivationDecision | undefined {
    const { ms, output, estimated = false } = end;
    const { latency, outputTokens } = this.#parts.shared;
    if (outcome === "success" && ms !== undefined) latency.observe(now, ms);
    if (outcome === "failure") latency.punish(now);
    if (outcome === "success" && output !== undefined && !estimated) outputTokens.add(output);
    return this.#providerDecision(end, now) ?? this.limitReached() ?? this.#errorRateDecision(outcome, now);
  }

  /** Puts the whole provider into standby, where the pool asks for that. */
  #providerDecision({ kind }: RequestEnd, now: number): DeactivationDecision | undefined {
    const { facts: { routing: { providerDeactivation, providerRecovery } }, outages, keys } = this.#parts;
    const standby: Pick<DeactivationDecision, "doubles" | "standbyMs"> = providerRecovery === undefined
      ? { doubles: true }
      : { standbyMs: Infinity }; // ended by a probe or by hand
    if (kind === "auth" && (keys?.isRejected(now) ?? true) && providerDeactivation?.has("on_auth_failure")) {
      return { reason: "provider_auth_failure", scope: "provider", ...standby };
    }
    if (!outages.isOutage || !providerDeactivation?.has("on_api_outage")) return undefined;
    return { reason: "provider_outage", scope: "provider", ...standby };
  }

  #tokensOf({ input, output }: Load): number {
    return input + (output ?? this.#parts.shared.outputTokens.percentile95() ?? 0);
  }

  #budgetDenial(load: Load, now: number): AdmissionDenial | undefined {
    const { clock } = this.#parts;
    const budgets = this.#budgetsOf(load);
    if (budgets.length === 0 || this.#isFree) return undefined;
    if (this.#parts.replicator.replication?.isFailClosed) {
      return { reason: "storage_unavailable", until: now + unavailableRetryMs };
    }
    const cost = this.costOf(load);
    if (cost === undefined) return { reason: "no_price", until: Infinity };
    const wall = clock.now();
    let until = 0;
    for (const budget of budgets) until = Math.max(until, budget.resetsAt(wall, cost) ?? 0);
    return until === 0 ? undefined : { reason: "budget", until: now + Math.max(0, until - wall) };
  }

  /** The mesh's own, and the client's. */
  #budgetsOf({ budget }: Load): readonly Budget[] {
    return budget === undefined ? this.#budgets : [...this.#budgets, budget];
  }

  /** The standby of a model whose budget is spent; one that is free serves all the same. */
  #budgetDecision(): DeactivationDecision | undefined {
    const { budgetScopes, clock } = this.#parts;
    if (budgetScopes.length === 0) return undefined;
    const wall = clock.now();
    for (const { budget, reason } of budgetScopes) {
      if (!budget.isSpent(wall) || (this.#isFree && reason === "budget_limit")) continue;
      const standbyMs = Math.max(0, (budget.resetsAt(wall) ?? wall) - wall);
      return { reason, scope: reason === "provider_budget" ? "provider" : "model", standbyMs };
    }
    return undefined;
  }

  #errorRateDecision(outcome: Outcome, now: number): DeactivationDecision | undefined {
    const { errorRate } = this.#parts.facts.routing.deactivation;
    if (this.#failures === undefined || errorRate === undefined || outcome === "none") return undefined;
    this.#failures.add(now, outcome === "failure");
    const requests = this.#failures.requests(now);
    const share = this.#failures.share(now);
    if (requests < errorRate.minRequests || share < errorRate.threshold) return undefined;
    return { reason: "error_rate", scope: "model", doubles: true, metadata: { error_rate: share, requests } };
  }
}
