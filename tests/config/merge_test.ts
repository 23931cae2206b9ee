import { assertEquals } from "@std/assert";
import type { PoolSettings, Settings } from "../../src/config/settings.ts";
import { validate } from "../../src/config/validate.ts";
import { known } from "./_known.ts";

const builtInRetryable = [408, 409, 425, 429, 500, 502, 503, 504, 529];
const builtInNonRetryable = [400, 401, 403, 404, 413, 422];

function merge(own: unknown, common: unknown, provider: unknown = {}): { settings: Settings; pool: PoolSettings } {
  const settings = validate({
    providers: { "acme.llm.v1": { error: provider }, "zeta.api.v1": {} },
    pools: { "*": common, "chat-completion": own },
  }, { known });
  return { settings, pool: settings.pools.get("chat-completion")! };
}

Deno.test("routing is the built-in one where nothing is configured", () => {
  const { routing } = merge({}, {}).pool;
  assertEquals(routing.strategy, "mesh.stick-until-failure.v1");
  assertEquals(routing.deactivation, { retryLimit: 3, errorCodes: new Set<number>() });
  assertEquals(routing.recovery, { cooldownMs: 60_000 });
  assertEquals(routing.retry("acme.llm.v1"), {
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
  assertEquals(routing.deactivation, { retryLimit: 1, errorCodes: new Set([413]) });
  assertEquals(routing.recovery.cooldownMs, 120_000);
  const { retryableCodes: _retryable, nonRetryableCodes: _others, ...retry } = routing.retry("zeta.api.v1");
  assertEquals(retry, {
    maxAttempts: 0,
    backoff: "fixed",
    initialDelayMs: 1000,
    maxDelayMs: 10_000,
    scope: "same_provider",
    honorRetryAfter: true,
  });
  assertEquals(settings.defaultRouting.strategy, "mesh.round-robin.v1");
  assertEquals(settings.defaultRouting.retry("x").maxAttempts, 1);
  assertEquals(settings.pools.has("*"), false);
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
    const { retryableCodes, nonRetryableCodes } = pool.routing.retry("acme.llm.v1");
    assertEquals([[...retryableCodes], [...nonRetryableCodes]], [[...retryable], [...nonRetryable]]);
  }
});

Deno.test("a provider's lists hold for it alone", () => {
  const { retry } = merge({}, {}, { retryable_codes: [404] }).pool.routing;
  assertEquals([...retry("acme.llm.v1").retryableCodes], [404]);
  assertEquals([...retry("zeta.api.v1").retryableCodes], builtInRetryable);
  assertEquals(retry("acme.llm.v1"), retry("acme.llm.v1"));
});

Deno.test("a provider's own limits hold for whole answers and for silence", () => {
  const { providers } = validate({
    providers: {
      a: { connector: "acme.llm.v1" },
      b: { connector: "acme.llm.v1", execution: { timeout: "30s", connect_timeout: "2s" }, "retry.budget.ratio": 0.5 },
    },
  }, { known });
  const facts = [...providers.values()].map(({ timeoutMs, silenceMs, connectTimeoutMs, retryBudget }) => {
    return [timeoutMs, silenceMs, connectTimeoutMs, retryBudget];
  });
  assertEquals(facts, [
    [240_000, 60_000, 10_000, { ratio: 0.2, min: 10, windowMs: 10_000 }],
    [30_000, 30_000, 2000, { ratio: 0.5, min: 10, windowMs: 10_000 }],
  ]);
});

Deno.test("a pool's providers are entries, however they are named", () => {
  const { pools } = validate({
    providers: { "acme.llm.v1": {}, second: { connector: "acme.llm.v1" }, "zeta.api.v1": {} },
    pools: { "chat-completion": { providers: ["acme"], excluded_providers: ["zeta.api.v1"] } },
  }, { known });
  const { providers, excludedProviders } = pools.get("chat-completion")!;
  assertEquals([providers, excludedProviders], [["acme.llm.v1", "second"], ["zeta.api.v1"]]);
});
