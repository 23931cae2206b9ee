/**
 * The counting of one mesh: rates per model and key, money per provider, pool and over all, limits per model and pool.
 * @module
 */
import type { BudgetSettings, ProviderEntry, Settings } from "../config/settings/settings.ts";
import type { RateLimits } from "../contracts/provider.ts";
import type { Clock } from "../contracts/runtime.ts";
import { ApiKeyPool } from "./limits/api_key_pool.ts";
import { Budget, type BudgetStep } from "./limits/budget.ts";
import { PooledRateLimiter } from "./limits/pooled_rate_limiter.ts";
import type { Quota } from "./limits/quota.ts";
import { type ModelRateLimiter, RateLimiter } from "./limits/rate_limiter.ts";
import { Latency } from "./metrics/latency.ts";
import type { BudgetScope, SharedCounts, TrackedModel, UsageTrackerParts } from "./usage.ts";
import { UsageTracker } from "./usage_tracker.ts";
import { OutageDetector } from "./breaker/outage_detector.ts";
import { OutputTokens } from "./metrics/output_tokens.ts";
import { CounterReplicator } from "./replication/counter_replicator.ts";

/** What is counted. The next configuration's mesh holds it: nothing in it leads back to an engine. */
interface MeshCounters {
  /** By provider and upstream id: a vendor counts by key and model, whatever the pool. */
  readonly shared: Map<string, SharedCounts>;
  /** By whose money it is. */
  readonly budgets: Map<string, Budget>;
  /** By provider, where it has several keys. */
  readonly keyPools: Map<string, ApiKeyPool>;
  /** By pool, provider and model. */
  readonly quotas: Map<string, Quota>;
}

/** The counting of one mesh. */
export class UsageTrackers {
  readonly #settings: Pick<Settings, "budget">;
  readonly #clock: Clock;
  readonly #counted: MeshCounters = { shared: new Map(), budgets: new Map(), keyPools: new Map(), quotas: new Map() };
  readonly #before: MeshCounters | undefined;
  /** What several processes count together, once they do. */
  readonly replicator: CounterReplicator = new CounterReplicator();
  /** Called when calls to a provider bring a budget to one of its steps. */
  onBudgetSteps: UsageTrackerParts["onBudgetSteps"] = () => {};
  /** By provider. */
  readonly #outages = new Map<string, OutageDetector>();

  /**
   * @param settings A validated configuration.
   * @param clock Wall clock for calendar windows, monotonic for rates.
   * @param before The counting under the configuration before this one: what is still there counts on, for both.
   */
  constructor(settings: Pick<Settings, "budget">, clock: Clock, before?: UsageTrackers) {
    this.#settings = settings;
    this.#clock = clock;
    this.#before = before && before.#counted;
  }

  /** The counting for one model in one pool. */
  trackerOf(facts: TrackedModel): UsageTracker {
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
      replicator: this.replicator,
      onBudgetSteps: (steps: readonly BudgetStep[], provider: string) => this.onBudgetSteps(steps, provider),
    };
    const tracker = new UsageTracker(parts, this.#before?.quotas.get(key));
    this.#counted.quotas.set(key, tracker.quota);
    this.replicator.register(tracker.quota);
    return tracker;
  }

  /** A provider's pool of keys; undefined for one key: there is nothing to rotate over. */
  #keysOf({ id, apiKeys }: ProviderEntry): ApiKeyPool | undefined {
    if (apiKeys.length < 2) return undefined;
    const { keyPools } = this.#counted;
    const before = this.#before?.keyPools.get(id);
    const pool = keyPools.get(id) ?? (before?.hasSameKeys(apiKeys) ? before : new ApiKeyPool(id, apiKeys));
    keyPools.set(id, pool);
    return pool;
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
      rate: rate?.isUnder(limits, keys) ? rate : rateLimiterOf(info.id, { limits, keys }),
      latency: latency ?? new Latency(),
      outputTokens: outputTokens ?? new OutputTokens(),
    };
    this.#counted.shared.set(key, made);
    for (const rate of made.rate.replicas(key, this.#clock)) this.replicator.registerRate(rate);
    for (const slots of made.rate.slots(key)) this.replicator.register(slots);
    return made;
  }

  #budgetScope(id: string, written: BudgetSettings | undefined, reason: BudgetScope["reason"]): BudgetScope[] {
    if (written === undefined) return [];
    const known = this.#counted.budgets.get(id);
    const limits = { daily: written.dailyNano, monthly: written.monthlyNano, alertAt: written.alertAt };
    const budget = known ?? new Budget(limits, id, this.#before?.budgets.get(id));
    if (known === undefined) this.replicator.register(budget);
    this.#counted.budgets.set(id, budget);
    return [{ id, budget, reason }];
  }
}

/** Counts the calls of a model, by each key where there are several; limits hold for each key. */
function rateLimiterOf(
  model: string,
  { limits, keys }: { readonly limits: RateLimits | undefined; readonly keys: ApiKeyPool | undefined },
): ModelRateLimiter {
  return keys === undefined ? new RateLimiter(limits) : new PooledRateLimiter(keys, model, limits);
}
