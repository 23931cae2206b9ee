/**
 * What happens in one simulated world: who is there, what goes wrong when, who asks what. Plain data, made of a seed.
 * @module
 */
import type { RateLimits } from "../../mod.ts";
import { type Act, acts } from "./_acts.ts";
import { Chance } from "./chance.ts";
import { type PoolPlan, poolPlans } from "./_pool_plans.ts";
import { type Arrival, traffic } from "./_traffic.ts";
import { type Trouble, troubles } from "./_troubles.ts";
import { hour, minute, second } from "./_times.ts";
import { wired } from "./features.ts";

/** A provider as the vendor runs it. */
export interface ProviderPlan {
  readonly id: string;
  /** Limit of a non-streaming response, ms; of silence in a stream too. */
  readonly timeoutMs: number;
  /** USD a UTC day. */
  readonly dailyUsd?: number;
  /** Whether its models are those that it lists, and not configured. */
  readonly isListing: boolean;
}

/** A model as the vendor runs it. */
export interface ModelPlan {
  readonly name: string;
  readonly provider: string;
  /** Median time to a response, ms. */
  readonly latencyMs: number;
  /** USD per million tokens. */
  readonly price: { readonly input: number; readonly output: number };
  /** What the vendor counts, and what the mesh read of it. */
  readonly limits: RateLimits;
  /** Answers carry rate-limit headers. */
  readonly reportsLimits: boolean;
  readonly weight: number;
  /** Times in which its provider does not list it, monotonic ms; absent where models are configured. */
  readonly absences?: readonly { readonly from: number; readonly to: number }[];
}

/** One world. */
export interface Scenario {
  readonly seed: number;
  /** It has a total outage under load. */
  readonly isStorm: boolean;
  /** How long it lasts, ms. */
  readonly horizonMs: number;
  readonly providers: readonly ProviderPlan[];
  readonly models: readonly ModelPlan[];
  readonly pools: readonly PoolPlan[];
  /** The first that applies counts. */
  readonly troubles: readonly Trouble[];
  readonly arrivals: readonly Arrival[];
  readonly acts: readonly Act[];
  /** USD a UTC day over all. */
  readonly dailyUsd?: number;
}

/**
 * The scenario of a seed.
 *
 * @param seed Where chance starts.
 */
export function createScenario(seed: number): Scenario {
  const chance = new Chance(seed, "scenario");
  const horizonMs = chance.pick([10 * minute, hour, 6 * hour, 24 * hour, 72 * hour]);
  const isStorm = chance.happens(1 / 8);
  const providers = providerPlans(new Chance(seed, "providers"), seed);
  const models = providers.flatMap((provider) => {
    const plans = modelPlans(provider, new Chance(seed, provider.id));
    return provider.isListing ? plans.map((plan) => listedPlan(plan, { seed, isStorm, horizonMs })) : plans;
  });
  const world = { seed, horizonMs, isStorm, providers, models };
  const pools = poolPlans(world);
  const planned = troubles(world);
  const arrivals = traffic({ ...world, pools, troubles: planned });
  return {
    ...world,
    pools,
    troubles: planned,
    arrivals,
    acts: acts({ ...world, arrivals }),
    ...(wired.has("budgets") && chance.happens(0.2) ? { dailyUsd: chance.pick([0.005, 0.05, 0.5]) } : {}),
  };
}

function providerPlans(chance: Chance, seed: number): ProviderPlan[] {
  const listing = new Chance(seed, "listing");
  return Array.from({ length: chance.whole(1, 4) }, (_, place) => ({
    id: `vendor${place}`,
    timeoutMs: chance.pick([5, 20, 60, 240]) * second,
    ...(wired.has("budgets") && chance.happens(0.3) ? { dailyUsd: chance.pick([0.002, 0.02, 0.2]) } : {}),
    isListing: wired.has("lists") && listing.happens(0.2),
  }));
}

/** A model that its provider lists: what a configuration would say of it is not known, and now and then it is absent. */
function listedPlan(
  plan: ModelPlan,
  { seed, isStorm, horizonMs }: Pick<Scenario, "seed" | "isStorm" | "horizonMs">,
): ModelPlan {
  const chance = new Chance(seed, `absences of ${plan.name}`);
  const absences = Array.from({ length: isStorm ? 0 : chance.whole(0, 2) }, () => {
    const from = chance.happens(0.2) ? 0 : chance.between(0, horizonMs);
    return { from, to: from + chance.skewed(horizonMs / 6, 1) };
  });
  return { ...plan, limits: {}, weight: 1, absences };
}

function modelPlans({ id }: ProviderPlan, chance: Chance): ModelPlan[] {
  return Array.from({ length: chance.whole(1, 3) }, (_, place) => ({
    name: `${id}.m${place}`,
    provider: id,
    latencyMs: chance.pick([50, 300, 1500, 6000]),
    price: chance.happens(0.15) ? { input: 0, output: 0 } : {
      input: chance.pick([0.1, 0.5, 2.5]),
      output: chance.pick([0.4, 2, 10]),
    },
    limits: wired.has("limits") && chance.happens(0.5) ? createLimits(chance) : {},
    reportsLimits: chance.happens(0.5),
    weight: chance.pick([1, 1, 1, 2, 5]),
  }));
}

function createLimits(chance: Chance): RateLimits {
  return {
    ...(chance.happens(0.6) ? { rpm: chance.whole(2, 30) } : {}),
    ...(chance.happens(0.4) ? { tpm: chance.whole(2_000, 20_000) } : {}),
    ...(chance.happens(0.2) ? { rpd: chance.whole(20, 200) } : {}),
    ...(chance.happens(0.4) ? { concurrent: chance.whole(1, 6) } : {}),
  };
}
