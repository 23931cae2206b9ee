/** Images end to end: over real HTTP, by the library and by the official client. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, routingOf, UnsupportedRequestError } from "../../mod.ts";
import { createSdk } from "../support/_dialect_proxy.ts";
import { drawn, images, imageUsage } from "../support/_images.ts";
import { environment } from "../support/_library.ts";
import { type OperationOptions, operationStage } from "../support/_operations.ts";
import { tally } from "../support/_tuned.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { json, type Script, startUpstream, status } from "../support/upstream.ts";

const stage = (cast: Readonly<Record<string, Script>>, options: Partial<OperationOptions> = {}) =>
  operationStage(cast, { capability: "text-to-image", ...options });

const perImage = { pricing: { per_image: 0.04 } };
const prompt = "a red bicycle";
const byUrl = images({ url: "https://images.example/1.png" });

describe("POST /v1/images/generations", () => {
  it("answers in OpenAI's shape, passes the request on, and says where it went", async () => {
    await using scene = await stage({ a: images({ b64_json: drawn }, { usage: imageUsage }) });
    const response = await scene.post("images/generations", { prompt, n: 2, size: "1024x1024", quality: "low" });
    assertEquals(response.status, 200);
    assertMatchesSchema("ImagesResponse", response.json);
    assertEquals(response.json.data, [{ b64_json: drawn }, { b64_json: drawn }]);
    const sent = scene.upstreams.a!.requests[0]!;
    assertEquals(sent.path, "/v1/images/generations");
    assertEquals(sent.json(), { prompt, n: 2, size: "1024x1024", quality: "low", model: "a" });
    assertEquals(response.headers.get("x-mesh-model"), "a");
  });

  it("completes what a provider leaves out of OpenAI's shape", async () => {
    await using scene = await stage({ a: json({ data: [{ url: null, b64_json: drawn }], object: "list" }) });
    const { json: body } = await scene.post("images/generations", { prompt });
    assertMatchesSchema("ImagesResponse", body);
    assertEquals([body.data, body.created], [[{ b64_json: drawn }], Math.floor(scene.proxy.clock.now() / 1000)]);
  });

  it("asks the next model when one fails, and records both", async () => {
    await using scene = await stage({ a: status(503), b: images() }, {
      models: { a: perImage, b: perImage },
      pool: { retry: { max_attempts: 0 } },
    });
    assertEquals((await scene.post("images/generations", { prompt, n: 3 })).headers.get("x-mesh-cost-usd"), "0.12");
    const { capability, model, fallback_chain, cost_usd, estimated } = scene.routing;
    assertEquals(capability, "generation.image.text-to-image");
    assertEquals([model, fallback_chain.map(({ outcome }) => outcome)], ["b", ["server", "ok"]]);
    assertEquals([cost_usd, estimated], [0.12, undefined]);
  });

  for (
    const [what, broken] of [
      ["no images", json({ created: 1, data: [] })],
      ["something else", json({ created: 1 })],
      ["an image that is none", json({ created: 1, data: [{ revised_prompt: "x" }] })],
    ] as const
  ) {
    it(`rotates on a response with ${what}`, async () => {
      await using scene = await stage({ a: broken, b: images() }, { pool: { retry: { max_attempts: 0 } } });
      assertEquals((await scene.post("images/generations", { prompt })).headers.get("x-mesh-model"), "b");
    });
  }

  it("deactivates a model that fails again and again", async () => {
    await using scene = await stage({ a: status(500), b: images() }, {
      pool: { retry: { max_attempts: 0 }, deactivation: { retry_limit: 2 } },
    });
    for (let asked = 0; asked < 4; asked++) await scene.post("images/generations", { prompt });
    assertEquals(scene.calls, { a: 2, b: 4 });
    assertEquals(scene.proxy.mesh.poolStatus().pool!.models[0]!.reason, "retry_limit");
  });
});

describe("The form of images", () => {
  it("is the one asked for: a provider that chose another has failed", async () => {
    for (const [form, other] of [["url", images()], ["b64_json", byUrl]] as const) {
      await using scene = await stage({ a: other, b: form === "url" ? byUrl : images() }, {
        pool: { retry: { max_attempts: 0 } },
      });
      const { json: body, headers } = await scene.post("images/generations", { prompt, response_format: form });
      assertEquals([headers.get("x-mesh-model"), typeof body.data[0][form]], ["b", "string"]);
    }
  });

  it("is bytes where a provider has a data URL", async () => {
    await using scene = await stage({ a: images({ url: `data:image/png;base64,${drawn}`, revised_prompt: "x" }) });
    const { json: body } = await scene.post("images/generations", { prompt, response_format: "b64_json" });
    assertEquals(body.data, [{ revised_prompt: "x", b64_json: drawn }]);
  });

  it("is not a question for a model with one form, which others are asked in place of", async () => {
    await using upstream = await startUpstream(images());
    const client = create({ env: environment({ openai: upstream.url }) });
    await client.images.generate({ prompt, response_format: "b64_json" });
    assertEquals("response_format" in upstream.requests[0]!.json(), false);
    await assertRejects(
      () => client.images.generate({ prompt, response_format: "url" }),
      UnsupportedRequestError,
      'response_format "url"',
    );
    await client.close();
  });
});

describe("Images under limits", () => {
  it("spend a budget to the cent, and no more, however many come at once", async () => {
    await using scene = await stage({ a: images() }, {
      models: { a: perImage },
      pool: { budget: { daily_limit: 0.3 } },
    });
    const ask = () => scene.client.images.generate({ prompt, n: 2 }).then(() => "ok", ({ code }) => code);
    assertEquals(tally(await Promise.all(Array.from({ length: 8 }, ask))), { ok: 3, budget_exceeded: 5 });
    assertEquals(scene.client.stats().find(({ scope }) => scope === "pool")!.cost_total, 0.24);
  });

  it("reserve as many images as asked for", async () => {
    await using scene = await stage({ a: images() }, {
      models: { a: perImage },
      pool: { budget: { daily_limit: 0.1 } },
    });
    const codeOf = async (n: number) => {
      const { status, json: body } = await scene.post("images/generations", { prompt, n });
      return body.error?.code ?? status;
    };
    assertEquals([await codeOf(3), await codeOf(2)], ["budget_exceeded", 200]);
  });

  it("reserve the tokens that a model may write, and cost those it wrote", async () => {
    const models = { a: { pricing: { input: 5, output: 30 } } };
    const pool = { budget: { daily_limit: 0.15 } };
    await using scene = await stage({ a: images({ b64_json: drawn }, { usage: imageUsage }) }, { models, pool });
    const dear = await scene.post("images/generations", { prompt, quality: "high" });
    assertEquals(dear.json.error.code, "budget_exceeded"); // 4 160 tokens for a square, half as many again
    const cheap = await scene.post("images/generations", { prompt, quality: "low", size: "1024x1024" });
    assertEquals(cheap.headers.get("x-mesh-cost-usd"), "0.0031");
    const { tokens_in, tokens_out } = scene.routing;
    assertEquals([tokens_in, tokens_out], [20, 100]);
  });

  it("are estimated in tokens where a model that is paid by them reports none, or none that can be", async () => {
    for (const usage of [undefined, { input_tokens: -1, output_tokens: 5 }, { input_tokens: 1, output_tokens: 1e12 }]) {
      const models = { a: { pricing: { input: 5, output: 30 } } };
      await using scene = await stage({ a: images({ b64_json: drawn }, { usage }) }, { models });
      await scene.post("images/generations", { prompt, n: 2, quality: "low", size: "1024x1024" });
      const { tokens_out, estimated } = scene.routing;
      assertEquals([tokens_out, estimated], [544, true]);
    }
  });

  it("count towards what the vendor allows", async () => {
    await using scene = await stage({ a: images(), b: images() }, { models: { a: { limits: { rpm: 2 } } } });
    const ask = async () => routingOf(await scene.client.images.generate({ prompt }))!.model;
    assertEquals(tally(await Promise.all(Array.from({ length: 5 }, ask))), { a: 2, b: 3 });
  });

  it("go to a model that takes what is asked", async () => {
    const models = { a: { parameters: { refuse: ["n", "background"], drop: ["style"] } } };
    await using scene = await stage({ a: images(), b: images() }, { models });
    const ask = async (body: object) => (await scene.post("images/generations", { prompt, ...body })).headers;
    assertEquals((await ask({ n: 2 })).get("x-mesh-model"), "b");
    assertEquals((await ask({ background: "transparent" })).get("x-mesh-model"), "b");
    const headers = await ask({ n: 1, style: "vivid" });
    assertEquals([headers.get("x-mesh-model"), headers.get("x-mesh-dropped-params")], ["a", "style"]);
  });

  it("are explained", async () => {
    const models = { a: { parameters: { refuse: ["n"] } } };
    await using scene = await stage({ a: images(), b: images() }, { models });
    const { order, excluded } = await scene.client.explain({ prompt, n: 2 }, { operation: "image" });
    assertEquals([order.map(({ model }) => model), excluded.map(({ model }) => model)], [["b"], ["a"]]);
  });
});

describe("A bad request for images", () => {
  const cases: readonly (readonly [body: object, code: string, param: string | null])[] = [
    [{ prompt: undefined }, "missing_required_parameter", "prompt"],
    [{ prompt: null }, "missing_required_parameter", "prompt"],
    [{ prompt: " " }, "invalid_value", "prompt"],
    [{ prompt: ["red"] }, "invalid_value", "prompt"],
    [{ n: 0 }, "invalid_value", "n"],
    [{ n: 11 }, "invalid_value", "n"],
    [{ n: 1.5 }, "invalid_value", "n"],
    [{ n: "2" }, "invalid_value", "n"],
    [{ size: 1024 }, "invalid_value", "size"],
    [{ quality: true }, "invalid_value", "quality"],
    [{ style: 1 }, "invalid_value", "style"],
    [{ background: {} }, "invalid_value", "background"],
    [{ output_format: [] }, "invalid_value", "output_format"],
    [{ output_compression: 101 }, "invalid_value", "output_compression"],
    [{ response_format: "base64" }, "invalid_value", "response_format"],
    [{ response_format: { type: "text" } }, "invalid_value", "response_format"],
    [{ stream: "yes" }, "invalid_value", "stream"],
    [{ Prompt: "red" }, "invalid_value", "Prompt"],
    [{ model: undefined }, "missing_required_parameter", "model"],
    [{ model: "nothing" }, "model_not_found", "model"],
    [{ stream: true }, "unsupported_by_pool", "model"],
  ];
  for (const [body, code, param] of cases) {
    it(`is refused: ${JSON.stringify(body)}`, async () => {
      await using scene = await stage({ a: images() });
      const response = await scene.post("images/generations", { prompt, ...body });
      const { error } = response.json;
      assertMatchesSchema("ErrorResponse", { error });
      assertEquals([response.status, error.code, error.param], [code === "model_not_found" ? 404 : 400, code, param]);
      assertEquals(scene.calls.a, 0);
    });
  }

  it("is refused by a pool of models that only edit", async () => {
    await using scene = await stage({ a: images() }, { capability: "inpainting" });
    assertEquals((await scene.post("images/generations", { prompt })).json.error.code, "unsupported_by_pool");
  });

  it("is what a provider says it is, when all say so", async () => {
    await using scene = await stage({ a: status(400) });
    const response = await scene.post("images/generations", { prompt });
    assertEquals(response.status, 400);
    assertStringIncludes(response.json.error.message, "Scripted 400");
  });
});

describe("client.images.generate", () => {
  it("answers by the pool for images of detected providers", async () => {
    await using upstream = await startUpstream(images());
    const client = create("chat-completion", { env: environment({ openai: upstream.url }) });
    const answer = await client.images.generate({ prompt });
    assertEquals([answer.data, routingOf(answer)!.pool], [[{ b64_json: drawn }], "text-to-image"]);
    assertEquals(upstream.requests[0]!.path, "/v1/images/generations");
    await client.close();
  });

  it("throws what is wrong with a request, and stops by its signal", async () => {
    await using scene = await stage({ a: images() });
    await assertRejects(() => scene.client.images.generate({ prompt: "" }), UnsupportedRequestError, '"prompt"');
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    assert(await assertRejects(() => scene.client.images.generate({ prompt }, { signal })) === reason);
  });
});

describe("The openai package", () => {
  it("gets images", async () => {
    await using scene = await stage({ a: images({ b64_json: drawn }, { usage: imageUsage }) });
    const { data, usage } = await createSdk(scene.proxy).images.generate({ model: "pool", prompt, n: 2 });
    assertEquals([data!.map((one) => one.b64_json), usage!.output_tokens], [[drawn, drawn], 100]);
  });
});
