import { assertEquals } from "@std/assert";
import { validate } from "../../src/config/build/validate.ts";
import { catchProblems, known } from "./_known.ts";

const providers = { "acme.llm.v1": { api_key: "k" } };

function pool(entry: unknown): { providers: unknown; pools: unknown } {
  return { providers, pools: { "chat-completion": entry } };
}

function model(entry: unknown): unknown {
  return { providers, models: { m: entry } };
}

/** A document, and every problem it has. */
const malformed: readonly (readonly [document: unknown, ...problems: string[]])[] = [
  [model({}), "models.m.provider: missing: this key is required"],
  [
    model({ provider: "acne" }),
    'models.m.provider: no provider "acne"; allowed: "acme.llm.v1"',
  ],
  [
    model({ provider: "acme.llm.v1", capabilities: ["chat-compeltion", "audio", "zzzzzzz"] }),
    'models.m.capabilities[0]: "chat-compeltion" is not a capability, did you mean "chat-completion", "text-completion"?',
    'models.m.capabilities[1]: "audio" is ambiguous, use one of "generation.audio", "understanding.audio"',
    'models.m.capabilities[2]: "zzzzzzz" is not a capability',
  ],
  [
    model({ provider: "acme.llm.v1", capabilities: [] }),
    "models.m.capabilities: expected at least one item, found an empty list",
  ],
  [
    model({ provider: "acme.llm.v1", batch: { cost_discount: 2 } }),
    "models.m.batch.cost_discount: expected a number from 0 to 1, found 2",
  ],
  [
    model({ provider: "acme.llm.v1", constraints: { context_window: "8k" } }),
    'models.m.constraints.context_window: expected an integer of 1 or more, found "8k"',
  ],
  [
    model({ provider: "acme.llm.v1", constraints: { max_file_size: 5 } }),
    'models.m.constraints.max_file_size: expected a size such as "512MB" or "64KiB", found 5: write "5B" or "5KiB"',
  ],
  [
    model({ provider: "acme.llm.v1", pricing: { inptu: 1 } }),
    'models.m.pricing.inptu: unknown key, did you mean "input"? (allowed: "input", "output", "from", "tier", "hours", "region", "audio_input", "image_input", "per_page", "per_minute" and 17 more)',
  ],
  [model({ provider: "acme.llm.v1", weight: 0 }), "models.m.weight: expected a number above 0, up to 1000, found 0"],
  [
    model({ provider: "${secrets:P}" }),
    "models.m.provider: must be a literal: a secret reference is not supported here",
  ],
  [
    pool({ capability: "chat" }),
    'pools.chat-completion.capability: "chat" is not a capability, did you mean "chat-completion"?',
  ],
  [{ pools: { fast: {} } }, 'pools.fast: needs "capability" or "models": "fast" is not a capability'],
  [{ pools: { audio: {} } }, 'pools.audio: "audio" is ambiguous, use one of "generation.audio", "understanding.audio"'],
  [
    pool({ models: ["acme.smal", "gone"] }),
    'pools.chat-completion.models[0]: no model "acme.smal", did you mean "acme.small"? (allowed: "acme.small", "acme.large")',
    'pools.chat-completion.models[1]: no model "gone"; allowed: "acme.small", "acme.large"',
  ],
  [pool({ models: [] }), "pools.chat-completion.models: expected at least one item, found an empty list"],
  [
    pool({ providers: ["acm"] }),
    'pools.chat-completion.providers[0]: no provider "acm", did you mean "acme.llm.v1"? (allowed: "acme.llm.v1")',
  ],
  [
    pool({ providers: ["acme.llm.v1"], excluded_providers: ["acme"] }),
    'pools.chat-completion.excluded_providers: "acme.llm.v1" is also in "providers": remove one of them',
  ],
  [
    pool({ strategy: "roundrobin" }),
    'pools.chat-completion.strategy: no strategy "roundrobin" is registered, did you mean "round-robin"? (allowed: "stick-until-failure", "round-robin", "priority-selection")',
  ],
  [
    pool({ strategy: "mesh.cost-first.v1" }),
    'pools.chat-completion.strategy: no strategy "mesh.cost-first.v1" is registered; allowed: "mesh.stick-until-failure.v1", "mesh.round-robin.v1", "mesh.priority-selection.v1"',
  ],
  [pool({ strategy: 3 }), "pools.chat-completion.strategy: expected a string, found 3: put it in quotes"],
  [
    pool({ strategy: { select() {} } }),
    "pools.chat-completion.strategy: expected a strategy, an object with select and score, found an object",
  ],
  [
    pool({ fallback_strategy: "x" }),
    'pools.chat-completion.fallback_strategy: no strategy "x" is registered; allowed: "stick-until-failure", "round-robin", "priority-selection"',
  ],
  [
    pool({ retry: { max_attempts: 11 } }),
    "pools.chat-completion.retry.max_attempts: expected an integer from 0 to 10, found 11",
  ],
  [
    pool({ "retry.max_attempts": -1 }),
    "pools.chat-completion.retry.max_attempts: expected an integer from 0 to 10, found -1",
  ],
  [
    pool({ retry: { initial_delay: "20s", max_delay: "10s" } }),
    'pools.chat-completion.retry.max_delay: "max_delay" (10s) is less than "initial_delay" (20s)',
  ],
  [
    pool({ retry: { initial_delay: "20s" } }),
    'pools.chat-completion.retry.initial_delay: "max_delay" (10s) is less than "initial_delay" (20s)',
  ],
  [
    pool({ retry: { backoff: "exponential" } }),
    'pools.chat-completion.retry.backoff: unknown value "exponential", did you mean "exponential_jitter"? (allowed: "fixed", "exponential_jitter", "retry_after")',
  ],
  [
    pool({ retry: { max_attempts: 1 }, "retry.max_attempts": 2 }),
    "pools.chat-completion.retry.max_attempts: is set twice, with different values",
  ],
  [
    pool({ deactivation: { retry_limit: 0 } }),
    "pools.chat-completion.deactivation.retry_limit: expected an integer of 1 or more, found 0",
  ],
  [
    pool({ deactivation: { error_rate_threshold: 1.5 } }),
    "pools.chat-completion.deactivation.error_rate_threshold: expected a number from 0 to 1, found 1.5",
  ],
  [
    pool({ deactivation: { maintenance_window: "61 * * * *" } }),
    'pools.chat-completion.deactivation.maintenance_window: expected a cron expression of five fields, such as "0 3 * * 0" for Sundays at 03:00 UTC, found "61 * * * *"',
  ],
  [
    pool({ deactivation: { maintenance_window: "* * * * * *" } }),
    'pools.chat-completion.deactivation.maintenance_window: expected a cron expression of five fields, such as "0 3 * * 0" for Sundays at 03:00 UTC, found "* * * * * *"',
  ],
  [
    pool({ recovery: { cooldown: "0s" } }),
    'pools.chat-completion.recovery.cooldown: expected a duration above 0 such as "500ms" or "1h30m", found "0s"',
  ],
  [
    pool({ rate_limit: { threshold: -0.1, min_delta: 5, max_rpm: 0 } }),
    "pools.chat-completion.rate_limit.threshold: expected a number from 0 to 1, found -0.1",
    'pools.chat-completion.rate_limit.min_delta: expected a duration such as "500ms" or "1h30m", found 5: write "5s" or "5ms"',
    "pools.chat-completion.rate_limit.max_rpm: expected an integer of 1 or more, found 0",
  ],
  [
    pool({ deactivation: { request_limit: 0, token_limit: 1.5, budget_limit: -1, quota_window: "weekly" } }),
    "pools.chat-completion.deactivation.request_limit: expected an integer of 1 or more, found 0",
    "pools.chat-completion.deactivation.token_limit: expected an integer of 1 or more, found 1.5",
    "pools.chat-completion.deactivation.budget_limit: expected a number of 0 or more, found -1",
    'pools.chat-completion.deactivation.quota_window: unknown value "weekly"; allowed: "monthly", "daily"',
  ],
  [
    pool({ balance_mode: "relativ", provider_deactivation: ["on_auth_failure", "on_outage"], provider_recovery: "no" }),
    'pools.chat-completion.balance_mode: unknown value "relativ", did you mean "relative"? (allowed: "absolute", "relative")',
    'pools.chat-completion.provider_deactivation[1]: unknown value "on_outage", did you mean "on_api_outage"? (allowed: "on_auth_failure", "on_api_outage")',
    'pools.chat-completion.provider_recovery: unknown value "no"; allowed: "on_probe_success", "on_manual"',
  ],
  [pool({ max_attempts: 2 }), 'pools.chat-completion.max_attempts: unknown key, did you mean "retry.max_attempts"?'],
  [
    pool({ model_priority: ["acme.tiny"], provider_priority: ["x"] }),
    'pools.chat-completion.model_priority[0]: no model "acme.tiny"; allowed: "acme.small", "acme.large"',
    'pools.chat-completion.provider_priority[0]: no provider "x"; allowed: "acme.llm.v1"',
  ],
  [
    { pools: { "*": { capability: "chat-completion", models: ["a"] } } },
    "pools.*.capability: cannot apply to all pools: set it for a single pool",
    "pools.*.models: cannot apply to all pools: set it for a single pool",
  ],
  [{ aliases: { a: "a" } }, "aliases.a: points at itself"],
  [
    { ...pool({}), aliases: { a: "chat-compl" } },
    'aliases.a: no pool or model "chat-compl", did you mean "chat-completion"? (allowed: "chat-completion", "acme.small", "acme.large")',
  ],
  [
    { ...pool({}), aliases: { a: "b", b: "chat-completion" } },
    'aliases.a: points at the alias "b": aliases do not chain',
  ],
  [{ aliases: { a: 1 } }, "aliases.a: expected a string, found 1: put it in quotes"],
  [
    { capabilities: ["Legal Review", "generation.text-generation.chat-completion.legal"] },
    'capabilities[0]: A capability is a dotted path of lower-case words, such as "generation.text-generation.poetry": "Legal Review"',
    'capabilities[1]: "generation.text-generation.chat-completion" is a leaf and cannot have child nodes: "generation.text-generation.chat-completion.legal"',
  ],
  [
    { pools: { " a": { models: ["acme.small"] } }, providers },
    'pools." a": a name has 1 to 200 characters, no control characters and no surrounding spaces',
  ],
  [
    { aliases: { "a\nb": "chat-completion" } },
    'aliases."a\\nb": a name has 1 to 200 characters, no control characters and no surrounding spaces',
  ],
];

Deno.test("validate() says what is wrong with models, pools and names", () => {
  for (const [document, ...problems] of malformed) {
    assertEquals(catchProblems(() => validate(document, { knownConnectors: known })), problems);
  }
});
