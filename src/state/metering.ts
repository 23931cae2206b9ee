/**
 * The counting of one mesh: rates per model and key, money per provider, pool and over all, limits per model and pool.
 * @module
 */
import type { BudgetSettings, Settings } from "../config/settings.ts";
import type { Clock } from "../contracts/runtime.ts";
import { Budget } from "./ledger.ts";
import { Latency } from "./latency.ts";
import { MemberMeter, type Purse, type SharedCounts } from "./member_meter.ts";
import type { MakeState } from "./mesh_state.ts";
import type { Meter, MeterFacts } from "./meter.ts";
import { MeteredState } from "./metered_state.ts";
import { OutageWatch } from "./outage_watch.ts";
import { OutputSizes } from "./output_sizes.ts";
import { RateMeter } from "./rate_meter.ts";
import { SharedLedger } from "./shared_ledger.ts";

/**
 * The counting that settings ask for.
 *
 * @param settings A validated configuration.
 * @param clock Wall clock for calendar windows, monotonic for rates.
 */
export function meteringOf(settings: Settings, clock: Clock): MakeState {
  const metering = new MeshMetering(settings, clock);
  return (facts, request) => new MeteredState(facts, metering.meterOf(request));
}

class MeshMetering {
  readonly #settings: Settings;
  readonly #clock: Clock;
  /** What several processes count together, once they do. */
  readonly #ledger: SharedLedger;
  /** By provider and upstream id: a vendor counts by key and model, whatever the pool. */
  readonly #shared = new Map<string, SharedCounts>();
  /** By provider. */
  readonly #watches = new Map<string, OutageWatch>();
  /** By whose money it is. */
  readonly #budgets = new Map<string, Budget>();

  constructor(settings: Settings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#ledger = new SharedLedger(clock);
  }

  meterOf(facts: MeterFacts): Meter {
    const { pool, provider, budget } = facts;
    const purses = [
      ...this.#purse(`provider ${provider.id}`, provider.budget, "provider_budget"),
      ...this.#purse(`pool ${pool}`, budget, "budget_limit"),
      ...this.#purse("all", this.#settings.budget, "budget_limit"),
    ];
    const watch = this.#watchOf(provider.id);
    watch.knows(facts.info.id);
    const meter = new MemberMeter({
      facts,
      shared: this.#sharedOf(facts),
      purses,
      watch,
      clock: this.#clock,
      ledger: this.#ledger,
    });
    this.#ledger.register(meter.limits);
    return meter;
  }

  #watchOf(provider: string): OutageWatch {
    const known = this.#watches.get(provider);
    if (known !== undefined) return known;
    const made = new OutageWatch();
    this.#watches.set(provider, made);
    return made;
  }

  #sharedOf({ provider, info, limits }: MeterFacts): SharedCounts {
    const key = `${provider.id} ${info.id}`;
    const known = this.#shared.get(key);
    if (known !== undefined) return known;
    const made = { rate: new RateMeter(limits), latency: new Latency(), outputs: new OutputSizes() };
    this.#shared.set(key, made);
    for (const flow of made.rate.flows(key, this.#clock)) this.#ledger.register(flow);
    return made;
  }

  #purse(id: string, limits: BudgetSettings | undefined, reason: Purse["reason"]): Purse[] {
    if (limits === undefined) return [];
    const known = this.#budgets.get(id);
    const budget = known ?? new Budget({ daily: limits.dailyNano, monthly: limits.monthlyNano }, id);
    if (known === undefined) this.#ledger.register(budget);
    this.#budgets.set(id, budget);
    return [{ id, budget, reason }];
  }
}
