import { assertEquals } from "@std/assert";
import { validate } from "../../../src/config/build/validate.ts";
import { assertLinear } from "../../support/effort.ts";
import {
  type Case,
  common,
  known,
  listWarnings,
  models,
  pool,
  price,
  probed,
  providers,
} from "../../config/_contradictions.ts";
import { catchProblems } from "../../config/_known.ts";

/** Priorities and models outside. */
const outside: readonly Case[] = [
  [
    { providers, models, pools: { mine: { models: ["fast"], model_priority: ["slow", "fast"] } } },
    'pools.mine.model_priority[0]: has no effect: the model "slow" is not in this pool',
    "models.slow: is in none of the pools",
  ],
  [
    { providers, models, pools: { mine: { models: ["fast"], provider_priority: ["zeta", "acme"] } } },
    'pools.mine.provider_priority[0]: has no effect: no model of the provider "zeta" is in this pool',
    "models.slow: is in none of the pools",
  ],
  [
    { providers, models, pools: { "chat-completion": { excluded_providers: ["zeta"], model_priority: ["slow"] } } },
    'pools.chat-completion.model_priority[0]: has no effect: the model "slow" is not in this pool',
    "models.slow: is in none of the pools",
  ],
  [
    // The catalogue's name means the model "fast" here.
    {
      providers,
      models: { fast: { provider: "acme.llm.v1", model: "small" } },
      pools: { "chat-completion": { model_priority: ["acme.small"] } },
    },
  ],
  [
    // Only a provider's defaults are taken in by a capability.
    { providers, pools: { "chat-completion": { model_priority: ["acme.small", "acme.large", "home.x"] } } },
    'pools.chat-completion.model_priority[1]: has no effect: the model "acme.large" is not in this pool',
  ],
  [{ providers, pools: { "chat-completion": { models: ["acme.large"], model_priority: ["acme.large"] } } }],
  [
    {
      providers,
      pools: { "text-embeddings": { model_priority: ["acme.small"], provider_priority: ["acme", "home"] } },
    },
    'pools.text-embeddings.model_priority[0]: has no effect: the model "acme.small" is not in this pool',
    'pools.text-embeddings.provider_priority[0]: has no effect: no model of the provider "acme" is in this pool',
  ],
  [common({ model_priority: ["fast"], provider_priority: ["home"] })],
  [{ providers, models, pools: { "*": {} } }],
  [{ providers, models, pools: { "text-generation": {} } }],
  [{ providers, models, pools: { mine: { models: ["fast"] } }, aliases: { other: "slow" } }],
  [
    {
      providers: { ...providers, "zeta.api.v1": { enabled: false } },
      models,
      pools: { mine: { models: ["fast"], provider_priority: ["zeta"] } },
    },
    'pools.mine.provider_priority[0]: has no effect: no model of the provider "zeta" is in this pool',
  ],
  [
    {
      providers,
      models: { e: { provider: "acme.llm.v1", model: "embed" }, f: { provider: "zeta.api.v1", model: "my-embedder" } },
      pools: { "chat-completion": {} },
    },
    "models.e: is in none of the pools",
    "models.f: is in none of the pools",
  ],
];

Deno.test("a provider that only a probe activates, and that is not probed, is named", () => {
  const health = { interval: "1m", providers: ["acme"] };
  const document = (own: object) => pool({ ...probed, ...own }, { discovery: { health } });
  assertEquals(listWarnings(document({})), [
    'discovery.health.providers: excludes "zeta.api.v1", which the pool "mine" recovers "on_probe_success" only',
  ]);
  assertEquals(listWarnings(document({ recovery: { probe_interval: "1m" } })), []);
  assertEquals(listWarnings(document({ provider_recovery: "on_manual" })), []);
});

Deno.test("a priority of what is outside the pool, and a model in no pool, are named", () => {
  for (const [document, ...lines] of outside) assertEquals(listWarnings(document), lines);
});

/** A document with models that have no price, or part of one. */
function priced(model: object, more: object): unknown {
  return { providers, models: { m: { provider: "zeta.api.v1", ...model } }, ...more };
}

const budget = { daily_limit: 1 };

const unpriced: readonly Case[] = [
  [priced({}, { budget }), 'models.m.pricing: missing: "budget" needs "input", "output"'],
  [priced({ pricing: { input: 1 } }, { budget }), 'models.m.pricing: missing: "budget" needs "output"'],
  [priced({ pricing: { input: 0, output: 0 } }, { budget })],
  [priced({}, { budget: {} })],
  [priced({ provider: "acme.llm.v1", model: "small-20260101" }, { budget })],
  [
    priced({ provider: "acme.llm.v1", model: "large" }, { budget }),
    'models.m.pricing: missing: "budget" needs "output"',
  ],
  [priced({ provider: "acme.llm.v1", model: "large", pricing: { output: 1 } }, { budget })],
  [priced({ provider: "home.local.v1" }, { budget })],
  [
    priced({ capabilities: ["text-to-speech"] }, { budget }),
    'models.m.pricing: missing: "budget" needs a price',
  ],
  [priced({ capabilities: ["text-to-speech"], pricing: { per_minute: 1 } }, { budget })],
  [
    priced({}, { providers: { ...providers, "zeta.api.v1": { budget } } }),
    'models.m.pricing: missing: "providers.zeta.api.v1.budget" needs "input", "output"',
  ],
  [priced({}, { providers: { ...providers, "acme.llm.v1": { budget } } })],
  [
    priced({}, { pools: { "chat-completion": { budget } } }),
    'models.m.pricing: missing: "pools.chat-completion.budget" needs "input", "output"',
  ],
  [
    priced({}, { pools: { a: { models: ["m"], deactivation: { budget_limit: 1 } } } }),
    'models.m.pricing: missing: "pools.a.deactivation.budget_limit" needs "input", "output"',
  ],
  [priced({}, { pools: { "text-embeddings": { budget }, b: { models: ["m"] } } })],
  [
    priced({}, { pools: { "*": { budget } } }),
    'models.m.pricing: missing: "pools.*.budget" needs "input", "output"',
  ],
  [priced({}, { providers: { ...providers, "zeta.api.v1": { enabled: false } }, budget })],
  [
    priced({ pricing: { input: -1 } }, { budget }),
    "models.m.pricing.input: expected a number of 0 or more, found -1",
  ],
];

Deno.test("a configured model without a price under a money limit stops a start", () => {
  for (const [document, ...lines] of unpriced) {
    assertEquals(catchProblems(() => validate(document, { knownConnectors: known })), lines);
  }
});

/** Many models in many pools, each of which prefers the same fifty. */
function crowd(modelCount: number, poolCount: number): Record<string, unknown> {
  const entries = <Entry>(count: number, letter: string, entry: Entry) =>
    Object.fromEntries(Array.from({ length: count }, (_, place) => [`${letter}${place}`, entry]));
  const models = entries(modelCount, "m", { provider: "zeta.api.v1", ...price });
  const pool = { capability: "chat-completion", model_priority: Object.keys(models).slice(0, 50), budget };
  return { providers, models, pools: entries(poolCount, "p", pool), budget };
}

Deno.test("what is said of many models in many pools takes a time in proportion to their number", async () => {
  assertEquals(listWarnings(crowd(1000, 100)), []);
  await assertLinear("models", 500, (count) => listWarnings(crowd(count, 10)));
  await assertLinear("pools", 40, (count) => listWarnings(crowd(60, count)));
});

/** Pools that no model can be in, and endpoints that nothing serves. */
const unserved: readonly Case[] = [
  [
    { providers: { "acme.llm.v1": {} }, pools: { voice: { capability: "text-to-speech" } } },
    'pools.voice: has no model: no enabled provider offers one for "text-to-speech"',
  ],
  [
    { providers: { "acme.llm.v1": { discovery: { enumerate_models: false } } }, pools: { "chat-completion": {} } },
    'pools.chat-completion: has no model: no enabled provider offers one for "chat-completion"',
  ],
  [
    {
      providers: { "acme.llm.v1": {}, "zeta.api.v1": { enabled: false } },
      models,
      pools: { mine: { models: ["slow"] } },
    },
    "pools.mine: has no model: no enabled provider serves those it lists",
    "models.fast: is in none of the pools",
  ],
  [
    { providers, models, pools: { mine: { models: ["slow", "fast"], providers: ["home"] } } },
    "pools.mine: has no model: no enabled provider serves those it lists",
    "models.fast: is in none of the pools",
    "models.slow: is in none of the pools",
  ],
  // a list that is asked for may have any model, and a server's own is known only after the start
  [{ providers: { "acme.llm.v1": { discovery: { enumerate_models: true } } }, pools: { "text-to-speech": {} } }],
  [{ providers: { "home.local.v1": {} }, pools: { "text-to-speech": {} }, proxy: { endpoints: ["audio/speech"] } }],
  // zeta marks no default, so that it offers all of its catalogue
  [{
    providers: { "zeta.api.v1": {} },
    pools: { "chat-completion": { models: ["zeta.small"] }, all: { capability: "chat-completion" } },
  }],
  [
    {
      providers: { "acme.llm.v1": {} },
      proxy: { endpoints: ["chat/completions", "rerank", "models", "files", "embeddings"] },
    },
    'proxy.endpoints[1]: "rerank" is exposed, but no model serves it',
    'proxy.endpoints[3]: "files" is exposed, but no provider supports it',
  ],
  [{ providers: { "acme.llm.v1": {} } }],
  [
    { providers: {}, pools: { "chat-completion": {} } },
    'pools.chat-completion: has no model: no enabled provider offers one for "chat-completion"',
  ],
];

Deno.test("a pool that no model can be in, and an exposed endpoint that nothing serves, are named", () => {
  for (const [document, ...lines] of unserved) assertEquals(listWarnings(document).sort(), lines.toSorted());
});
