/**
 * The pools of a simulated world: all strategies, and settings from the careful to the foolish.
 * @module
 */
import { Chance } from "./chance.ts";
import { wired } from "./features.ts";
import { type HedgePlan, planHedge } from "./_hedges.ts";
import { planQueue, type QueuePlan } from "./_queues.ts";
import { minute, second } from "./_times.ts";
import type { ModelPlan } from "./scenario.ts";

/** One pool; times in ms. */
export interface PoolPlan {
  readonly name: string;
  readonly models: readonly string[];
  readonly strategy: string;
  readonly fallback?: string;
  readonly balance: "absolute" | "relative";
  readonly maxAttempts: number;
  readonly initialDelayMs: number;
  readonly maxDelayMs: number;
  readonly backoff: string;
  readonly scope: "any" | "same_provider" | "same_model";
  readonly honorsHints: boolean;
  readonly retryLimit: number;
  readonly errorCodes: readonly number[];
  readonly cooldownMs: number;
  /** Usage limits and further rules of deactivation, as written in a configuration. */
  readonly rules: Readonly<Record<string, unknown>>;
  readonly maxRpm?: number;
  readonly minDeltaMs?: number;
  readonly dailyUsd?: number;
  readonly providerDeactivation: readonly string[];
  readonly hedge?: HedgePlan;
  readonly queue?: QueuePlan;
}

const strategies = [
  "stick-until-failure",
  "round-robin",
  "cost-first",
  "latency-first",
  "priority-selection",
  "rate-limit-aware",
  "load-balanced",
  "session-stickiness",
];

interface PoolWorld {
  readonly seed: number;
  readonly isStorm: boolean;
  readonly models: readonly ModelPlan[];
}

/** The pools of a world, several of them over the same models. */
export function poolPlans({ seed, isStorm, models }: PoolWorld): PoolPlan[] {
  const chance = new Chance(seed, "pools");
  const count = isStorm ? chance.whole(1, 2) : chance.whole(1, 4);
  return Array.from({ length: count }, (_, place) => {
    const plan = poolPlan(`pool${place}`, { isStorm, models, chance });
    const hedge = wired.has("hedging") ? planHedge(seed, plan.name) : undefined;
    const queue = wired.has("queues") ? planQueue(seed, plan.name) : undefined;
    return { ...plan, ...(hedge && { hedge }), ...(queue && { queue }) };
  });
}

interface PoolParts {
  readonly isStorm: boolean;
  readonly models: readonly ModelPlan[];
  readonly chance: Chance;
}

function poolPlan(name: string, { isStorm, models, chance }: PoolParts): PoolPlan {
  const strategy = chance.pick(strategies);
  const others = strategies.filter((other) => other !== strategy);
  return {
    name,
    models: chance.some(models.map((model) => model.name)),
    strategy,
    ...(chance.happens(0.2) ? { fallback: chance.pick(others) } : {}),
    balance: chance.pick(["absolute", "relative"]),
    maxAttempts: chance.pick([0, 1, 2, 3]),
    initialDelayMs: chance.pick([0, 100, 500, 2000]),
    maxDelayMs: chance.pick([2, 10, 30]) * second,
    backoff: chance.pick(["fixed", "exponential_jitter", "retry_after"]),
    scope: chance.pick(["any", "any", "any", "any", "same_provider", "same_model"]),
    honorsHints: chance.happens(0.8),
    retryLimit: isStorm ? chance.whole(1, 3) : chance.whole(1, 6),
    errorCodes: chance.happens(0.2) ? [400] : [],
    cooldownMs: isStorm ? chance.pick([30, 60]) * second : chance.pick([second, 5 * second, minute, 15 * minute]),
    rules: createRules(chance),
    ...(wired.has("spacing") && chance.happens(0.2) ? { maxRpm: chance.whole(2, 20) } : {}),
    ...(wired.has("spacing") && chance.happens(0.2) ? { minDeltaMs: chance.whole(50, 3000) } : {}),
    ...(wired.has("budgets") && chance.happens(0.2) ? { dailyUsd: chance.pick([0.002, 0.02, 0.2]) } : {}),
    providerDeactivation: wired.has("provider_actions") && chance.happens(0.3)
      ? chance.some(["on_auth_failure", "on_api_outage"])
      : [],
  };
}

function createRules(chance: Chance): Record<string, unknown> {
  const rules: Record<string, unknown> = {};
  if (chance.happens(0.3) && wired.has("error_rate")) {
    rules.error_rate_threshold = chance.pick([0.2, 0.5, 1]);
    rules.error_rate_window = chance.pick(["10s", "60s", "10m"]);
    rules.error_rate_min_requests = chance.whole(2, 10);
  }
  if (chance.happens(0.3) && wired.has("usage_limits")) {
    if (chance.happens(0.5)) rules.request_limit = chance.whole(2, 60);
    if (chance.happens(0.3)) rules.token_limit = chance.whole(1_000, 40_000);
    if (chance.happens(0.3)) rules.budget_limit = chance.between(0.0005, 0.1);
    const isLimited = Object.keys(rules).some((key) => key.endsWith("_limit"));
    if (isLimited && chance.happens(0.4) && wired.has("quota_windows")) rules.quota_window = "daily";
  }
  if (chance.happens(0.2) && wired.has("maintenance")) {
    rules.maintenance_window = `${chance.whole(0, 59)} ${chance.pick(["*/6", "3", "0"])} * * *`;
    rules.maintenance_duration = chance.pick(["10m", "1h"]);
  }
  return rules;
}
