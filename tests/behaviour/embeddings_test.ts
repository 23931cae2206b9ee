/** Embeddings end to end: over real HTTP, by the library and by the official client. */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, MeshError, routingOf, UnsupportedRequestError } from "../../mod.ts";
import { environment, fakeClock, toVendorKey } from "../support/_library.ts";
import { createSdk } from "../support/_dialect_proxy.ts";
import { type OperationOptions, operationStage } from "../support/_operations.ts";
import { tally } from "../support/_tuned.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { embeddings, json, type Script, startUpstream, status, type Upstream } from "../support/upstream.ts";

const vector = [0.1, 0.2, 0.3];
/** The same as 32-bit floats, little-endian. */
const encoded = btoa(String.fromCharCode(...new Uint8Array(new Float32Array(vector).buffer)));
const rounded = [...new Float32Array(vector)];
const inBase64 = json({
  object: "list",
  data: [{ object: "embedding", index: 0, embedding: encoded }],
  model: "b64",
  usage: { prompt_tokens: 1, total_tokens: 1 },
});

const stage = (cast: Readonly<Record<string, Script>>, options: Partial<OperationOptions> = {}) =>
  operationStage(cast, { capability: "text-embeddings", ...options });

/** Models whose vectors can be compared. */
const sameSpace = (...names: string[]) => ({
  models: Object.fromEntries(names.map((name) => [name, { embedding_space: "shared", ...tenCents }])),
});
const tenCents = { pricing: { input: 0, per_request: 0.1 } };

describe("POST /v1/embeddings", () => {
  it("answers in OpenAI's shape, passes the request on, and says where it went", async () => {
    await using scene = await stage({ a: embeddings() });
    const response = await scene.post("embeddings", { input: ["red", "green"], user: "u" });
    const { json: body } = response;
    assertEquals(response.status, 200);
    assertMatchesSchema("CreateEmbeddingResponse", body);
    assertEquals(body.data.map((one: { embedding: unknown }) => one.embedding), [vector, vector]);
    const sent = scene.upstreams.a!.requests[0]!;
    assertEquals(sent.path, "/v1/embeddings");
    assertEquals(sent.json(), { input: ["red", "green"], user: "u", model: "a" });
    assertEquals(response.headers.get("x-mesh-model"), "a");
  });

  for (const input of ["red", ["red"], [1, 2, 3], [[1, 2], [3]]]) {
    it(`takes ${JSON.stringify(input)}`, async () => {
      await using scene = await stage({ a: embeddings() });
      const count = Array.isArray(input) && typeof input[0] !== "number" ? input.length : 1;
      // the scripted provider counts list members; tokens of one text are one input
      scene.upstreams.a!.follow(json({
        object: "list",
        data: Array.from({ length: count }, (_, index) => ({ object: "embedding", index, embedding: vector })),
        model: "a",
        usage: { prompt_tokens: 3, total_tokens: 3 },
      }));
      assertEquals((await scene.post("embeddings", { input })).status, 200);
    });
  }

  it("completes what a provider omits, and replaces counts that are not natural numbers", async () => {
    await using scene = await stage({ a: embeddings() });
    const estimate = { prompt_tokens: 1, total_tokens: 1 };
    const usages: readonly (readonly [given: unknown, expected: object])[] = [
      [undefined, estimate],
      [{ prompt_tokens: "1", total_tokens: -1 }, estimate],
      [{ total_tokens: 7 }, { prompt_tokens: 7, total_tokens: 7 }],
    ];
    for (const [usage, expected] of usages) {
      scene.upstreams.a!.follow(json({ model: "a", data: [{ embedding: vector }], usage }));
      const { json: body } = await scene.post("embeddings", { input: "red" });
      assertMatchesSchema("CreateEmbeddingResponse", body);
      assertEquals([body.data[0].embedding, body.usage], [vector, expected]);
    }
  });

  it("writes vectors as asked for, whichever way the provider writes them", async () => {
    await using scene = await stage({ a: embeddings() });
    const first = async (body: object) =>
      (await scene.post("embeddings", { input: "red", ...body })).json.data[0].embedding;
    assertEquals(await first({ encoding_format: "base64" }), encoded);
    scene.upstreams.a!.follow(inBase64);
    assertEquals(await first({}), rounded);
    assertEquals(await first({ encoding_format: "base64" }), encoded);
  });

  it("asks the next model when one fails, and records both", async () => {
    await using scene = await stage({ a: status(503), b: embeddings() }, {
      ...sameSpace("a", "b"),
      pool: { retry: { max_attempts: 0 } },
    });
    const response = await scene.post("embeddings", { input: "red" });
    assertEquals(response.status, 200);
    const { capability, model, fallback_chain, tokens_in, cost_usd } = scene.routing;
    assertEquals(capability, "representation.embeddings.text-embeddings");
    assertEquals([model, fallback_chain.map(({ outcome }) => outcome)], ["b", ["server", "ok"]]);
    assertEquals([tokens_in, cost_usd], [1, 0.1]);
  });

  it("rotates on a response with fewer vectors than inputs", async () => {
    const one = json({ object: "list", data: [{ object: "embedding", index: 0, embedding: vector }], model: "a" });
    await using scene = await stage({ a: one, b: embeddings() }, sameSpace("a", "b"));
    assertEquals((await scene.post("embeddings", { input: ["red", "green"] })).headers.get("x-mesh-model"), "b");
  });

  it("rotates on a vector that cannot be read", async () => {
    const cases: readonly [embedding: unknown, encoding_format: string][] = [
      ["?", "float"],
      ...["float", "base64"].flatMap((format): [unknown, string][] => [
        [[0.5, { toString: null, valueOf: {} }], format],
        [[null], format],
      ]),
    ];
    for (const [embedding, encoding_format] of cases) {
      const broken = json({ object: "list", data: [{ object: "embedding", index: 0, embedding }], model: "a" });
      await using scene = await stage({ a: broken, b: embeddings() }, sameSpace("a", "b"));
      const response = await scene.post("embeddings", { input: "red", encoding_format });
      assertEquals([response.status, response.headers.get("x-mesh-model")], [200, "b"]);
    }
  });

  it("deactivates a model that fails again and again", async () => {
    await using scene = await stage({ a: status(500), b: embeddings() }, {
      ...sameSpace("a", "b"),
      pool: { retry: { max_attempts: 0 }, deactivation: { retry_limit: 2 } },
    });
    for (let asked = 0; asked < 4; asked++) await scene.post("embeddings", { input: "red" });
    assertEquals(scene.calls, { a: 2, b: 4 });
    assertEquals(scene.proxy.mesh.poolStatus().pool!.models[0]!.reason, "retry_limit");
  });
});

describe("Embeddings under limits", () => {
  it("spend a budget to the cent, and no more, however many come at once", async () => {
    await using scene = await stage({ a: embeddings() }, { ...sameSpace("a"), pool: { budget: { daily_limit: 0.3 } } });
    const ask = () => scene.client.embeddings.create({ input: "red" }).then(() => "ok", ({ code }) => code);
    assertEquals(tally(await Promise.all(Array.from({ length: 8 }, ask))), { ok: 3, budget_exceeded: 5 });
    assertEquals(scene.client.stats().find(({ scope }) => scope === "pool")!.cost_total, 0.3);
  });

  it("count towards what the vendor allows", async () => {
    const models = { a: { embedding_space: "s", limits: { rpm: 2 } }, b: { embedding_space: "s" } };
    await using scene = await stage({ a: embeddings(), b: embeddings() }, { models });
    const ask = async () => routingOf(await scene.client.embeddings.create({ input: "red" }))!.model;
    assertEquals(tally(await Promise.all(Array.from({ length: 5 }, ask))), { a: 2, b: 3 });
  });

  it("cost their tokens", async () => {
    await using scene = await stage({ a: embeddings() }, { models: { a: { pricing: { input: 1000 } } } });
    const response = await scene.post("embeddings", { input: ["red", "green"] });
    assertEquals(response.headers.get("x-mesh-cost-usd"), "0.002");
  });
});

describe("Spaces of embeddings", () => {
  const spaces = (a: string, b: string) => ({ models: { a: { embedding_space: a }, b: { embedding_space: b } } });

  it("are never changed by a failover", async () => {
    await using scene = await stage({ a: status(500), b: embeddings() }, spaces("one", "two"));
    assertEquals((await scene.post("embeddings", { input: "red" })).status, 502);
    assertEquals(scene.calls.b, 0);
  });

  it("are chosen by a request's own route", async () => {
    await using scene = await stage({ a: embeddings(), b: embeddings() }, spaces("one", "two"));
    const modelFor = async (mesh: object) =>
      (await scene.post("embeddings", { input: "red", mesh })).headers.get("x-mesh-model");
    assertEquals([await modelFor({ only: ["b"] }), await modelFor({ order: ["b"] })], ["b", "b"]);
    assertEquals([await modelFor({ ignore: ["a"] }), await modelFor({})], ["b", "a"]);
  });

  it("keep their model when a request does not fit it", async () => {
    const models = { a: { embedding_space: "one", constraints: { context_window: 1 } }, b: { embedding_space: "two" } };
    await using scene = await stage({ a: embeddings(), b: embeddings() }, { models });
    const response = await scene.post("embeddings", { input: "a text of more than one token" });
    assertEquals([response.status, response.json.error.code], [400, "unsupported_by_pool"]);
  });

  it("are explained", async () => {
    await using scene = await stage({ a: embeddings(), b: embeddings() }, spaces("one", "two"));
    const { order, excluded } = await scene.client.explain({ input: "red" }, { operation: "embeddings" });
    assertEquals([order.map(({ model }) => model), excluded], [["a"], [{ model: "b", reason: "interchangeable" }]]);
  });

  it("leave a model that takes no dimensions to the others of its space", async () => {
    const models = {
      a: { embedding_space: "s", parameters: { refuse: ["dimensions"] } },
      b: { embedding_space: "s" },
    };
    await using scene = await stage({ a: embeddings(), b: embeddings() }, { models });
    assertEquals((await scene.post("embeddings", { input: "red", dimensions: 2 })).headers.get("x-mesh-model"), "b");
  });
});

describe("A bad embeddings request", () => {
  const cases: readonly (readonly [body: object, code: string, param: string | null])[] = [
    [{}, "missing_required_parameter", "input"],
    [{ input: "" }, "invalid_value", "input"],
    [{ input: [] }, "invalid_value", "input"],
    [{ input: 5 }, "invalid_value", "input"],
    [{ input: ["red", ""] }, "invalid_value", "input[1]"],
    [{ input: ["red", 5] }, "invalid_value", "input[1]"],
    [{ input: [[1], [-2]] }, "invalid_value", "input[1]"],
    [{ input: "red", encoding_format: "hex" }, "invalid_value", "encoding_format"],
    [{ input: "red", dimensions: 0 }, "invalid_value", "dimensions"],
    [{ input: "red", dimensions: "3" }, "invalid_value", "dimensions"],
    [{ Input: "red" }, "invalid_value", "Input"],
    [{ input: "red", model: 5 }, "invalid_value", "model"],
    [{ input: "red", model: undefined }, "missing_required_parameter", "model"],
    [{ input: "red", model: "nothing" }, "model_not_found", "model"],
  ];
  for (const [body, code, param] of cases) {
    it(`is refused: ${JSON.stringify(body)}`, async () => {
      await using scene = await stage({ a: embeddings() });
      const response = await scene.post("embeddings", body);
      const { error } = response.json;
      assertMatchesSchema("ErrorResponse", { error });
      assertEquals([response.status, error.code, error.param], [code === "model_not_found" ? 404 : 400, code, param]);
      assertEquals(scene.calls.a, 0);
    });
  }

  it("is refused by a pool of chat models, and a chat request by one of embedding models", async () => {
    await using scene = await stage({ a: embeddings() });
    const response = await scene.proxy.chat({ model: "pool" });
    assertEquals([response.status, (await response.json()).error.code], [400, "unsupported_by_pool"]);
  });

  it("is what a provider says it is, when all say so", async () => {
    await using scene = await stage({ a: status(400) });
    const response = await scene.post("embeddings", { input: "red" });
    assertEquals(response.status, 400);
    assertStringIncludes(response.json.error.message, "Scripted 400");
  });
});

describe("client.embeddings", () => {
  it("answers by the pool for embeddings of detected providers, beside chat", async () => {
    await using upstream = await startUpstream(embeddings());
    const client = create({ env: environment({ openai: upstream.url }) });
    const answer = await client.embeddings.create({ input: ["red", "green"], dimensions: 3 });
    assertEquals(answer.data.map(({ embedding }) => embedding), [vector, vector]);
    assertEquals(routingOf(answer)!.pool, "text-embeddings");
    const { headers, json } = upstream.requests[0]!;
    assertEquals(headers.authorization, `Bearer ${toVendorKey("openai")}`);
    assertEquals(json().model, "text-embedding-3-small");
    await client.close();
  });

  it("answers for a client that is for chat", async () => {
    await using upstream = await startUpstream(embeddings());
    const client = create("chat-completion", { env: environment({ openai: upstream.url }) });
    assertEquals(routingOf(await client.embeddings.create({ input: "red" }))!.model, "openai.text-embedding-3-small");
    await client.close();
  });

  it("calls middleware with the operation's name", async () => {
    await using scene = await stage({ a: embeddings() });
    const seen: string[] = [];
    const client = create({
      config: {
        providers: { a: { connector: "openai.compatible.v1", base_url: scene.upstreams.a!.url } },
        models: { a: { provider: "a", capabilities: ["text-embeddings"] } },
        pools: { pool: { models: ["a"] } },
      },
      middleware: { beforeRequest: (_request, { operation }) => void seen.push(operation) },
    });
    await client.embeddings.create({ input: "red" });
    assertEquals(seen, ["embeddings"]);
    await client.close();
  });

  it("throws what is wrong with a request, and stops by its signal", async () => {
    await using scene = await stage({ a: embeddings() });
    await assertRejects(
      () => scene.client.embeddings.create({ input: "" }),
      UnsupportedRequestError,
      '"input" must not be empty',
    );
    const reason = new Error("enough");
    const error = await assertRejects(() =>
      scene.client.embeddings.create({ input: "red" }, { signal: AbortSignal.abort(reason) })
    );
    assert(error === reason);
  });
});

describe("Embeddings by Gemini's own API", () => {
  const over = async (
    body: (client: ReturnType<typeof create>, upstream: Upstream) => Promise<void>,
    script: Script,
  ) => {
    await using upstream = await startUpstream(script);
    await using client = create("text-embeddings", {
      env: environment({ gemini: upstream.url }),
      clock: fakeClock({ skipSleeps: true }),
    });
    await body(client, upstream);
  };

  it("are asked for in one batch, and answered in OpenAI's shape", () =>
    over(async (client, upstream) => {
      const answer = await client.embeddings.create({ input: ["red", "green"], dimensions: 2, user: "u" });
      assertMatchesSchema("CreateEmbeddingResponse", answer);
      assertEquals(answer.data.map(({ embedding }) => embedding), [[0.6, 0.8], [0, 1]]);
      const { path, headers, json } = upstream.requests[0]!;
      assertEquals(path, "/v1/models/gemini-embedding-001:batchEmbedContents");
      assertEquals(headers["x-goog-api-key"], toVendorKey("gemini"));
      const part = (text: string) => ({
        model: "models/gemini-embedding-001",
        content: { parts: [{ text }] },
        outputDimensionality: 2,
      });
      assertEquals(json(), { requests: [part("red"), part("green")] });
      assertEquals(routingOf(answer)!.estimated, true);
    }, json({ embeddings: [{ values: [3, 4] }, { values: [0, 2] }] })));

  it("take no tokens", () =>
    over(async (client, upstream) => {
      const error = await assertRejects(() => client.embeddings.create({ input: [1, 2] }), MeshError);
      assertStringIncludes(error.message, "The model accepts strings, not token ids");
      assertEquals(upstream.calls, 0);
    }, json({})));

  it("are none without a vector for each input", () =>
    over(async (client) => {
      const error = await assertRejects(() => client.embeddings.create({ input: ["red", "green"] }), MeshError);
      assertEquals(error.code, "all_attempts_failed");
    }, json({ embeddings: [{ values: [3, 4] }] })));

  it("are none if a vector has other values than numbers", () =>
    over(async (client) => {
      const create = () => client.embeddings.create({ input: "red", dimensions: 2 });
      const error = await assertRejects(create, MeshError);
      assertMatch(error.message, /does not have one vector per input/);
    }, json({ embeddings: [{ values: [3, { toString: null, valueOf: {} }] }] })));
});

describe("The openai package", () => {
  it("gets numbers by its default, which asks for base64", async () => {
    await using scene = await stage({ a: embeddings() });
    const { data } = await createSdk(scene.proxy).embeddings.create({ model: "pool", input: "red" });
    assertEquals(data[0]!.embedding, rounded);
    assertEquals(scene.upstreams.a!.requests[0]!.json().encoding_format, "base64");
  });

  it("gets numbers when it asks for them, of a provider that only writes base64", async () => {
    await using scene = await stage({ a: inBase64 });
    const { data } = await createSdk(scene.proxy).embeddings.create({
      model: "pool",
      input: "red",
      encoding_format: "float",
    });
    assertEquals(data[0]!.embedding, rounded);
  });
});
