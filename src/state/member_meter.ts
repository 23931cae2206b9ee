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
import type { Latency } from "./latency.ts";
import type { AdmissionDenial } from "./admission_denial.ts";
import type { Budget, Hold } from "./ledger.ts";
import type { KeyRing, KeyVerdict, Refusal } from "./key_ring.ts";
import type { Load, Meter, MeterFacts, RequestEnd, Spending, StandbyOrder, Usage } from "./meter.ts";
import type { OutageWatch } from "./outage_watch.ts";
import { firstGuess, type OutputSizes } from "./output_sizes.ts";
import type { RateCounts, Reservation as RateReservation } from "./rate_meter.ts";
import type { SharedLedger, WantedPart } from "./shared_ledger.ts";
import { UsageLimits, type UsageReservation } from "./usage_limits.ts";

/** What a model counts over all its pools. */
export interface SharedCounts {
  /** Requests and tokens per time. */
  readonly rate: RateCounts;
  /** Time to an answer. */
  readonly latency: Latency;
  /** Tokens written per answer. */
  readonly outputs: OutputSizes;
}

/** Money that a request has to fit in. */
export interface Purse {
  /** Whose: `provider <id>`, `pool <name>`, `all`. */
  readonly id: string;
  /** The money. */
  readonly budget: Budget;
  /** Why a model rests when it is spent. */
  readonly reason: "provider_budget" | "budget_limit";
}

/** What a {@linkcode MemberMeter} is made of. */
export interface MemberMeterParts {
  readonly facts: MeterFacts;
  readonly shared: SharedCounts;
  readonly purses: readonly Purse[];
  /** Its provider's calls. */
  readonly watch: OutageWatch;
  /** Its provider's keys, where there are several. */
  readonly keys?: KeyRing | undefined;
  readonly clock: Clock;
  /** What other processes count, too. */
  readonly ledger: SharedLedger;
}

/** When a request under way will end is unknown; a client that comes back then comes neither late nor often, ms. */
const inFlightMs = 1_000;

/** When whoever is refused while the shared store is away is told to come back, ms. */
const awayMs = 1_000;

/** Counts for one model in one pool. */
export class MemberMeter implements Meter {
  readonly #parts: MemberMeterParts;
  /** What it has served, against the pool's limits. */
  readonly limits: UsageLimits;
  readonly #failures: FailureWindow | undefined;
  readonly #isFree: boolean;
  readonly #budgets: readonly Budget[];

  /**
   * @param parts What it counts with.
   * @param before The same model's counting under other settings, which goes on.
   */
  constructor(parts: MemberMeterParts, before?: MemberMeter) {
    this.#parts = parts;
    const { info, routing } = parts.facts;
    const { errorRate } = routing.deactivation;
    const { pool, name } = parts.facts;
    const limits = { name: `${pool} ${name}`, before: before && before.limits };
    this.limits = new UsageLimits(routing.deactivation, () => parts.clock.now(), limits);
    if (routing.rateLimit?.maxRpm !== undefined) parts.shared.rate.isWatched = true;
    this.#failures = errorRate && new FailureWindow({ windowMs: errorRate.windowMs });
    this.#budgets = parts.purses.map(({ budget }) => budget);
    this.#isFree = info.pricing !== undefined && info.pricing.every(isFree);
  }

  get keys(): KeyRing | undefined {
    return this.#parts.keys;
  }

  get ledger(): SharedLedger {
    return this.#parts.ledger;
  }

  /** Money that its requests have to fit in. */
  get purses(): readonly Purse[] {
    return this.#parts.purses;
  }

  get outputs(): OutputSizes {
    return this.#parts.shared.outputs;
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
    return output ?? this.#parts.shared.outputs.percentile95() ?? firstGuess;
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
    if (until !== undefined) return { reason: "rate_limited", until: until === Infinity ? now + inFlightMs : until };
    const budget = this.#budgetDenial(load, now);
    if (budget !== undefined) return budget;
    const { reserved } = this.limits;
    if (reserved !== undefined) return { reason: reserved, until: now + inFlightMs };
    const { minDeltaMs, maxRpm } = rateLimit ?? {};
    const spaced = minDeltaMs === undefined ? 0 : (rate.lastStartedAt ?? -Infinity) + minDeltaMs;
    if (spaced > now) return { reason: "min_delta", until: spaced };
    return maxRpm !== undefined && rate.rpm(now) >= maxRpm ? { reason: "max_rpm", until: now } : undefined;
  }

  begun(): void {
    this.limits.reserveRequest();
  }

  sent(): StandbyOrder | undefined {
    this.limits.addRequest();
    return this.limits.order();
  }

  withdrawn(): void {
    this.limits.withdrawRequest();
  }

  spend(load: Load, now: number): Spending {
    const { shared: { rate }, clock } = this.#parts;
    const cost = this.costOf(load) ?? 0;
    const wall = clock.now();
    const reserved: Reserved = {
      rate: rate.reserve(now, this.#tokensOf(load)),
      limits: this.limits,
      usage: this.limits.reserve(load.input + this.#outputOf(load), cost),
      money: this.#budgetsOf(load).map((budget) => ({ budget, hold: budget.reserve(cost, wall) })),
    };
    return new MemberSpending(this.#parts, reserved);
  }

  standing(): StandbyOrder | undefined {
    const order = this.limits.order();
    return order?.restMs === undefined ? this.#spentOrder() : order; // without a window a rest starts the counts anew
  }

  spent(): StandbyOrder | undefined {
    return this.#spentOrder() ?? this.limits.order();
  }

  recovered(): void {
    this.limits.recovered();
    this.#failures?.clear();
  }

  finished(vote: Vote, end: RequestEnd, now: number): StandbyOrder | undefined {
    const { ms, output, estimated = false } = end;
    const { latency, outputs } = this.#parts.shared;
    if (vote === "success" && ms !== undefined) latency.observe(now, ms);
    if (vote === "failure") latency.punish(now);
    if (vote === "success" && output !== undefined && !estimated) outputs.add(output);
    return this.#providerOrder(end, now) ?? this.spent() ?? this.#rateOrder(vote, now);
  }

  /** Sets the whole provider aside, where the pool asks for that. */
  #providerOrder({ kind }: RequestEnd, now: number): StandbyOrder | undefined {
    const { facts: { routing: { providerDeactivation, providerRecovery } }, watch, keys } = this.#parts;
    const rest: Pick<StandbyOrder, "doubles" | "restMs"> = providerRecovery === undefined
      ? { doubles: true }
      : { restMs: Infinity }; // a probe or somebody ends it
    if (kind === "auth" && (keys?.isRefused(now) ?? true) && providerDeactivation?.has("on_auth_failure")) {
      return { reason: "provider_auth_failure", scope: "provider", ...rest };
    }
    if (!watch.isOutage || !providerDeactivation?.has("on_api_outage")) return undefined;
    return { reason: "provider_outage", scope: "provider", ...rest };
  }

  #tokensOf({ input, output }: Load): number {
    return input + (output ?? this.#parts.shared.outputs.percentile95() ?? 0);
  }

  #budgetDenial(load: Load, now: number): AdmissionDenial | undefined {
    const { clock } = this.#parts;
    const budgets = this.#budgetsOf(load);
    if (budgets.length === 0 || this.#isFree) return undefined;
    if (this.#parts.ledger.isClosedOff) return { reason: "storage_unavailable", until: now + awayMs };
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
  #spentOrder(): StandbyOrder | undefined {
    const { purses, clock } = this.#parts;
    if (purses.length === 0) return undefined;
    const wall = clock.now();
    for (const { budget, reason } of purses) {
      if (!budget.isSpent(wall) || (this.#isFree && reason === "budget_limit")) continue;
      const restMs = Math.max(0, (budget.resetsAt(wall) ?? wall) - wall);
      return { reason, scope: reason === "provider_budget" ? "provider" : "model", restMs };
    }
    return undefined;
  }

  #rateOrder(vote: Vote, now: number): StandbyOrder | undefined {
    const { errorRate } = this.#parts.facts.routing.deactivation;
    if (this.#failures === undefined || errorRate === undefined || vote === "none") return undefined;
    this.#failures.add(now, vote === "failure");
    const requests = this.#failures.requests(now);
    const share = this.#failures.share(now);
    if (requests < errorRate.minRequests || share < errorRate.threshold) return undefined;
    return { reason: "error_rate", scope: "model", doubles: true, metadata: { error_rate: share, requests } };
  }
}

type Vote = Parameters<Meter["finished"]>[0];

/** What an error takes, and what was never sent. */
const nothing: Usage = { tokens: 0, costNano: 0 };

/** What one call reserves. */
interface Reserved {
  /** Of what the vendor allows. */
  readonly rate: RateReservation;
  /** The pool's limits, and what it reserves of them. */
  readonly limits: UsageLimits;
  readonly usage: UsageReservation;
  /** Of every budget that it has to fit in. */
  readonly money: readonly { readonly budget: Budget; readonly hold: Hold }[];
}

/** One call's share in all the counts. */
class MemberSpending implements Spending {
  readonly #parts: MemberMeterParts;
  readonly #reserved: Reserved;
  #isAnswered = false;
  #isOver = false;

  constructor(parts: MemberMeterParts, reserved: Reserved) {
    this.#parts = parts;
    this.#reserved = reserved;
  }

  wanted(): readonly WantedPart[] {
    return this.#reserved.money.flatMap(({ budget, hold }) => budget.wanted(hold));
  }

  confirm(): void {
    for (const { budget, hold } of this.#reserved.money) budget.confirm(hold);
  }

  observe(headers: { get(name: string): string | null }): void {
    const { shared: { rate }, clock, watch } = this.#parts;
    this.#isAnswered = true;
    watch.answered();
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
    const { watch, facts } = this.#parts;
    if (!this.#isAnswered) watch.unanswered(facts.info.id);
  }

  get credential(): string | undefined {
    return this.#reserved.rate.key?.value;
  }

  refused(refusal: Refusal): KeyVerdict | undefined {
    const { keys, clock, facts: { info, routing: { recovery }, provider } } = this.#parts;
    const { key } = this.#reserved.rate;
    if (key === undefined) return undefined;
    const { cooldownMs, onQuotaReset, quotaReset } = recovery;
    const quotaMs = onQuotaReset === false
      ? cooldownMs
      : untilQuotaReset(quotaReset ?? provider.quotaReset, clock.now());
    return keys!.refused(key, info.id, refusal, { now: clock.monotonic(), times: { cooldownMs, quotaMs } });
  }

  end(usage: Usage): void {
    if (this.#isOver) return;
    const { keys, facts: { info } } = this.#parts;
    const { key, requests } = this.#reserved.rate;
    if (key !== undefined && this.#isAnswered) keys!.served(key, info.id, requests.at);
    this.#end(usage, (rate, now) => rate.settle(now, this.#reserved.rate, usage.tokens));
  }

  #end({ tokens, costNano }: Usage, endRate: (rate: RateCounts, now: number) => void): void {
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
