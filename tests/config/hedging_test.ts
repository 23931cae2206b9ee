/** `pools.<name>.hedge`: invalid values are errors with their path, and settings that cannot act are warnings. */
import { assertEquals } from "@std/assert";
import { MeshConfig } from "../../mod.ts";
import { ConfigError } from "../../src/errors.ts";
import { hedgedOperations } from "../../src/config/schema/_pool_conditions.ts";
import { operations } from "../../src/pipeline/operations/all.ts";

const delay = 'expected a duration above 0 such as "2s", a percentile ("p50", "p90", "p95" or "p99"), or "off", found ';
const share = "expected a number above 0, up to 1, found ";
const oneModel = "hedge: has no effect: the pool has one model, whose provider has one API key";
const never = "hedge: has no effect: requests for images, speech, transcriptions and documents are not hedged";

/** Settings of a pool, and what is found in it. */
const cases: readonly (readonly [pool: object, ...found: string[]])[] = [
  [{ hedge: { after: "0s" } }, `hedge.after: ${delay}"0s"`],
  [{ hedge: { after: "2" } }, `hedge.after: ${delay}"2"`],
  [{ hedge: { after: "p200" } }, `hedge.after: ${delay}"p200"`],
  [{ hedge: { after: 2 } }, "hedge.after: expected a string, found 2: put it in quotes"],
  [{ hedge: { max_share: 0 } }, `hedge.max_share: ${share}0`],
  [{ hedge: { max_share: -0.1 } }, `hedge.max_share: ${share}-0.1`],
  [{ hedge: { max_share: 1.1 } }, `hedge.max_share: ${share}1.1`],
  [{ hedge: { delay: "2s" } }, 'hedge.delay: unknown key; allowed: "after", "max_share"'],
  [{ hedge: true }, "hedge: expected an object, found a boolean"],
  [{ hedge: {} }],
  [{ hedge: { after: "1m30s", max_share: 1 } }],
  [{ hedge: { after: "off" } }],
  [{ hedge: { after: "off", max_share: 0.1 } }, 'hedge.max_share: has no effect while "after" is "off"'],
  [
    { hedge: { after: "p95" }, retry: { scope: "same_model" } },
    'hedge: has no effect while "retry.scope" is "same_model"',
  ],
  [{ hedge: { after: "p95" }, retry: { scope: "same_provider" } }],
  [{ hedge: {}, models: ["chat"] }, oneModel],
  [{ hedge: {}, models: ["several-keys"] }],
  [{ hedge: {}, models: ["image", "speech"] }, never],
  [{ hedge: {}, models: ["image", "chat", "other"] }],
  [{ hedge: {}, models: undefined, capability: "text-to-image" }, never],
];

/** A pool of two chat models, with these settings. */
function toDocument(pool: object): Record<string, unknown> {
  const provider = (api_key: unknown) => ({
    connector: "openai.compatible.v1",
    base_url: "http://127.0.0.1:9/v1",
    api_key,
    discovery: { enumerate_models: false },
  });
  const model = (capability: string, provider = "a") => ({ provider, capabilities: [capability] });
  const models = {
    chat: model("chat-completion"),
    other: model("chat-completion"),
    "several-keys": model("chat-completion", "b"),
    image: model("text-to-image"),
    speech: model("text-to-speech"),
  };
  return {
    providers: { a: provider("key-0123456789abcd"), b: provider(["key-0123456789abc1", "key-0123456789abc2"]) },
    models,
    pools: { mine: { models: ["chat", "other"], ...pool }, all: { models: Object.keys(models) } },
  };
}

function listFindings(document: Record<string, unknown>): readonly string[] {
  const findings = () => {
    try {
      return MeshConfig.parse(document).warnings;
    } catch (error) {
      if (ConfigError.isInstance(error)) return error.problems;
      throw error;
    }
  };
  return findings().map(({ path, message }) => `${path}: ${message}`);
}

Deno.test("hedging settings are checked with their path", () => {
  for (const [pool, ...found] of cases) {
    assertEquals(listFindings(toDocument(pool)), found.map((finding) => `pools.mine.${finding}`), JSON.stringify(pool));
  }
});

Deno.test("the check knows which operations are hedged", () => {
  const hedged = [...operations.values()].filter(({ mayHedge }) => mayHedge !== undefined).map(({ name }) => name);
  assertEquals(hedged.toSorted(), hedgedOperations.toSorted());
});
