/** Moderation end to end: by the proxy, the library and the official client. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, routingOf } from "../../mod.ts";
import { createSdk } from "../support/_dialect_proxy.ts";
import { environment } from "../support/_library.ts";
import { type OperationOptions, operationStage } from "../support/_operations.ts";
import { tally } from "../support/_tuned.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { json, type Script, startUpstream, status } from "../support/upstream.ts";

const names = [
  ...["hate", "hate/threatening", "harassment", "harassment/threatening", "illicit", "illicit/violent", "self-harm"],
  ...["self-harm/intent", "self-harm/instructions", "sexual", "sexual/minors", "violence", "violence/graphic"],
];
const all = <Value>(value: Value) => Object.fromEntries(names.map((name) => [name, value]));
const result = {
  flagged: false,
  categories: all(false),
  category_scores: all(0.1),
  category_applied_input_types: all(["text"]),
};
const fine = json({ id: "modr-1", model: "omni", results: [result] });
/** As Mistral writes it. */
const otherwise = json({
  id: "m-1",
  model: "mistral-moderation",
  results: [{
    categories: { selfharm: true, pii: false },
    category_scores: { selfharm: 0.9, pii: 0.1 },
  }],
});
const stage = (cast: Readonly<Record<string, Script>>, options: Partial<OperationOptions> = {}) =>
  operationStage(cast, { capability: "content-moderation", ...options });
const tenCents = { pricing: { input: 0, per_request: 0.1 } };
const noRetry = { retry: { max_attempts: 0 }, deactivation: { retry_limit: 2 } };

describe("POST /v1/moderations", () => {
  it("answers in OpenAI's shape, after a failover, and is recorded", async () => {
    await using scene = await stage({ a: status(500), b: fine }, { pool: noRetry });
    const { status: code, json: body } = await scene.post("moderations", { input: ["one", "two"] });
    assertEquals(code, 200);
    assertMatchesSchema("CreateModerationResponse", body);
    const { path, json: sent } = scene.upstreams.b!.requests[0]!;
    assertEquals([path, sent()], ["/v1/moderations", { model: "b", input: ["one", "two"] }]);
    const { capability, fallback_chain } = scene.routing;
    assertEquals([capability, fallback_chain.length], ["evaluation.content-moderation", 2]);
    await scene.post("moderations", { input: "one" });
    assertEquals(scene.proxy.mesh.poolStatus().pool!.models[0]!.reason, "retry_limit");
  });

  it("completes answers of vendors that name categories otherwise", async () => {
    await using scene = await stage({ a: otherwise });
    const { json: body } = await scene.post("moderations", { input: "one" });
    assertMatchesSchema("CreateModerationResponse", body);
    const [{ flagged, categories, category_scores }] = body.results;
    assertEquals([flagged, categories["self-harm"], categories.pii, category_scores["self-harm"]], [
      true,
      true,
      false,
      0.9,
    ]);
  });

  it("keeps a budget to the cent, and the vendor's limits, with requests at once", async () => {
    const models = { a: { ...tenCents, limits: { rpm: 2 } }, b: tenCents };
    await using scene = await stage({ a: fine, b: fine }, { models, pool: { budget: { daily_limit: 0.4 } } });
    const ask = () =>
      scene.client.moderations.create({ input: "one" }).then((answer) => routingOf(answer)!.model, ({ code }) => code);
    const answers = await Promise.all(Array.from({ length: 6 }, ask));
    assertEquals(tally(answers), { a: 2, b: 2, no_active_model: 2 });
  });

  it("keeps images from models that see none, and explains it", async () => {
    const models = { a: { features: { vision: false } } };
    await using scene = await stage({ a: fine, b: fine }, { models });
    const input = [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }];
    assertEquals((await scene.post("moderations", { input })).headers.get("x-mesh-model"), "b");
    const { order, excluded } = await scene.client.explain({ input }, { operation: "moderation" });
    assertEquals([order.map(({ model }) => model), excluded], [["b"], [{ model: "a", reason: "features" }]]);
  });

  for (
    const [input, code, param] of [
      [undefined, "missing_required_parameter", "input"],
      ["", "invalid_value", "input"],
      [[], "invalid_value", "input"],
      [5, "invalid_value", "input"],
      [["a", 5], "invalid_value", "input[1]"],
      [[{ type: "text" }], "invalid_value", "input[0]"],
      [[{ type: "image_url", image_url: 1 }], "invalid_value", "input[0]"],
    ]
  ) {
    it(`refuses ${JSON.stringify(input)}`, async () => {
      await using scene = await stage({ a: fine });
      const { status: answered, json: { error } } = await scene.post("moderations", { input });
      assertEquals([answered, error.code, error.param, scene.calls.a], [400, code as string, param as string, 0]);
    });
  }

  it("rotates on a response without results", async () => {
    await using scene = await stage({ a: json({ results: "none" }), b: fine });
    assertEquals((await scene.post("moderations", { input: "one" })).headers.get("x-mesh-model"), "b");
  });
});

describe("Moderation by clients", () => {
  it("is what the openai package asks for without a model", async () => {
    await using scene = await stage({ a: fine });
    const { results } = await createSdk(scene.proxy).moderations.create({ input: "one" });
    assertEquals(results[0]!.flagged, false);
  });

  it("goes to a detected provider's own model", async () => {
    await using upstream = await startUpstream(fine);
    await using client = create("chat-completion", { env: environment({ openai: upstream.url }) });
    await client.moderations.create({ input: "one" });
    assertEquals(upstream.requests[0]!.json().model, "omni-moderation-latest");
  });
});
