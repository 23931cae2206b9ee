/** Embeddings in the cache: input by input, in one embedding space per response. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { RoutingRecord } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { base64OfFloats, floatsOfBase64 } from "../../src/util/float_base64.ts";
import type { Json } from "../support/_dialects.ts";
import { becomes, until } from "../support/patience.ts";
import { startTestProxy } from "../support/proxy.ts";
import { type Behaviour, Gate, json, startUpstream, status } from "../support/upstream.ts";

type Input = string | readonly number[];

/** The vector of an input: its length, and what a model adds. */
const vector = (input: Input, by = 0, dimensions = 2) => [input.length, ...Array(dimensions - 1).fill(by)];

/** A model that counts one token for each input. */
function embed(by = 0): Behaviour {
  return {
    play(exchange) {
      const { input, dimensions, encoding_format: format, model } = exchange.request.json() as {
        readonly input: Input | readonly Input[];
        readonly dimensions?: number;
        readonly encoding_format?: string;
        readonly model: string;
      };
      const isOne = typeof input === "string" || typeof input[0] === "number";
      const inputs = (isOne ? [input] : input) as readonly Input[];
      const data = inputs.map((item, index) => {
        const floats = vector(item, by, dimensions);
        return { object: "embedding", index, embedding: format === "base64" ? base64OfFloats(floats) : floats };
      });
      const usage = { prompt_tokens: inputs.length, total_tokens: inputs.length };
      return json({ object: "list", data, model, usage }).play(exchange);
    },
  };
}

/** A proxy with models for embeddings, one for each provider. */
async function open(
  providers: Readonly<Record<string, Behaviour>> = { a: embed() },
  { model = {}, cache = {}, pool = {} }: {
    /** Further settings of the models, or of each. */
    readonly model?: Json | ((name: string) => Json);
    readonly cache?: Json;
    readonly pool?: Json;
  } = {},
) {
  const names = Object.keys(providers);
  const upstreams = await Promise.all(names.map((name) => startUpstream(providers[name]!)));
  const models = Object.fromEntries(names.map((name) => [name, {
    provider: name,
    capabilities: ["text-embeddings"],
    pricing: { input: 1_000_000 }, // a dollar a token
    ...(typeof model === "function" ? model(name) : model),
  }]));
  const clock = fakeClock({ skipSleeps: true });
  const proxy = await startTestProxy({
    clock,
    upstreams: Object.fromEntries(names.map((name, index) => [name, upstreams[index]!.url])),
    pool: { retry: { max_attempts: 0 }, ...pool },
    config: { models, cache },
  });
  return {
    ...proxy,
    clock,
    upstreams,
    /** The inputs that providers were asked for. */
    sent: () => upstreams.flatMap(({ requests }) => requests.map((request) => request.json().input)),
    routing: () => proxy.records.filter((record): record is RoutingRecord => record.type === "routing"),
    async embed(body: Json, headers: Readonly<Record<string, string>> = {}) {
      const response = await fetch(`${proxy.url}/v1/embeddings`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ model: "chat", ...body }),
      });
      const { data = [], usage, ...others } = await response.json();
      const cache = response.headers.get("x-mesh-cache");
      assertEquals(data.map(({ index }: { index: number }) => index), data.map((_: unknown, index: number) => index));
      const vectors = data.map(({ embedding }: { embedding: unknown }) => embedding);
      return { status: response.status, cache, vectors, usage, others, headers: response.headers };
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      for (const upstream of upstreams) await upstream[Symbol.asyncDispose]();
    },
  };
}

const words = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => "w".repeat(from + index + 1));

describe("embeddings in the cache", () => {
  it("are requested for the inputs that it does not have", async () => {
    await using stage = await open();
    const first = await stage.embed({ input: words(0, 60) });
    assertEquals([first.cache, first.usage.prompt_tokens], ["MISS", 60]);
    const mixed = words(0, 100).toReversed();
    const second = await stage.embed({ input: mixed });
    assertEquals(second.vectors, mixed.map((input) => vector(input)));
    assertEquals(stage.sent(), [words(0, 60), words(60, 100).toReversed()]);
    assertEquals(second.usage, { prompt_tokens: 40, total_tokens: 40 });
    assertMatch(second.cache!, /^PARTIAL; age=0; saved=60\b/);
    await becomes(() => stage.routing().length, 2);
    const [, record] = stage.routing();
    assertEquals([record!.tokens_in, record!.cost_usd, Math.round(record!.saved_usd!)], [40, 40, 60]);
    assertEquals(record!.cached, undefined);
  });

  it("are not requested if it has all of them", async () => {
    await using stage = await open();
    await stage.embed({ input: ["a", "bb"] });
    await stage.clock.advance(5_000);
    const { status, cache, vectors, usage, others, headers } = await stage.embed({ input: "bb" });
    assertEquals([status, vectors, others], [200, [vector("bb")], { object: "list", model: "a" }]);
    assertMatch(cache!, /^HIT; age=5; saved=1\.3/);
    assertEquals(usage, { prompt_tokens: 1, total_tokens: 1 }); // as a response that is repeated
    assertEquals([headers.get("x-mesh-model"), headers.get("x-mesh-cost-usd")], ["a", "0"]);
    assertEquals(stage.sent(), [["a", "bb"]]);
    const [, record] = stage.routing();
    assertEquals([record?.cached, record?.cost_usd, record?.attempts, record?.model], [true, 0, 0, "a"]);
  });

  it("may be requested twice in one request, and are sent once", async () => {
    await using stage = await open();
    await stage.embed({ input: ["a"] });
    const { vectors } = await stage.embed({ input: ["bb", "a", "bb", "ccc", "a"] });
    assertEquals(vectors, ["bb", "a", "bb", "ccc", "a"].map((input) => vector(input)));
    assertEquals(stage.sent(), [["a"], ["bb", "ccc"]]);
  });

  it("may be of tokens", async () => {
    await using stage = await open();
    await stage.embed({ input: [1, 2, 3] });
    const { vectors, cache } = await stage.embed({ input: [[7, 8], [1, 2, 3]] });
    assertEquals(vectors, [vector([7, 8]), vector([1, 2, 3])]);
    assertMatch(cache!, /^PARTIAL/);
    await stage.embed({ input: "1,2,3" });
    assertEquals(stage.sent(), [[1, 2, 3], [[7, 8]], "1,2,3"]);
  });

  for (const [stored, requested] of [["float", "base64"], ["base64", "float"]] as const) {
    it(`in the encoding ${stored} are repeated in ${requested}`, async () => {
      await using stage = await open({ a: embed(0.5) });
      await stage.embed({ input: ["a"], encoding_format: stored });
      for (const input of [["a"], ["bb", "a"]]) {
        const { vectors } = await stage.embed({ input, encoding_format: requested });
        const floats = requested === "base64" ? vectors.map(floatsOfBase64) : vectors;
        assertEquals(floats, input.map((item) => vector(item, 0.5)));
      }
      assertEquals(stage.sent(), [["a"], ["bb"]]);
    });
  }

  it("have other dimensions or another type of input in other entries", async () => {
    await using stage = await open();
    await stage.embed({ input: ["a"] });
    const { vectors } = await stage.embed({ input: ["a"], dimensions: 3 });
    assertEquals(vectors, [vector("a", 0, 3)]);
    assertEquals((await stage.embed({ input: ["a"], input_type: "query" })).cache, "MISS");
    assertEquals((await stage.embed({ input: ["a"], dimensions: 3 })).cache?.slice(0, 3), "HIT");
  });

  it("expire, and may be required to be younger", async () => {
    await using stage = await open({ a: embed() }, { cache: { ttl: "1m" } });
    await stage.embed({ input: ["a"] });
    await stage.clock.advance(30_000);
    assertMatch((await stage.embed({ input: ["a"] }, { "x-mesh-cache": "ttl=60" })).cache!, /^HIT; age=30/);
    assertEquals((await stage.embed({ input: ["a"] }, { "x-mesh-cache": "ttl=10" })).cache, "MISS");
    await stage.clock.advance(61_000);
    assertEquals((await stage.embed({ input: ["a"] })).cache, "MISS");
  });

  it("are a miss if only the cache may be asked, and one is not in it", async () => {
    await using stage = await open();
    await stage.embed({ input: ["a"] });
    const only = { "x-mesh-cache": "only" };
    assertEquals((await stage.embed({ input: ["a"] }, only)).status, 200);
    const { status, others } = await stage.embed({ input: ["a", "bb"] }, only);
    assertEquals([status, (others as Json).error], [504, { ...(others as { error: Json }).error, code: "cache_miss" }]);
    assertEquals(stage.sent(), [["a"]]);
  });

  it("of equal requests at once are one upstream call", async () => {
    const gate = new Gate();
    const held: Behaviour = {
      play: async (exchange) => {
        await gate.pass();
        await embed().play(exchange);
      },
    };
    await using stage = await open({ a: held });
    const all = Array.from({ length: 20 }, (_, index) => {
      return stage.embed({ input: ["a", "bb"], encoding_format: index % 2 ? "base64" : "float" });
    });
    await until(() => stage.upstreams[0]!.calls === 2);
    gate.openAll();
    const responses = await Promise.all(all);
    assertEquals(stage.upstreams[0]!.calls, 2, "one for each encoding");
    responses.forEach(({ vectors }, index) => {
      assertEquals(index % 2 ? vectors.map(floatsOfBase64) : vectors, [vector("a"), vector("bb")]);
    });
  });
});

describe("the embedding space of a response", () => {
  const rotating = { strategy: "round-robin" };

  it("is that of all its vectors: models of an unknown one are not mixed", async () => {
    await using stage = await open({ a: embed(1), b: embed(2) }, { pool: rotating });
    await stage.embed({ input: ["a"] });
    for (let round = 0; round < 4; round++) {
      const { vectors } = await stage.embed({ input: ["a", "b".repeat(round + 2)] });
      assertEquals(new Set(vectors.map(([, by]: number[]) => by)).size, 1, JSON.stringify(vectors));
    }
  });

  it("may be that of several models", async () => {
    const model = { embedding_space: "shared" };
    await using stage = await open({ a: embed(1), b: embed(1) }, { pool: rotating, model });
    await stage.embed({ input: ["a"] });
    const { cache } = await stage.embed({ input: ["a", "bb"] });
    assertMatch(cache!, /^PARTIAL/);
    assertEquals(stage.upstreams.map(({ calls }) => calls), [1, 1]);
  });

  it("is another one if no model of it is left: all inputs are requested", async () => {
    const failing = [embed(1), status(500)];
    let calls = 0;
    const a: Behaviour = { play: (exchange) => failing[Math.min(calls++, 1)]!.play(exchange) };
    await using stage = await open({ a, b: embed(2) });
    await stage.embed({ input: ["a"] });
    const { status: code, vectors, cache } = await stage.embed({ input: ["a", "bb"] });
    assertEquals([code, cache], [200, "MISS"]);
    assertEquals(vectors, ["a", "bb"].map((input) => vector(input, 2)));
    assertEquals(stage.upstreams[1]!.requests.map((request) => request.json().input), [["a", "bb"]]);
  });
});
