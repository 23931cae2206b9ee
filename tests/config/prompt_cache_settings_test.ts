/** Invalid settings of prompt caches, and those that cannot act. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConfigError } from "../../src/errors.ts";
import { MeshConfig } from "../../mod.ts";
import { ModelMesh } from "../../mod.ts";

type Json = Record<string, unknown>;

function document({ pool = {}, provider = {}, model = {}, connector = "openai.llm.v1" }: {
  pool?: Json;
  provider?: Json;
  model?: Json;
  connector?: string;
}): Json {
  return {
    providers: { only: { connector, api_key: "key-0123456789", ...provider } },
    models: { only: { provider: "only", model: "some", capabilities: ["chat-completion"], ...model } },
    pools: { chat: { models: ["only"], ...pool } },
  };
}

/** The problems of a document. */
function findProblems(parts: Parameters<typeof document>[0]): string[] {
  try {
    MeshConfig.parse(document(parts));
    return [];
  } catch (error) {
    assert(ConfigError.isInstance(error));
    return error.problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

/** The warnings of a start. */
async function findWarnings(parts: Parameters<typeof document>[0]): Promise<string[]> {
  const mesh = new ModelMesh();
  const warnings: string[] = [];
  mesh.addSink({
    emit: () => {},
    trace: ({ severity, message }) => severity === "warning" && warnings.push(message),
    flush: () => Promise.resolve(),
  });
  await mesh.initialize(document(parts));
  await mesh.close();
  return warnings.filter((warning) => /affinity|prompt_cache/.test(warning));
}

describe("a setting of prompt caches", () => {
  const invalid: Readonly<Record<string, readonly [parts: Parameters<typeof document>[0], problem: RegExp]>> = {
    "an unknown `by`": [{ pool: { affinity: { by: "user" } } }, /^pools\.chat\.affinity\.by: .*prompt/],
    "a lifetime of 0": [{ pool: { affinity: { ttl: "0s" } } }, /^pools\.chat\.affinity\.ttl: /],
    "a lifetime without a unit": [{ pool: { affinity: { ttl: 600 } } }, /^pools\.chat\.affinity\.ttl: .*600/],
    "a misspelt key": [{ pool: { affinity: { tll: "1m" } } }, /^pools\.chat\.affinity\.tll: .*ttl/],
    "an unknown duration": [
      { provider: { prompt_cache: { auto: true, ttl: "2h" } } },
      /^providers\.only\.prompt_cache\.ttl: .*5m.*1h/,
    ],
    "a mark to fill in": [
      { model: { parameters: { fill: { cache_control: { type: "ephemeral" } } } } },
      /^models\.only\.parameters\.fill\.cache_control: .*prompt_cache: \{auto: true\}/,
    ],
  };
  for (const [what, [parts, problem]] of Object.entries(invalid)) {
    it(`is refused with ${what}`, () => {
      const [found, ...others] = findProblems(parts);
      assertMatch(found!, problem);
      assertEquals(others, []);
    });
  }

  it("that cannot act is a warning with its path", async () => {
    const priced = { pricing: { input: 1, output: 1 } };
    const strategy = { select: () => undefined, score: () => 0 };
    const marks = { connector: "anthropic.claude.v1" };
    assertEquals(await findWarnings({ pool: { affinity: {}, strategy } }), [
      "pools.chat.affinity: has no effect: a strategy of your own selects the model of every request",
    ]);
    assertEquals(await findWarnings({ pool: { affinity: {} }, model: priced }), [
      "pools.chat.affinity: has no effect: no model charges less for input from a prompt cache",
    ]);
    assertEquals(await findWarnings({ connector: "groq.api.v1", provider: { prompt_cache: { auto: true } } }), [
      "providers.only.prompt_cache.auto: has no effect: the vendor takes neither cache marks nor a cache key",
    ]);
    assertEquals(await findWarnings({ provider: { prompt_cache: { auto: true, ttl: "1h" } } }), [
      "providers.only.prompt_cache.ttl: has no effect: the vendor takes no lifetime of its cache",
    ]);
    assertEquals(await findWarnings({ ...marks, provider: { prompt_cache: { ttl: "1h" } } }), [
      'providers.only.prompt_cache.ttl: has no effect without "auto: true"',
    ]);
    assertEquals(await findWarnings({ ...marks, provider: { prompt_cache: { auto: true, ttl: "1h" } } }), []);
    const cached = { pricing: { input: 1, cached_input: 0.1, output: 1 } };
    assertEquals(await findWarnings({ pool: { affinity: {} }, model: cached }), []);
  });
});
