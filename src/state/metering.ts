/**
 * The counting of one mesh: rates per model and key, money per provider, pool and over all, limits per model and pool.
 * @module
 */
import type { BudgetSettings, ProviderEntry, Settings } from "../config/settings.ts";
import type { RateLimits } from "../contracts/provider.ts";
import type { Clock } from "../contracts/runtime.ts";
import { Budget } from "./ledger.ts";
import { ApiKeyPool } from "./key_ring.ts";
import { PooledRateLimiter } from "./keyed_rates.ts";
import { Latency } from "./latency.ts";
import { type BudgetScope, MemberMeter, type SharedCounts } from "./member_meter.ts";
import type { MakeState } from "./mesh_state.ts";
import type { Meter, TrackedModel } from "./meter.ts";
import { MeteredState } from "./metered_state.ts";
import { OutageDetector } from "./outage_watch.ts";
import { OutputTokens } from "./output_sizes.ts";
import { type ModelRateLimiter, RateLimiter } from "./rate_meter.ts";
import { SharedLedger } from "./shared_ledger.ts";

/**
 * The counting that settings ask for.
 *
 * @param settings A validated configuration.
 * @param clock Wall clock for calendar windows, monotonic for rates.
 */
export function meteringOf(settings: Settings, clock: Clock): MakeState {
  return new MeshMetering(settings, clock).makeState;
}

/** What is counted. */
interface Counted {
  /** By provider and upstream id: a vendor counts by key and model, whatever the pool. */
  readonly shared: Map<string, SharedCounts>;
  /** By whose money it is. */
  readonly budgets: Map<string, Budget>;
  /** By provider, where it has several keys. */
  readonly rings: Map<string, ApiKeyPool>;
  /** By pool, provider and model. */
  readonly meters: Map<string, MemberMeter>;
}

/** The counting of one mesh. */
export class MeshMetering {
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #counted: Counted = { shared: new Map(), budgets: new Map(), rings: new Map(), meters: new Map() };
  readonly #before: Counted | undefined;
  /** What several processes count together, once they do. */
  readonly ledger: SharedLedger;
  /** By provider. */
  readonly #outages = new Map<string, OutageDetector>();

  /**
   * @param settings A validated configuration.
   * @param clock Wall clock for calendar windows, monotonic for rates.
   * @param before The counting under the configuration before this one: what is still there counts on, for both.
   */
  constructor(settings: Settings, clock: Clock, before?: MeshMetering) {
    this.#settings = settings;
    this.#clock = clock;
    this.#before = before && before.#counted;
    this.ledger = new SharedLedger(clock);
  }

  /** Makes the state of a model that is counted here. */
  readonly makeState: MakeState = (facts, request) => new MeteredState(facts, this.meterOf(request));

  meterOf(facts: TrackedModel): Meter {
    const { pool, provider, budget } = facts;
    const budgetScopes = [
      ...this.#budgetScope(`provider ${provider.id}`, provider.budget, "provider_budget"),
      ...this.#budgetScope(`pool ${pool}`, budget, "budget_limit"),
      ...this.#budgetScope("all", this.#settings.budget, "budget_limit"),
    ];
    const outages = this.#outagesOf(provider.id);
    outages.addModel(facts.info.id);
    const keys = this.#keysOf(provider);
    const key = `${pool} ${provider.id} ${facts.name}`;
    const parts = {
      facts,
      shared: this.#sharedOf(facts),
      budgetScopes,
      outages,
      keys,
      clock: this.#clock,
      ledger: this.ledger,
    };
    const meter = new MemberMeter(parts, this.#before?.meters.get(key));
    this.#counted.meters.set(key, meter);
    this.ledger.register(meter.quota);
    return meter;
  }

  /** A ring is for several: one key has nothing to rotate over. */
  #keysOf({ id, apiKeys }: ProviderEntry): ApiKeyPool | undefined {
    if (apiKeys.length < 2) return undefined;
    const { rings } = this.#counted;
    const before = this.#before?.rings.get(id);
    const ring = rings.get(id) ?? (before?.hasSameKeys(apiKeys) ? before : new ApiKeyPool(id, apiKeys));
    rings.set(id, ring);
    return ring;
  }

  #outagesOf(provider: string): OutageDetector {
    const known = this.#outages.get(provider);
    if (known !== undefined) return known;
    const made = new OutageDetector();
    this.#outages.set(provider, made);
    return made;
  }

  #sharedOf({ provider, info, limits }: TrackedModel): SharedCounts {
    const key = `${provider.id} ${info.id}`;
    const known = this.#counted.shared.get(key);
    if (known !== undefined) return known;
    const keys = this.#keysOf(provider);
    const { rate, latency, outputTokens } = this.#before?.shared.get(key) ?? {};
    const made = {
      rate: rate?.isUnder(limits, keys) ? rate : newRates(keys, info.id, limits),
      latency: latency ?? new Latency(),
      outputTokens: outputTokens ?? new OutputTokens(),
    };
    this.#counted.shared.set(key, made);
    for (const replica of made.rate.replicas(key, this.#clock)) this.ledger.register(replica);
    return made;
  }

  #budgetScope(id: string, written: BudgetSettings | undefined, reason: BudgetScope["reason"]): BudgetScope[] {
    if (written === undefined) return [];
    const known = this.#counted.budgets.get(id);
    const limits = { daily: written.dailyNano, monthly: written.monthlyNano };
    const budget = known ?? new Budget(limits, id, this.#before?.budgets.get(id));
    if (known === undefined) this.ledger.register(budget);
    this.#counted.budgets.set(id, budget);
    return [{ id, budget, reason }];
  }
}

function newRates(keys: ApiKeyPool | undefined, model: string, limits: RateLimits | undefined): ModelRateLimiter {
  return keys === undefined ? new RateLimiter(limits) : new PooledRateLimiter(keys, model, limits);
}
