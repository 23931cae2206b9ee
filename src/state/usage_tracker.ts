/**
 * The counting for one model in one pool.
 * @module
 */
import type { DatedPricing, RateLimits } from "../contracts/provider.ts";
import type { Headroom } from "../contracts/rotation.ts";
import type { Clock } from "../contracts/runtime.ts";
import { costNanoUsd } from "../util/cost.ts";
import { readRateHeaders } from "../util/rate_headers.ts";
import { FailureWindow } from "../util/sliding_window.ts";
import { untilQuotaReset } from "../util/windows.ts";
import type { Latency } from "./metrics/latency.ts";
import type { AdmissionDenial } from "./limits/admission_denial.ts";
import type { Budget, Reservation } from "./limits/budget.ts";
import type { ApiKeyPool, KeyRejection, RejectedCall } from "./limits/api_key_pool.ts";
import type { CallReservation, DeactivationDecision, Load, Meter, RequestEnd, TrackedModel, Usage } from "./usage.ts";
import type { OutageDetector } from "./breaker/outage_detector.ts";
import { firstGuess, type OutputTokens } from "./metrics/output_tokens.ts";
import type { ModelRateLimiter, RateReservation as RateReservation } from "./limits/rate_limiter.ts";
import type { CounterReplicator, CounterRequest } from "./replication/counter_replicator.ts";
import { Quota, type QuotaReservation } from "./limits/quota.ts";

/** What a model counts over all its pools. */
export interface SharedCounts {
  /** Requests and tokens per time. */
  readonly rate: ModelRateLimiter;
  /** Time to an answer. */
  readonly latency: Latency;
  /** Tokens written per answer. */
  readonly outputTokens: OutputTokens;
}

/** Money that a request has to fit in. */
export interface BudgetScope {
  /** Whose: `provider <id>`, `pool <name>`, `all`. */
  readonly id: string;
  /** The money. */
  readonly budget: Budget;
  /** Why a model rests when it is spent. */
  readonly reason: "provider_budget" | "budget_limit";
}

/** What a {@linkcode UsageTracker} is made of. */
export interface UsageTrackerParts {
  readonly facts: TrackedModel;
  readonly shared: SharedCounts;
  readonly budgetScopes: readonly BudgetScope[];
  /** Its provider's calls. */
  readonly outages: OutageDetector;
  /** Its provider's keys, where there are several. */
  readonly keys?: ApiKeyPool | undefined;
  readonly clock: Clock;
  /** What other processes count, too. */
  readonly replicator: CounterReplicator;
}

/** When a request under way will end is unknown; a client that comes back then comes neither late nor often, ms. */
const inFlightRetryMs = 1_000;

/** When whoever is refused while the shared store is away is told to come back, ms. */
const unavailableRetryMs = 1_000;

/** Counts for one model in one pool. */
export class UsageTracker implements Meter {
  readonly #parts: UsageTrackerParts;
  /** What it has served, against the pool's limits. */
  readonly quota: Quota;
  readonly #failures: FailureWindow | undefined;
  readonly #isFree: boolean;
  readonly #budgets: readonly Budget[];

  /**
   * @param parts What it counts with.
   * @param before The same model's counting under other settings, which goes on.
   */
  constructor(parts: UsageTrackerParts, before?: UsageTracker) {
    this.#parts = parts;
    const { info, routing } = parts.facts;
    const { errorRate } = routing.deactivation;
    const { pool, name } = parts.facts;
    const quota = { name: `${pool} ${name}`, before: before && before.quota };
    this.quota = new Quota(routing.deactivation, () => parts.clock.now(), quota);
    if (routing.rateLimit?.maxRpm !== undefined) parts.shared.rate.isWatched = true;
    this.#failures = errorRate && new FailureWindow({ windowMs: errorRate.windowMs });
    this.#budgets = parts.budgetScopes.map(({ budget }) => budget);
    this.#isFree = info.pricing !== undefined && info.pricing.every(isFree);
  }

  get keys(): ApiKeyPool | undefined {
    return this.#parts.keys;
  }

  get replicator(): CounterReplicator {
    return this.#parts.replicator;
  }

  /** Money that its requests have to fit in. */
  get budgetScopes(): readonly BudgetScope[] {
    return this.#parts.budgetScopes;
  }

  get outputTokens(): OutputTokens {
    return this.#parts.shared.outputTokens;
  }

  latencyMs(now: number): number | undefined {
    return this.#parts.shared.latency.value(now);
  }

  requests(now: number): Headroom | undefined {
    return this.#parts.shared.rate.requests(now);
  }

  tokens(now: number): Headroom | undefined {
    return this.#parts.shared.rate.tokens(now);
  }

  /** Tokens written, at most: as the request says, else as nearly all of the model's answers took. */
  #outputOf({ output }: Pick<Load, "output">): number {
    return output ?? this.#parts.shared.outputTokens.percentile95() ?? firstGuess;
  }

  costOf({ input, output }: Load): number | undefined {
    const { facts: { info }, clock } = this.#parts;
    const written = this.#outputOf({ output });
    const usage = { prompt_tokens: input, completion_tokens: written, total_tokens: input + written };
    return this.#isFree ? 0 : costNanoUsd(usage, info.pricing, clock.now());
  }

  denial(load: Load, now: number): AdmissionDenial | undefined {
    const { shared: { rate }, facts: { routing: { rateLimit } } } = this.#parts;
    const until = rate.fullUntil(now, this.#tokensOf(load));
    if (until !== undefined) {
      return { reason: "rate_limited", until: until === Infinity ? now + inFlightRetryMs : until };
    }
    const budget = this.#budgetDenial(load, now);
    if (budget !== undefined) return budget;
    const { reserved } = this.quota;
    if (reserved !== undefined) return { reason: reserved, until: now + inFlightRetryMs };
    const { minDeltaMs, maxRpm } = rateLimit ?? {};
    const spaced = minDeltaMs === undefined ? 0 : (rate.lastStartedAt ?? -Infinity) + minDeltaMs;
    if (spaced > now) return { reason: "min_delta", until: spaced };
    return maxRpm !== undefined && rate.rpm(now) >= maxRpm ? { reason: "max_rpm", until: now } : undefined;
  }

  begun(): void {
    this.quota.reserveRequest();
  }

  sent(): DeactivationDecision | undefined {
    this.quota.addRequest();
    return this.quota.decision();
  }

  withdrawn(): void {
    this.quota.withdrawRequest();
  }

  spend(load: Load, now: number): CallReservation {
    const { shared: { rate }, clock } = this.#parts;
    const cost = this.costOf(load) ?? 0;
    const wall = clock.now();
    const reserved: Reserved = {
      rate: rate.reserve(now, this.#tokensOf(load)),
      limits: this.quota,
      usage: this.quota.reserve(load.input + this.#outputOf(load), cost),
      money: this.#budgetsOf(load).map((budget) => ({ budget, hold: budget.reserve(cost, wall) })),
    };
    return new TrackedCall(this.#parts, reserved);
  }

  standing(): DeactivationDecision | undefined {
    const order = this.quota.decision();
    return order?.standbyMs === undefined ? this.#budgetDecision() : order; // without a window a rest starts the counts anew
  }

  spent(): DeactivationDecision | undefined {
    return this.#budgetDecision() ?? this.quota.decision();
  }

  recovered(): void {
    this.quota.recovered();
    this.#failures?.clear();
  }

  finished(vote: Outcome, end: RequestEnd, now: number): DeactivationDecision | undefined {
    const { ms, output, estimated = false } = end;
    const { latency, outputTokens } = this.#parts.shared;
    if (vote === "success" && ms !== undefined) latency.observe(now, ms);
    if (vote === "failure") latency.punish(now);
    if (vote === "success" && output !== undefined && !estimated) outputTokens.add(output);
    return this.#providerDecision(end, now) ?? this.spent() ?? this.#errorRateDecision(vote, now);
  }

  /** Sets the whole provider aside, where the pool asks for that. */
  #providerDecision({ kind }: RequestEnd, now: number): DeactivationDecision | undefined {
    const { facts: { routing: { providerDeactivation, providerRecovery } }, outages, keys } = this.#parts;
    const rest: Pick<DeactivationDecision, "doubles" | "standbyMs"> = providerRecovery === undefined
      ? { doubles: true }
      : { standbyMs: Infinity }; // a probe or somebody ends it
    if (kind === "auth" && (keys?.isRejected(now) ?? true) && providerDeactivation?.has("on_auth_failure")) {
      return { reason: "provider_auth_failure", scope: "provider", ...rest };
    }
    if (!outages.isOutage || !providerDeactivation?.has("on_api_outage")) return undefined;
    return { reason: "provider_outage", scope: "provider", ...rest };
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
    if (cost === undefined) return { reason: "budget", until: Infinity };
    const wall = clock.now();
    let until = 0;
    for (const budget of budgets) until = Math.max(until, budget.resetsAt(wall, cost) ?? 0);
    return until === 0 ? undefined : { reason: "budget", until: now + Math.max(0, until - wall) };
  }

  /** The mesh's own, and the client's. */
  #budgetsOf({ budget }: Load): readonly Budget[] {
    return budget === undefined ? this.#budgets : [...this.#budgets, budget];
  }

  /** The rest of a model whose money is spent; one that is free serves all the same. */
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

  #errorRateDecision(vote: Outcome, now: number): DeactivationDecision | undefined {
    const { errorRate } = this.#parts.facts.routing.deactivation;
    if (this.#failures === undefined || errorRate === undefined || vote === "none") return undefined;
    this.#failures.add(now, vote === "failure");
    const requests = this.#failures.requests(now);
    const share = this.#failures.share(now);
    if (requests < errorRate.minRequests || share < errorRate.threshold) return undefined;
    return { reason: "error_rate", scope: "model", doubles: true, metadata: { error_rate: share, requests } };
  }
}

type Outcome = Parameters<Meter["finished"]>[0];

/** What an error takes, and what was never sent. */
const nothing: Usage = { tokens: 0, costNano: 0 };

/** What one call reserves. */
interface Reserved {
  /** Of what the vendor allows. */
  readonly rate: RateReservation;
  /** The pool's limits, and what it reserves of them. */
  readonly limits: Quota;
  readonly usage: QuotaReservation;
  /** Of every budget that it has to fit in. */
  readonly money: readonly { readonly budget: Budget; readonly hold: Reservation }[];
}

/** One call's share in all the counts. */
class TrackedCall implements CallReservation {
  readonly #parts: UsageTrackerParts;
  readonly #reserved: Reserved;
  #isAnswered = false;
  #isOver = false;

  constructor(parts: UsageTrackerParts, reserved: Reserved) {
    this.#parts = parts;
    this.#reserved = reserved;
  }

  counterRequests(): readonly CounterRequest[] {
    return this.#reserved.money.flatMap(({ budget, hold }) => budget.counterRequests(hold));
  }

  confirm(): void {
    for (const { budget, hold } of this.#reserved.money) budget.confirm(hold);
  }

  observe(headers: { get(name: string): string | null }): void {
    const { shared: { rate }, clock, outages } = this.#parts;
    this.#isAnswered = true;
    outages.answered();
    const reading = readRateHeaders(headers, clock.now());
    if (reading !== undefined) rate.observe(clock.monotonic(), reading, this.#reserved.rate);
  }

  limit({ rpm, tpm }: RateLimits): void {
    const { shared: { rate }, clock } = this.#parts;
    const reading = {
      ...(rpm !== undefined && { requests: { limit: rpm } }),
      ...(tpm !== undefined && { tokens: { limit: tpm } }),
    };
    rate.observe(clock.monotonic(), reading, this.#reserved.rate);
  }

  cancel(): void {
    this.#end(nothing, (rate, now) => rate.release(now, this.#reserved.rate));
  }

  fail(wasSent: boolean): void {
    if (!wasSent) this.cancel();
    // the vendor counts a failed request, too
    else this.#end(nothing, (rate, now) => rate.settle(now, this.#reserved.rate));
    const { outages, facts } = this.#parts;
    if (!this.#isAnswered) outages.unanswered(facts.info.id);
  }

  get apiKey(): string | undefined {
    return this.#reserved.rate.apiKey?.value;
  }

  rejectApiKey(refusal: RejectedCall): KeyRejection | undefined {
    const { keys, clock, facts: { info, routing: { recovery }, provider } } = this.#parts;
    const { apiKey } = this.#reserved.rate;
    if (apiKey === undefined) return undefined;
    const { cooldownMs, onQuotaReset, quotaReset } = recovery;
    const quotaMs = onQuotaReset === false
      ? cooldownMs
      : untilQuotaReset(quotaReset ?? provider.quotaReset, clock.now());
    return keys!.reject(apiKey, info.id, refusal, { now: clock.monotonic(), times: { cooldownMs, quotaMs } });
  }

  end(usage: Usage): void {
    if (this.#isOver) return;
    const { keys, facts: { info } } = this.#parts;
    const { apiKey, requests } = this.#reserved.rate;
    if (apiKey !== undefined && this.#isAnswered) keys!.recordSuccess(apiKey, info.id, requests.at);
    this.#end(usage, (rate, now) => rate.settle(now, this.#reserved.rate, usage.tokens));
  }

  #end({ tokens, costNano }: Usage, endRate: (rate: ModelRateLimiter, now: number) => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { shared: { rate }, clock } = this.#parts;
    const { limits, usage, money } = this.#reserved;
    endRate(rate, clock.monotonic());
    limits.settle(usage, { tokens, nano: costNano });
    for (const { budget, hold } of money) budget.settle(hold, costNano);
  }
}

function isFree(price: DatedPricing): boolean {
  return price.input === 0 && price.output === 0 && (price.per_request ?? 0) === 0;
}
