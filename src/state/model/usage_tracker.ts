/**
 * Tracks the usage of one model in one pool.
 * @module
 */
import { costInNanoUsd } from "../../util/cost.ts";
import { hasUnpricedFee, maxCostInNanoUsd } from "../../util/max_cost.ts";
import { isFree as costsNothing } from "../../util/token_cost.ts";
import type { AdmissionDenial } from "../counters/admission_denial.ts";
import type { Budget, BudgetStep } from "../limits/budget.ts";
import type { ApiKeyPool } from "../limits/api_key_pool.ts";
import { EndDate } from "../breaker/end_date.ts";
import type { DeactivationDecision } from "../breaker/model_breakers.ts";
import { AdmittedCall } from "./admitted_call.ts";
import type { Outcome, RequestEnd } from "../counters/usage.ts";
import type { BudgetScope, Load, SharedCounts, UsageTrackerParts } from "./usage.ts";
import { firstGuess } from "../metrics/output_tokens.ts";
import type { ReservedPart } from "../counters/reservation.ts";
import type { SharedCounters } from "../counters/shared_counters.ts";
import { FailureWindow } from "../../util/failure_window.ts";
import { Quota } from "../limits/quota.ts";

/** Retry delay of a request denied because of requests in flight, whose end is unknown, ms. */
const inFlightRetryMs = 1_000;

/** Retry delay of a request denied while the shared storage is unavailable, ms. */
const unavailableRetryMs = 1_000;

/** Tracks the usage of one model in one pool. */
export class UsageTracker {
  readonly #parts: UsageTrackerParts;
  /** Usage against the pool's limits, if it has any. */
  readonly quota: Quota | undefined;
  /** The provider's API keys, if there are several. */
  readonly keys: ApiKeyPool | undefined;
  /** Counters shared with other processes. */
  readonly sharedCounters: SharedCounters;
  /** Budgets that apply to the model. */
  readonly budgetScopes: readonly BudgetScope[];
  /** Whether the model costs nothing. */
  readonly isFree: boolean;
  /** What is counted of the model in all its pools. */
  readonly shared: SharedCounts;
  readonly #failures: FailureWindow | undefined;
  readonly #budgets: readonly Budget[];
  /** Whether calls are authorized by the callers' own keys, and thus cost nothing of any budget. */
  readonly #isPaidByCallers: boolean;

  /** @param before The same model's quota under earlier settings; both share their counters. */
  constructor(parts: UsageTrackerParts, before?: Quota) {
    this.#parts = parts;
    this.keys = parts.keys;
    this.sharedCounters = parts.sharedCounters;
    this.#isPaidByCallers = parts.facts.provider.credentials === "header";
    this.budgetScopes = this.#isPaidByCallers ? [] : parts.budgetScopes;
    this.shared = parts.shared;
    const { clock, facts: { pool, name, info, routing } } = parts;
    const { errorRate } = routing.deactivation;
    const { onQuotaReset, cooldownMs } = routing.recovery;
    const { budgetLimitNanoUsd: _, ...withoutBudget } = routing.deactivation;
    const limits: typeof routing.deactivation = this.#isPaidByCallers ? withoutBudget : routing.deactivation;
    const { requestLimit, tokenLimit, budgetLimitNanoUsd } = limits;
    if ((requestLimit ?? tokenLimit ?? budgetLimitNanoUsd) !== undefined) {
      this.quota = new Quota(limits, () => clock.now(), {
        name: `${pool} ${name}`,
        before,
        cooldownMs: onQuotaReset === false ? cooldownMs : undefined,
      });
    }
    if (routing.rateLimit?.maxRpm !== undefined) parts.shared.rate.countsAlways = true;
    this.#failures = errorRate && new FailureWindow({ windowMs: errorRate.windowMs });
    this.#budgets = this.budgetScopes.map(({ budget }) => budget);
    this.isFree = info.pricing !== undefined && info.pricing.every(costsNothing);
  }

  /** Estimates the output tokens: the limit of the request, else the 95th percentile of the model's responses. */
  #estimateOutput({ output }: Pick<Load, "output">): number {
    return output ?? this.shared.outputTokens.percentile95() ?? firstGuess;
  }

  /** Returns the expected cost of a request, nano-dollars; undefined when no price is known. */
  estimateCost(load: Load): number | undefined {
    return this.#parts.facts.info.pricing === undefined ? undefined : this.#price(load, costInNanoUsd);
  }

  /** Returns the maximum cost of a request, nano-dollars, by the dearest prices that may apply to it. */
  maxCost(load: Load): number | undefined {
    const { promptCache } = this.#parts.facts.provider;
    const isMarkedForHour = promptCache?.auto === true && promptCache.ttl === "1h"; // by marks that the request lacks yet
    const priced = isMarkedForHour ? { ...load, units: { ...load.units, cacheWrite1h: 1 } } : load;
    return this.#price(priced, maxCostInNanoUsd);
  }

  #price({ input, output, units }: Load, price: typeof costInNanoUsd): number | undefined {
    const { facts: { info }, clock } = this.#parts;
    if (this.isFree) return 0;
    const { pricing = info.assumedPricing } = info;
    if (pricing === undefined) return undefined;
    const quantities = { ...units, input, output: this.#estimateOutput({ output }) };
    return hasUnpricedFee(quantities, pricing) ? undefined : price(quantities, pricing, clock.now());
  }

  /** Returns why a request cannot be admitted now. */
  denial(load: Load, now: number): AdmissionDenial | undefined {
    const { rate } = this.shared;
    const { rateLimit } = this.#parts.facts.routing;
    const until = rate.fullUntil(now, this.#countTokens(load));
    if (until !== undefined) {
      return { reason: "rate_limited", until: until === Infinity ? now + inFlightRetryMs : until };
    }
    const limited = load.scopes?.denial(this.#countTokens(load), now);
    if (limited !== undefined) return limited;
    const budget = this.#budgetDenial(load, now);
    if (budget !== undefined) return budget;
    const reserved = this.quota?.reserved;
    if (reserved !== undefined) return { reason: reserved, until: now + inFlightRetryMs };
    const { minDeltaMs, maxRpm } = rateLimit ?? {};
    const spaced = minDeltaMs === undefined ? 0 : (rate.lastStartedAt ?? -Infinity) + minDeltaMs;
    if (spaced > now) return { reason: "min_delta", until: spaced };
    return maxRpm !== undefined && rate.rpm(now) >= maxRpm ? { reason: "max_rpm", until: now } : undefined;
  }

  /**
   * Returns when limits of rate and concurrency may admit a request, as far as is known.
   *
   * @returns Monotonic ms; Infinity when another request has to end first.
   */
  freesAt(load: Load, now: number): number {
    const { rate } = this.shared;
    const { minDeltaMs = 0 } = this.#parts.facts.routing.rateLimit ?? {};
    return Math.max(rate.freesAt(now, this.#countTokens(load)), (rate.lastStartedAt ?? -Infinity) + minDeltaMs);
  }

  /** Reserves for a call about to be sent, even beyond a limit. */
  reserve(load: Load, now: number): AdmittedCall {
    const { quota } = this;
    const isLimited = quota !== undefined || this.listBudgets(load).length > 0;
    const costNanoUsd = isLimited ? this.maxCost(load) : undefined;
    const cost = costNanoUsd ?? 0;
    const tokens = this.#countTokens(load);
    const budgets = load.scopes === undefined
      ? this.reserveCost(cost, load)
      : [...this.reserveCost(cost, load), ...load.scopes.reserveTokens(tokens, now)];
    return new AdmittedCall(this.#parts, {
      findCost: isLimited ? () => costNanoUsd : () => this.maxCost(load),
      rate: this.shared.rate.reserve(now, tokens, load.preferredKey),
      others: quota === undefined
        ? budgets
        : [quota.reserve(load.input + this.#estimateOutput(load), cost), ...budgets],
      quota,
    });
  }

  /**
   * Reserves a cost in every budget that applies, even beyond a limit.
   *
   * @param nanoUsd Upper bound of the cost, nano-dollars.
   * @param limited The limits of the client, team, tags and end user.
   */
  reserveCost(nanoUsd: number, limited: Pick<Load, "scopes">): readonly ReservedPart[] {
    const budgets = this.listBudgets(limited);
    if (budgets.length === 0) return [];
    const { clock, facts: { provider }, onBudgetSteps } = this.#parts;
    const wallTimeMs = clock.now();
    const onSteps = (steps: readonly BudgetStep[]) => onBudgetSteps(steps, provider.id);
    return budgets.map((budget) => budget.reserve(nanoUsd, wallTimeMs, onSteps));
  }

  /** Returns the standby that an exhausted limit still requires when a standby is due. */
  limitInForce(): DeactivationDecision | undefined {
    const decision = this.quota?.decision();
    // without a window, counters are reset after a standby
    return decision?.standbyMs === undefined ? this.#budgetDecision() : decision;
  }

  /** Returns the end of a standby with a duration: a date, unless the pool ignores the ends of windows. */
  findEnd({ reason, standbyMs = Infinity }: DeactivationDecision): number | EndDate {
    const { clock, facts: { routing: { recovery } } } = this.#parts;
    const isWindow = reason !== "quota_window" || recovery.onQuotaReset !== false;
    return isWindow && standbyMs < Infinity ? new EndDate(clock.now() + standbyMs, clock) : standbyMs;
  }

  /** Returns the standby that an exhausted limit or budget requires. */
  limitReached(): DeactivationDecision | undefined {
    return this.#budgetDecision() ?? this.quota?.decision();
  }

  /** Resets the counters between standbys: the model has recovered. */
  recovered(): void {
    this.quota?.recovered();
    this.#failures?.clear();
  }

  /** Records the end of a request. */
  requestFinished(outcome: Outcome, end: RequestEnd, now: number): DeactivationDecision | undefined {
    const { ms, output, isReported = true } = end;
    const { latency, outputTokens } = this.shared;
    if (outcome === "success" && ms !== undefined) latency.observe(now, ms);
    if (outcome === "failure") latency.addFailure(now);
    if (outcome === "success" && output !== undefined && isReported) outputTokens.add(output);
    return this.#providerDecision(end, now) ?? this.limitReached() ?? this.#errorRateDecision(outcome, now);
  }

  /** Returns the decision to put the whole provider in standby, if the pool is configured so. */
  #providerDecision({ kind }: RequestEnd, now: number): DeactivationDecision | undefined {
    const { facts: { routing: { providerDeactivation, providerRecovery } }, outages, keys } = this.#parts;
    const standby: Pick<DeactivationDecision, "doubles" | "standbyMs"> = providerRecovery === undefined
      ? { doubles: true }
      : { standbyMs: Infinity }; // ended by a probe or an operator
    if (kind === "auth" && (keys?.isRejected(now) ?? true) && providerDeactivation?.has("on_auth_failure")) {
      return { reason: "provider_auth_failure", scope: "provider", ...standby };
    }
    if (!outages.isOutage || !providerDeactivation?.has("on_api_outage")) return undefined;
    return { reason: "provider_outage", scope: "provider", ...standby };
  }

  #countTokens({ input, output }: Load): number {
    return input + (output ?? this.shared.outputTokens.percentile95() ?? 0);
  }

  #budgetDenial(load: Load, now: number): AdmissionDenial | undefined {
    const { clock } = this.#parts;
    const budgets = this.listBudgets(load);
    if (budgets.length === 0 || this.isFree) return undefined;
    if (this.sharedCounters.replication?.isFailClosed) {
      return { reason: "storage_unavailable", until: now + unavailableRetryMs };
    }
    const cost = this.maxCost(load);
    if (cost === undefined) return { reason: "no_price", until: Infinity };
    const wallTimeMs = clock.now();
    let until = 0;
    for (const budget of budgets) until = Math.max(until, budget.resetsAt(wallTimeMs, cost) ?? 0);
    return until === 0 ? undefined : { reason: "budget", until: now + Math.max(0, until - wallTimeMs) };
  }

  /** Returns the budgets that apply: those of the mesh; of the client, its team, tags and end user. */
  listBudgets({ scopes }: Pick<Load, "scopes">): readonly Budget[] {
    return scopes === undefined || this.#isPaidByCallers ? this.#budgets : [...this.#budgets, ...scopes.budgets];
  }

  /** Returns the standby of a model whose budget is exhausted. A free model keeps serving. */
  #budgetDecision(): DeactivationDecision | undefined {
    const { budgetScopes } = this;
    const { clock } = this.#parts;
    if (budgetScopes.length === 0) return undefined;
    const wallTimeMs = clock.now();
    for (const { budget, reason } of budgetScopes) {
      if (!budget.isSpent(wallTimeMs) || (this.isFree && reason === "budget_limit")) continue;
      const standbyMs = Math.max(0, (budget.resetsAt(wallTimeMs) ?? wallTimeMs) - wallTimeMs);
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
