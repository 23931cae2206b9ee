/**
 * Usage trackers of one mesh: rates per model and API key; budgets per provider, per pool and overall; quotas per model
 * and pool.
 * @module
 */
import type { BudgetSettings, ProviderEntry, Settings } from "../../config/settings/settings.ts";
import type { RateLimits } from "../../contracts/provider.ts";
import type { Clock } from "../../contracts/runtime.ts";
import { ApiKeyPool } from "../limits/api_key_pool.ts";
import { Budget, type BudgetStep } from "../limits/budget.ts";
import { PooledRateLimiter } from "../limits/pooled_rate_limiter.ts";
import type { Quota } from "../limits/quota.ts";
import { type ModelRateLimiter, RateLimiter } from "../limits/rate_limiter.ts";
import { Latency } from "../metrics/latency.ts";
import type { BudgetScope, SharedCounts, TrackedModel, UsageTrackerParts } from "./usage.ts";
import { UsageTracker } from "./usage_tracker.ts";
import { OutageDetector } from "../metrics/outage_detector.ts";
import { OutputTokens } from "../metrics/output_tokens.ts";
import { SharedCounters } from "../counters/shared_counters.ts";
import { getOrCreate } from "../../util/once.ts";

/** The counters of a mesh. The mesh of the next configuration shares them, so nothing in them refers to an engine. */
interface MeshCounters {
  /** By provider and upstream model id: vendors count by key and model, whatever the pool. */
  readonly shared: Map<string, SharedCounts>;
  /** By budget scope. */
  readonly budgets: Map<string, Budget>;
  /** By provider, if it has several API keys. */
  readonly keyPools: Map<string, ApiKeyPool>;
  /** By pool, provider and model. */
  readonly quotas: Map<string, Quota>;
}

/** Creates and shares the usage trackers of one mesh. */
export class UsageTrackers {
  readonly #settings: Pick<Settings, "budget">;
  readonly #clock: Clock;
  readonly #counted: MeshCounters = { shared: new Map(), budgets: new Map(), keyPools: new Map(), quotas: new Map() };
  readonly #before: MeshCounters | undefined;
  /** Replicates counters between processes, once a shared storage is configured. */
  readonly sharedCounters: SharedCounters = new SharedCounters();
  /** Called when calls to a provider bring a budget to one of its `alert_at` steps. */
  onBudgetSteps: UsageTrackerParts["onBudgetSteps"] = () => {};
  /** Outage detectors by provider. */
  readonly #outages = new Map<string, OutageDetector>();

  /**
   * @param settings A validated configuration.
   * @param clock Wall clock for calendar windows, monotonic clock for rates.
   * @param before The trackers under the previous configuration. Counters that exist in both are shared.
   */
  constructor(settings: Pick<Settings, "budget">, clock: Clock, before?: UsageTrackers) {
    this.#settings = settings;
    this.#clock = clock;
    this.#before = before && before.#counted;
  }

  /** Returns the tracker of one model in one pool. */
  getTracker(facts: TrackedModel): UsageTracker {
    const { pool, provider, budget } = facts;
    const budgetScopes = [
      ...this.#budgetScope(`provider ${provider.id}`, provider.budget, "provider_budget"),
      ...this.#budgetScope(`pool ${pool}`, budget, "budget_limit"),
      ...this.#budgetScope("all", this.#settings.budget, "budget_limit"),
    ];
    const outages = getOrCreate(this.#outages, provider.id, () => new OutageDetector());
    outages.addModel(facts.info.id);
    const keys = this.#getApiKeys(provider);
    const key = `${pool} ${provider.id} ${facts.name}`;
    const parts = {
      facts,
      shared: this.#getShared(facts),
      budgetScopes,
      outages,
      keys,
      clock: this.#clock,
      sharedCounters: this.sharedCounters,
      onBudgetSteps: (steps: readonly BudgetStep[], provider: string) => this.onBudgetSteps(steps, provider),
    };
    const tracker = new UsageTracker(parts, this.#before?.quotas.get(key));
    if (tracker.quota !== undefined) {
      this.#counted.quotas.set(key, tracker.quota);
      this.sharedCounters.register(tracker.quota);
    }
    return tracker;
  }

  /** Returns a provider's pool of API keys; undefined for a single key, which needs no rotation. */
  #getApiKeys({ id, apiKeys }: ProviderEntry): ApiKeyPool | undefined {
    if (apiKeys.length < 2) return undefined;
    const { keyPools } = this.#counted;
    const before = this.#before?.keyPools.get(id);
    const pool = keyPools.get(id) ?? (before?.hasSameKeys(apiKeys) ? before : new ApiKeyPool(id, apiKeys));
    keyPools.set(id, pool);
    return pool;
  }

  #getShared({ provider, info, limits }: TrackedModel): SharedCounts {
    const key = `${provider.id} ${info.id}`;
    const existing = this.#counted.shared.get(key);
    if (existing !== undefined) return existing;
    const keys = this.#getApiKeys(provider);
    const { rate, latency, outputTokens, rejectedMembers } = this.#before?.shared.get(key) ?? {};
    const created = {
      rate: rate?.isUnder(limits, keys) ? rate : createRateLimiter(info.id, { limits, keys, clock: this.#clock }),
      latency: latency ?? new Latency(),
      outputTokens: outputTokens ?? new OutputTokens(),
      rejectedMembers: rejectedMembers ?? new Set<string>(),
    };
    this.#counted.shared.set(key, created);
    for (const group of created.rate.groups(key, this.#clock)) this.sharedCounters.register(group);
    return created;
  }

  #budgetScope(id: string, written: BudgetSettings | undefined, reason: BudgetScope["reason"]): BudgetScope[] {
    if (written === undefined) return [];
    const existing = this.#counted.budgets.get(id);
    const budget = existing ?? new Budget(written, id, this.#before?.budgets.get(id));
    if (existing === undefined) this.sharedCounters.register(budget);
    this.#counted.budgets.set(id, budget);
    return [{ id, budget, reason }];
  }
}

/** Creates the rate limiter of a model. With several API keys, declared limits apply to each key. */
function createRateLimiter(
  model: string,
  { limits, keys, clock }: {
    readonly limits: RateLimits | undefined;
    readonly keys: ApiKeyPool | undefined;
    readonly clock: Clock;
  },
): ModelRateLimiter {
  return keys === undefined ? new RateLimiter(limits, clock) : new PooledRateLimiter(keys, model, { limits, clock });
}
