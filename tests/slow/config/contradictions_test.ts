import { assertEquals } from "@std/assert";
import { isEndless } from "../../../src/config/schema/formats.ts";
import { validate } from "../../../src/config/build/validate.ts";
import {
  type Case,
  common,
  known,
  listWarnings,
  models,
  pool,
  probed,
  providers,
} from "../../config/_contradictions.ts";
import { catchProblems } from "../../config/_known.ts";

const never = '"on_probe_success" never occurs: set "recovery.probe_interval" or "discovery.health.interval"';
const noThreshold = 'has no effect without "error_rate_threshold"';
const noLimit = 'has no effect without "request_limit", "token_limit" or "budget_limit"';
const onlyAware = 'has no effect: only the strategy "rate-limit-aware" uses it';
const onlyBalanced = 'has no effect: only the strategy "load-balanced" uses it';
const noList = 'has no effect without "model_priority" or "provider_priority": it selects once those are exhausted';
const custom = { select: () => undefined, score: () => 0 };

/** Keys that do nothing by themselves. */
const idle: readonly Case[] = [
  [pool({ deactivation: { error_rate_window: "1m" } }), `pools.mine.deactivation.error_rate_window: ${noThreshold}`],
  [
    common({ "deactivation.error_rate_min_requests": 3 }),
    `pools.*.deactivation.error_rate_min_requests: ${noThreshold}`,
  ],
  [common({ "deactivation.error_rate_window": "1m" }, { "deactivation.error_rate_threshold": 0.5 })],
  [common({ "deactivation.error_rate_threshold": 0.5 }, { "deactivation.error_rate_window": "1m" })],
  [pool({ deactivation: { quota_window: "daily" } }), `pools.mine.deactivation.quota_window: ${noLimit}`],
  [pool({ deactivation: { quota_window: "daily", token_limit: 5 } })],
  [
    pool({ deactivation: { maintenance_duration: "1h" } }),
    'pools.mine.deactivation.maintenance_duration: has no effect without "maintenance_window"',
  ],
  [
    pool({ provider_recovery: "on_manual" }),
    'pools.mine.provider_recovery: has no effect without "provider_deactivation"',
  ],
  [
    pool({ recovery: { on_quota_reset: false, quota_reset_schedule: "monthly" } }),
    'pools.mine.recovery.quota_reset_schedule: has no effect while "on_quota_reset" is false',
  ],
  [common({ "recovery.quota_reset_schedule": "monthly" }, { "recovery.on_quota_reset": false })],
  [pool({ rate_limit: { threshold: 0.5 } }), `pools.mine.rate_limit.threshold: ${onlyAware}`],
  [
    pool({ strategy: "round-robin", rate_limit: { threshold: 0.5 } }),
    `pools.mine.rate_limit.threshold: ${onlyAware}`,
  ],
  [pool({ strategy: "rate-limit-aware", rate_limit: { threshold: 0.5 } })],
  [pool({ strategy: custom, fallback_strategy: "rate-limit-aware", rate_limit: { threshold: 0.5 } })],
  [pool({ strategy: custom, rate_limit: { threshold: 0.5 } })],
  [pool({ strategy: "own.strategy.v1", rate_limit: { threshold: 0.5 }, balance_mode: "relative" })],
  [common({ rate_limit: { threshold: 0.5 } }, { strategy: "rate-limit-aware" })],
  [common({ strategy: "rate-limit-aware" }, { rate_limit: { threshold: 0.5 } })],
  [pool({ balance_mode: "relative" }), `pools.mine.balance_mode: ${onlyBalanced}`],
  [pool({ strategy: "load-balanced", balance_mode: "relative" })],
  [
    pool({ strategy: "priority", fallback_strategy: "mesh.priority-selection.v1" }),
    "pools.mine.fallback_strategy: has no effect: it is the pool's strategy",
  ],
  [
    pool({ fallback_strategy: "stick-until-failure" }),
    "pools.mine.fallback_strategy: has no effect: it is the pool's strategy",
  ],
  [pool({ fallback_strategy: "priority" }), `pools.mine.fallback_strategy: ${noList}`],
  [pool({ strategy: "rate-limit-aware", fallback_strategy: "priority" }), `pools.mine.fallback_strategy: ${noList}`],
  [pool({ fallback_strategy: "priority", model_priority: ["slow"] })],
  [pool({ fallback_strategy: "priority", provider_priority: ["zeta.api.v1"] })],
  [common({ fallback_strategy: "priority" }, { model_priority: ["slow"] })],
  [common({ model_priority: ["slow"] }, { fallback_strategy: "priority" })],
  [common({ fallback_strategy: "priority" }), `pools.*.fallback_strategy: ${noList}`],
  [pool({ strategy: custom, fallback_strategy: "priority" })],
  [pool({ strategy: "own.strategy.v1", fallback_strategy: "priority" })],
  [
    pool({}, { discovery: { health: { enabled: true, timeout: "1s", failure_threshold: 2, providers: ["acme"] } } }),
    'discovery.health.enabled: has no effect without "interval"',
    'discovery.health.timeout: has no effect without "interval"',
    'discovery.health.failure_threshold: has no effect without "interval"',
    'discovery.health.providers: has no effect without "interval"',
  ],
  [pool({}, { discovery: { health: { enabled: false } } })],
];

Deno.test("a key that does nothing beside the others is named", () => {
  for (const [document, ...lines] of idle) assertEquals(listWarnings(document), lines);
});

/** What two keys say against one another. */
const odd: readonly Case[] = [
  [
    pool({ rate_limit: { min_delta: "20s" } }),
    'pools.mine.rate_limit.min_delta: "min_delta" (20s) is longer than "max_delay" (10s), the maximum that a request waits for it',
  ],
  [
    common({ rate_limit: { min_delta: "3s" } }, { retry: { max_delay: "2s" } }),
    'pools.mine.retry.max_delay: "min_delta" (3s) is longer than "max_delay" (2s), the maximum that a request waits for it',
  ],
  [pool({ rate_limit: { min_delta: "20s" }, retry: { max_delay: "20s" } })],
  [
    pool({ deactivation: { error_rate_threshold: 0 }, strategy: "rate-limit-aware", rate_limit: { threshold: 0 } }),
    "pools.mine.deactivation.error_rate_threshold: is 0: models go into standby even without a failure",
  ],
  [
    pool({ retry: { scope: "same_model", max_attempts: 0 } }),
    'pools.mine.retry.scope: "same_model" with a "max_attempts" of 0 makes every failure final: no other model is tried',
  ],
  [
    common({ retry: { scope: "same_model" } }, { retry: { max_attempts: 0 } }),
    'pools.mine.retry.max_attempts: "same_model" with a "max_attempts" of 0 makes every failure final: no other model is tried',
  ],
  [
    { providers, models, pools: { mine: { models: ["slow"], retry: { scope: "same_model", max_attempts: 0 } } } },
    "models.fast: is in none of the pools",
  ],
  [pool({ retry: { scope: "same_model", max_attempts: 1 } })],
  [pool({ retry: { scope: "any", max_attempts: 0 } })],
  [
    pool({ rate_limit: { max_rpm: 11 } }),
    'pools.mine.rate_limit.max_rpm: is above "limits.rpm" of "fast", which is reached first',
  ],
  [pool({ rate_limit: { max_rpm: 10 } })],
  [
    pool({ budget: { daily_limit: 5, monthly_limit: 4 } }),
    'pools.mine.budget.daily_limit: "daily_limit" (5) is more than "monthly_limit" (4)',
  ],
  [
    common({ budget: { daily_limit: 5 } }, { budget: { monthly_limit: 4 } }),
    'pools.mine.budget.monthly_limit: "daily_limit" (5) is more than "monthly_limit" (4)',
  ],
  [
    pool({}, { providers: { ...providers, "acme.llm.v1": { budget: { daily_limit: 2, monthly_limit: 1 } } } }),
    'providers.acme.llm.v1.budget.daily_limit: "daily_limit" (2) is more than "monthly_limit" (1)',
  ],
  [
    pool({ deactivation: { budget_limit: 0 }, budget: { monthly_limit: 0.000_000_000_1 } }, {
      budget: { daily_limit: 0 },
    }),
    "budget.daily_limit: is 0: nothing may be spent",
    "pools.mine.budget.monthly_limit: is 0: nothing may be spent",
    "pools.mine.deactivation.budget_limit: is 0: nothing may be spent",
  ],
  [pool({ budget: { daily_limit: 1, monthly_limit: 1 } })],
];

Deno.test("settings that work against one another are named", () => {
  for (const [document, ...lines] of odd) assertEquals(listWarnings(document), lines);
});

/** What cannot work. */
const impossible: readonly Case[] = [
  [pool(probed), `pools.mine.provider_recovery: ${never}`],
  [pool({ ...probed, recovery: { probe_on_start: true } }), `pools.mine.provider_recovery: ${never}`],
  [pool({ ...probed, recovery: { probe_interval: "1m" } })],
  [common({ recovery: { probe_interval: "1m" } }, probed)],
  [common(probed, { recovery: { probe_interval: "1m" } }), `pools.*.provider_recovery: ${never}`],
  [pool(probed, { discovery: { health: { interval: "1m" } } })],
  [
    pool(probed, { discovery: { health: { interval: "1m", enabled: false } } }),
    `pools.mine.provider_recovery: ${never}`,
  ],
  [
    pool({ ...probed, recovery: { probe_interval: "0s" } }),
    'pools.mine.recovery.probe_interval: expected a duration above 0 such as "500ms" or "1h30m", found "0s"',
  ],
  [
    pool({ deactivation: { maintenance_window: "0 * * * *" } }),
    "pools.mine.deactivation.maintenance_window: maintenance of 1h lasts until it starts again: it would never end",
  ],
  [
    common({ "deactivation.maintenance_window": "0 3 * * *" }, { "deactivation.maintenance_duration": "1d" }),
    "pools.mine.deactivation.maintenance_duration: maintenance of 1d lasts until it starts again: it would never end",
  ],
  [
    pool({}, { discovery: { health: { providers: ["acm"] } } }),
    'discovery.health.providers[0]: no provider "acm", did you mean "acme.llm.v1"? (allowed: "acme.llm.v1", "zeta.api.v1", "home.local.v1")',
  ],
];

Deno.test("settings that cannot work stop a start", () => {
  for (const [document, ...lines] of impossible) {
    assertEquals(catchProblems(() => validate(document, { knownConnectors: known })), lines);
  }
});

Deno.test("maintenance is endless when no two starts are further apart than it lasts", () => {
  const hour = 3_600_000;
  const cases: readonly (readonly [cron: string, durationMs: number, isOne: boolean])[] = [
    ["0 * * * *", hour, true],
    ["0 * * * *", hour - 1, false],
    ["0 0 * * *", 24 * hour, true],
    ["0 0 * * *", 24 * hour - 1, false],
    ["*/5 * * * *", 299_999, false],
    ["*/5 * * * *", 300_000, true],
    ["*/5 8-9 * * *", hour, false],
    ["0 0 * * mon-fri", 71 * hour, false],
    ["0 0 * * mon-fri", 72 * hour, true],
    ["0 0 * 1-11 *", 31 * 24 * hour, false],
    ["0 0 * 1-11 *", 32 * 24 * hour, true],
    ["0 0 29 2 *", 1461 * 24 * hour, false],
  ];
  for (const [cron, durationMs, isOne] of cases) assertEquals(isEndless(cron, durationMs), isOne, cron);
});
