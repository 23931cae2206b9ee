import { assertEquals } from "@std/assert";
import type { PoolSettings, Settings } from "../../src/config/settings/settings.ts";
import { retryFor } from "../../src/config/settings/routing.ts";
import { validate } from "../../src/config/build/validate.ts";
import { parseCron } from "../../src/util/cron.ts";
import { known } from "./_known.ts";
import { readLimits } from "../support/_budgets.ts";

const builtInRetryable = [408, 409, 425, 429, 500, 502, 503, 504, 529];
const builtInNonRetryable = [400, 401, 403, 404, 413, 422];

function merge(own: unknown, common: unknown, provider: unknown = {}): { settings: Settings; pool: PoolSettings } {
  const settings = validate({
    providers: { "acme.llm.v1": { error: provider }, "zeta.api.v1": {} },
    pools: { "*": common, "chat-completion": own },
  }, { knownConnectors: known });
  return { settings, pool: settings.pools.get("chat-completion")! };
}

/** The members that are not undefined. */
function given(value: object): unknown {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}

Deno.test("routing is the built-in one where nothing is configured", () => {
  const { routing } = merge({}, {}).pool;
  assertEquals(routing.strategy, "mesh.stick-until-failure.v1");
  assertEquals(given(routing.deactivation), { retryLimit: 3, errorCodes: new Set<number>() });
  assertEquals(given(routing.recovery), { cooldownMs: 60_000, probeOnStart: false, onQuotaReset: true });
  assertEquals(given(routing.rateLimit!), { threshold: 0.8 });
  assertEquals([routing.balanceMode, routing.providerRecovery], ["absolute", undefined]);
  assertEquals(routing.providerDeactivation, new Set<never>());
  assertEquals(retryFor(routing, "acme.llm.v1"), {
    maxAttempts: 2,
    backoff: "exponential_jitter",
    initialDelayMs: 500,
    maxDelayMs: 10_000,
    scope: "any",
    honorRetryAfter: true,
    retryableCodes: new Set(builtInRetryable),
    nonRetryableCodes: new Set(builtInNonRetryable),
  });
});

Deno.test("routing takes each key from the pool, then from *, then from the built-in settings", () => {
  const common = {
    strategy: "round-robin",
    fallback_strategy: "priority",
    model_priority: ["acme.small"],
    provider_priority: ["zeta", "acme.llm.v1"],
    retry: { max_attempts: 1, backoff: "fixed", initial_delay: "1s" },
    deactivation: { retry_limit: 5, error_codes: [413] },
    recovery: { cooldown: "2m" },
  };
  const own = {
    strategy: "priority",
    "retry.max_attempts": 0,
    "retry.scope": "same_provider",
    "deactivation.retry_limit": 1,
  };
  const { settings, pool: { routing } } = merge(own, common);
  assertEquals(routing.strategy, "mesh.priority-selection.v1");
  assertEquals(routing.fallbackStrategy, "mesh.priority-selection.v1");
  assertEquals([routing.modelPriority, routing.providerPriority], [["acme.small"], ["zeta.api.v1", "acme.llm.v1"]]);
  assertEquals(given(routing.deactivation), { retryLimit: 1, errorCodes: new Set([413]) });
  assertEquals(routing.recovery.cooldownMs, 120_000);
  const { retryableCodes: _retryable, nonRetryableCodes: _others, ...retry } = retryFor(routing, "zeta.api.v1");
  assertEquals(retry, {
    maxAttempts: 0,
    backoff: "fixed",
    initialDelayMs: 1000,
    maxDelayMs: 10_000,
    scope: "same_provider",
    honorRetryAfter: true,
  });
  assertEquals(settings.defaultRouting.strategy, "mesh.round-robin.v1");
  assertEquals(retryFor(settings.defaultRouting, "x").maxAttempts, 1);
  assertEquals(settings.pools.has("*"), false);
});

Deno.test("limits, states and money are taken key by key from the pool, then from *", () => {
  const common = {
    strategy: "round-robin",
    balance_mode: "absolute",
    rate_limit: { threshold: 0.5, min_delta: "2s", max_rpm: 100 },
    budget: { daily_limit: 1, monthly_limit: 20 },
    deactivation: {
      error_rate_threshold: 0.5,
      error_rate_window: "30s",
      request_limit: 10,
      token_limit: 1000,
      budget_limit: 0.1,
      quota_window: "daily",
      maintenance_window: "0 3 * * *",
    },
    recovery: { probe_on_start: true, probe_interval: "5m", on_quota_reset: false, quota_reset_schedule: "monthly" },
    provider_deactivation: ["on_auth_failure", "on_api_outage"],
    provider_recovery: "on_manual",
  };
  const own = {
    balance_mode: "relative",
    "rate_limit.max_rpm": 30,
    "budget.daily_limit": 2.5,
    deactivation: { error_rate_min_requests: 4, quota_window: "monthly", maintenance_duration: "90m" },
    recovery: { probe_on_start: false, on_quota_reset: true },
    provider_deactivation: "on_api_outage",
    provider_recovery: "on_probe_success",
  };
  const { settings, pool: { routing, budget } } = merge(own, common);
  assertEquals(routing.balanceMode, "relative");
  assertEquals(routing.rateLimit, { threshold: 0.5, minDeltaMs: 2000, maxRpm: 30 });
  assertEquals(readLimits(budget), { day: 2_500_000_000, month: 20_000_000_000 });
  assertEquals(routing.deactivation, {
    retryLimit: 3,
    errorCodes: new Set<number>(),
    errorRate: { threshold: 0.5, windowMs: 30_000, minRequests: 4 },
    requestLimit: 10,
    tokenLimit: 1000,
    budgetLimitNanoUsd: 100_000_000,
    quotaWindow: "monthly",
    maintenance: { cron: parseCron("0 3 * * *"), durationMs: 5_400_000 },
  });
  assertEquals(routing.recovery, {
    cooldownMs: 60_000,
    probeOnStart: false,
    probeIntervalMs: 300_000,
    onQuotaReset: true,
    quotaResetSchedule: "monthly",
  });
  assertEquals([...routing.providerDeactivation!], ["on_api_outage"]);
  assertEquals(routing.providerRecovery, "on_probe_success");
  assertEquals(readLimits(settings.defaultBudget), { day: 1_000_000_000, month: 20_000_000_000 });
  assertEquals([...settings.defaultRouting.providerDeactivation!], ["on_auth_failure", "on_api_outage"]);
  assertEquals(settings.defaultRouting.deactivation.maintenance?.durationMs, 3_600_000);
});

Deno.test("an error rate has a window and a least count once it has a threshold", () => {
  const { errorRate } = merge({ "deactivation.error_rate_threshold": 0.2 }, {}).pool.routing.deactivation;
  assertEquals(errorRate, { threshold: 0.2, windowMs: 60_000, minRequests: 10 });
});

Deno.test("money is counted in integer nano-dollars, as far as sums of them are exact", () => {
  const { budget, defaultBudget, providers } = validate({
    budget: { daily_limit: 0.1 + 0.2, monthly_limit: 1e12 },
    providers: { "acme.llm.v1": { budget: { monthly_limit: 0.000_000_001_4 } }, "zeta.api.v1": { budget: {} } },
  }, { knownConnectors: known });
  assertEquals(readLimits(budget), { day: 300_000_000, month: Number.MAX_SAFE_INTEGER });
  assertEquals(readLimits(providers.get("acme.llm.v1")?.budget), { month: 1 });
  assertEquals([providers.get("zeta.api.v1")?.budget, defaultBudget], [undefined, undefined]);
});

Deno.test("providers are probed once there is an interval", () => {
  const providers = { "acme.llm.v1": {}, second: { connector: "acme.llm.v1" }, "zeta.api.v1": {} };
  const connector = "mesh.health-monitor.v1";
  const standard = { connector, enabled: true, timeoutMs: 10_000, failureThreshold: 3 };
  assertEquals(given(validate({ providers }, { knownConnectors: known }).health!), standard);
  const { health } = validate({
    providers,
    discovery: { health: { interval: "1m", timeout: "2s", failure_threshold: 5, providers: ["acme"], enabled: false } },
  }, { knownConnectors: known });
  assertEquals(health, {
    connector,
    enabled: false,
    intervalMs: 60_000,
    timeoutMs: 2000,
    failureThreshold: 5,
    providers: ["acme.llm.v1", "second"],
  });
});

interface CodeCase {
  readonly own?: Record<string, number[]>;
  readonly common?: Record<string, number[]>;
  readonly provider?: Record<string, number[]>;
  readonly retryable: readonly number[];
  readonly nonRetryable: readonly number[];
}

/** A list replaces the one below and takes its codes out of the other one. */
const codeCases: readonly CodeCase[] = [
  { retryable: builtInRetryable, nonRetryable: builtInNonRetryable },
  { own: { retryable_codes: [404, 500] }, retryable: [404, 500], nonRetryable: [400, 401, 403, 413, 422] },
  { own: { non_retryable_codes: [429] }, retryable: [408, 409, 425, 500, 502, 503, 504, 529], nonRetryable: [429] },
  { own: { retryable_codes: [], non_retryable_codes: [] }, retryable: [], nonRetryable: [] },
  { provider: { retryable_codes: [404] }, retryable: [404], nonRetryable: [400, 401, 403, 413, 422] },
  {
    common: { retryable_codes: [418] },
    provider: { retryable_codes: [404] },
    retryable: [418],
    nonRetryable: [400, 401, 403, 413, 422],
  },
  {
    own: { non_retryable_codes: [418] },
    common: { retryable_codes: [418, 500] },
    retryable: [500],
    nonRetryable: [418],
  },
  {
    own: { retryable_codes: [500] },
    provider: { non_retryable_codes: [500, 502] },
    retryable: [500],
    nonRetryable: [502],
  },
];

Deno.test("lists of codes replace those below and leave no code in both", () => {
  for (const { own, common, provider, retryable, nonRetryable } of codeCases) {
    const { pool } = merge({ retry: own }, { retry: common }, provider);
    const { retryableCodes, nonRetryableCodes } = retryFor(pool.routing, "acme.llm.v1");
    assertEquals([[...retryableCodes], [...nonRetryableCodes]], [[...retryable], [...nonRetryable]]);
  }
});

Deno.test("a provider's lists hold for it alone", () => {
  const { routing } = merge({}, {}, { retryable_codes: [404] }).pool;
  assertEquals([...retryFor(routing, "acme.llm.v1").retryableCodes], [404]);
  assertEquals([...retryFor(routing, "zeta.api.v1").retryableCodes], builtInRetryable);
});

Deno.test("a provider's own limits hold for non-streaming responses and for silence", () => {
  const { providers, pools } = validate({
    pools: { "chat-completion": { retry: { max_attempts: 1 } } },
    providers: {
      a: { connector: "acme.llm.v1" },
      b: {
        connector: "acme.llm.v1",
        execution: { timeout: "30s", connect_timeout: "2s", max_retries: 2 },
        "retry.budget.ratio": 0.5,
      },
    },
  }, { knownConnectors: known });
  const facts = [...providers.values()].map(({ timeoutMs, silenceMs, connectTimeoutMs, retryBudget }) => {
    return [timeoutMs, silenceMs, connectTimeoutMs, retryBudget];
  });
  assertEquals(facts, [
    [240_000, 60_000, 10_000, { ratio: 0.2, min: 10, windowMs: 10_000 }],
    [30_000, 30_000, 2000, { ratio: 0.5, min: 10, windowMs: 10_000 }],
  ]);
  // each of the pool's two tries is up to three of the provider's own
  const { routing } = pools.get("chat-completion")!;
  assertEquals(["a", "b"].map((id) => retryFor(routing, id).maxAttempts), [1, 5]);
});

Deno.test("a pool's providers are entries, however they are named", () => {
  const { pools } = validate({
    providers: { "acme.llm.v1": {}, second: { connector: "acme.llm.v1" }, "zeta.api.v1": {} },
    pools: { "chat-completion": { providers: ["acme"], excluded_providers: ["zeta.api.v1"] } },
  }, { knownConnectors: known });
  const { providers, excludedProviders } = pools.get("chat-completion")!;
  assertEquals([providers, excludedProviders], [["acme.llm.v1", "second"], ["zeta.api.v1"]]);
});
