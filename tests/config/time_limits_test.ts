/** Limits of streams that cannot act where they are, and values that are refused. */
import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { validate } from "../../src/config/build/validate.ts";
import { ConfigError } from "../../src/errors.ts";
import { common, known, listWarnings, models, pool, providers } from "./_contradictions.ts";

const deadline = { proxy: { request_timeout: "30s" } };
const own = (execution: object, more: object = {}) =>
  pool({}, { providers: { ...providers, "acme.llm.v1": { execution } }, ...more });
const ofAcme = "providers.acme.llm.v1.execution";
const silent = { "acme.llm.v1": { execution: { timeout: "9s" } }, "zeta.api.v1": { execution: { timeout: "8s" } } };
const embedder = { embedder: { provider: "acme.llm.v1", capabilities: ["text-embeddings"] } };

const cases: readonly (readonly [what: string, document: unknown, warnings: readonly string[]])[] = [
  ["says nothing of limits that act", own({ first_token_timeout: "20s", timeout: "20s" }), []],
  ["says nothing of a limit of the pool that acts", pool({ first_token_timeout: "29s" }, deadline), []],
  [
    "names the deadline that comes first",
    pool({ first_token_timeout: "30s" }, deadline),
    ['pools.mine.first_token_timeout: has no effect: a request ends after 30s ("proxy.request_timeout")'],
  ],
  [
    "knows the deadline that holds unless configured",
    own({ first_token_timeout: "11m" }),
    [`${ofAcme}.first_token_timeout: has no effect: a request ends after 10m ("proxy.request_timeout")`],
  ],
  [
    "names the silence that comes first",
    own({ first_token_timeout: "21s", timeout: "20s" }),
    [`${ofAcme}.first_token_timeout: has no effect: "execution.timeout" limits the silence before to 20s`],
  ],
  [
    "knows that of every provider of a pool",
    pool({ first_token_timeout: "10s" }, { providers: { ...providers, ...silent } }),
    [
      "pools.mine.first_token_timeout: has no effect: each provider of the pool has a shorter " +
      '"execution.timeout", which limits the silence before',
    ],
  ],
  [
    "says nothing where one of them has none",
    pool({ first_token_timeout: "9500ms" }, { providers: { ...providers, "acme.llm.v1": silent["acme.llm.v1"] } }),
    [],
  ],
  [
    "names the settings of all pools that take precedence over a provider's",
    {
      ...own({ first_token_timeout: "20s" }) as object,
      pools: { "*": { first_token_timeout: "9s" }, mine: { models: ["fast", "slow"] } },
    },
    [`${ofAcme}.first_token_timeout: has no effect: "pools.*.first_token_timeout" takes precedence`],
  ],
  [
    "knows that embeddings are not streamed",
    {
      providers,
      models: { ...models, ...embedder },
      pools: { mine: { models: ["fast", "slow"] }, vectors: { models: ["embedder"], first_token_timeout: "9s" } },
    },
    ["pools.vectors.first_token_timeout: has no effect: no model of the pool streams"],
  ],
  [
    "knows that a provider of embeddings streams no text",
    {
      providers: {
        ...providers,
        vectors: { connector: "acme.llm.v1", discovery: { enumerate_models: false }, execution: { min_rate: 5 } },
      },
      models: { ...models, embedder: { provider: "vectors", capabilities: ["text-embeddings"] } },
      pools: { mine: { models: ["fast", "slow"] }, vectors: { models: ["embedder"] } },
    },
    ["providers.vectors.execution.min_rate: has no effect: no model of the provider streams text"],
  ],
  ["says nothing of a minimum rate that acts", own({ min_rate: 0.5 }), []],
  ["says nothing of all pools where one streams", common({ first_token_timeout: "9s" }), []],
];

describe("The configuration of limits of streams", () => {
  for (const [what, document, warnings] of cases) {
    it(what, () => assertEquals(listWarnings(document), [...warnings]));
  }

  for (const value of ["0s", 5, "soon", -1, true]) {
    it(`refuses first_token_timeout: ${value}, with its path`, () => {
      for (
        const [document, path] of [
          [pool({ first_token_timeout: value }), "pools.mine.first_token_timeout"],
          [own({ first_token_timeout: value }), `${ofAcme}.first_token_timeout`],
        ] as const
      ) {
        const error = assertThrows(() => validate(document, { knownConnectors: known }), ConfigError);
        assertEquals(error.problems.map((problem) => problem.path), [path]);
      }
    });
  }

  for (const value of [0, -1, "fast", "5s"]) {
    it(`refuses min_rate: ${value}, with its path`, () => {
      const error = assertThrows(() => validate(own({ min_rate: value }), { knownConnectors: known }), ConfigError);
      assertEquals(error.problems.map((problem) => problem.path), [`${ofAcme}.min_rate`]);
    });
  }
});
