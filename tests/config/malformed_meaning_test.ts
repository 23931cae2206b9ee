import { assertEquals } from "@std/assert";
import { acme, describeFile, type MalformedFile } from "./_malformed.ts";

/** Documents whose parts do not go together, or name what there is not. */
const malformed: readonly MalformedFile[] = [
  [
    "what does not exist",
    `${acme}models: { m: { provider: zeta.api.v1, capabilities: [chating] } }
pools:
  one: { models: [acme.smaller], model_priority: [nobody], strategy: cheapest, fallback_strategy: none }
  two: { capability: chatt, providers: [zeta], excluded_providers: [acm], provider_priority: [acme, openai] }
  three:
aliases: { a: four, b: b, c: a }
discovery: { health: { providers: [zeta] }, sync: { providers: [acme, zeta] } }
secrets: { store: vault.kv.v1 }
observability: { routing: [ { connector: mesh.consol.v1 }, { connector: mesh.webhook.v1 } ] }
`,
    'models.m.provider: no provider "zeta.api.v1"; allowed: "acme.llm.v1"',
    'models.m.capabilities[0]: "chating" is not a capability',
    'discovery.sync.providers[1]: no provider "zeta"; allowed: "acme.llm.v1"',
    'discovery.health.providers[0]: no provider "zeta"; allowed: "acme.llm.v1"',
    'pools.one.strategy: no strategy "cheapest" is registered; allowed: "stick-until-failure", "round-robin", "priority-selection"',
    'pools.one.fallback_strategy: no strategy "none" is registered; allowed: "stick-until-failure", "round-robin", "priority-selection"',
    'pools.one.model_priority[0]: no model "nobody"; allowed: "m", "acme.small", "acme.large"',
    'pools.one.models[0]: no model "acme.smaller", did you mean "acme.small"? (allowed: "m", "acme.small", "acme.large")',
    'pools.two.provider_priority[1]: no provider "openai"; allowed: "acme.llm.v1"',
    'pools.two.capability: "chatt" is not a capability',
    'pools.two.providers[0]: no provider "zeta"; allowed: "acme.llm.v1"',
    'pools.two.excluded_providers[0]: no provider "acm", did you mean "acme.llm.v1"? (allowed: "acme.llm.v1")',
    'pools.three: needs "capability" or "models": "three" is not a capability',
    'aliases.a: no pool or model "four"; allowed: "one", "two", "three", "m", "acme.small", "acme.large"',
    "aliases.b: points at itself",
    'aliases.c: points at the alias "a": aliases do not chain',
    'secrets.store: no secret store "vault.kv.v1" is registered; allowed: "mesh.env.v1", "mesh.dotenv.v1"',
    'observability.routing[0].connector: no sink "mesh.consol.v1" is registered, did you mean "mesh.console.v1"? (allowed: "mesh.console.v1", "mesh.webhook.v1")',
  ],
  [
    "twins that differ",
    `providers:
  acme.llm.v1:
    api_key: a
    auth: { api_key: b }
    base_url: https://a.example/v1
    execution.base_url: https://b.example/v1
    batch.supported: true
    infrastructure.batch: false
    files: { upload: true }
    fine_tuning: { supported: true }
    infrastructure.files: false
    infrastructure.fine_tuning: false
    discovery.enumerate_models: false
    catalogue.auto_discover: true
storage: { sync_policy: periodic, sync_interval: 5s, persistence: { sync_policy: immediate, sync_interval: 6s } }
`,
    'providers.acme.llm.v1.execution.base_url: differs from "base_url", which is an alias: set only one of them',
    'providers.acme.llm.v1.auth.api_key: differs from "api_key", which is an alias: set only one of them',
    'providers.acme.llm.v1.catalogue.auto_discover: differs from "discovery.enumerate_models", which is an alias: set only one of them',
    'providers.acme.llm.v1.infrastructure.batch: differs from "batch.supported", which is an alias: set only one of them',
    'providers.acme.llm.v1.infrastructure.files: differs from "files.upload", which is an alias: set only one of them',
    'providers.acme.llm.v1.infrastructure.fine_tuning: differs from "fine_tuning.supported", which is an alias: set only one of them',
    'storage.persistence.sync_policy: differs from "sync_policy", which is an alias: set only one of them',
    'storage.persistence.sync_interval: differs from "sync_interval", which is an alias: set only one of them',
  ],
  [
    "codes in both lists, and no codes",
    `providers:
  acme.llm.v1: { error: { retryable_codes: [500, 503], non_retryable_codes: [503, 500] } }
pools:
  "*": { retry: { retryable_codes: [429], non_retryable_codes: [429] } }
  chat-completion: { retry: { retryable_codes: 429 }, deactivation: { error_codes: [4xx, 1000, 404.5] } }
`,
    "pools.chat-completion.retry.retryable_codes: expected a list, found a number",
    'pools.chat-completion.deactivation.error_codes[0]: expected an integer from 100 to 599, found "4xx"',
    "pools.chat-completion.deactivation.error_codes[1]: expected an integer from 100 to 599, found 1000",
    "pools.chat-completion.deactivation.error_codes[2]: expected an integer from 100 to 599, found 404.5",
    'providers.acme.llm.v1.error.non_retryable_codes: 500, 503 are in "retryable_codes" as well: list each once',
    'pools.*.retry.non_retryable_codes: 429 is in "retryable_codes" as well: list each once',
  ],
  [
    "money without prices",
    `providers:
  acme.llm.v1: {}
  zeta.api.v1: { budget: { daily_limit: 1 } }
models:
  a: { provider: acme.llm.v1, model: unheard-of }
  z: { provider: zeta.api.v1, pricing: { input: 1 } }
pools: { p: { models: [a], budget: { monthly_limit: 5 } } }
`,
    'models.a.pricing: missing: "pools.p.budget" needs "input", "output"',
    'models.z.pricing: missing: "providers.zeta.api.v1.budget" needs "output"',
  ],
  [
    "settings that cannot work together",
    `${acme}pools:
  chat-completion:
    retry: { initial_delay: 20s }
    provider_deactivation: on_api_outage
    provider_recovery: on_probe_success
    deactivation: { maintenance_window: "0 * * * *", maintenance_duration: 2h }
`,
    "pools.chat-completion.deactivation.maintenance_duration: maintenance of 2h lasts until it starts again: it would never end",
    'pools.chat-completion.provider_recovery: "on_probe_success" never occurs: set "recovery.probe_interval" or "discovery.health.interval"',
    'pools.chat-completion.retry.initial_delay: "max_delay" (10s) is less than "initial_delay" (20s)',
  ],
  [
    "capabilities that cannot be added",
    `capabilities: [Legal, chat-completion, legal.contract-review, legal.contract-review.deep, a..b]
`,
    'capabilities[1]: "chat-completion" stands for "generation.text-generation.chat-completion": use another path',
    'capabilities[0]: A capability is a dotted path of lower-case words, such as "generation.text-generation.poetry": "Legal"',
    'capabilities[4]: A capability is a dotted path of lower-case words, such as "generation.text-generation.poetry": "a..b"',
  ],
  [
    "a secret written where a name stands",
    `${acme}pools: { chat-completion: { strategy: sk-proj-abcdefghijklmnop0123456789 } }
aliases: { a: sk-proj-abcdefghijklmnop0123456789 }
`,
    'pools.chat-completion.strategy: no strategy a string is registered; allowed: "stick-until-failure", "round-robin", "priority-selection"',
    'aliases.a: no pool or model a string; allowed: "chat-completion", "acme.small", "acme.large"',
  ],
];

Deno.test("a document whose parts do not go together is refused with everything that is wrong with it", async () => {
  for (const [what, content, ...problems] of malformed) assertEquals(await describeFile(content), problems, what);
});
