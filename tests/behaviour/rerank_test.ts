/** Reranking end to end: by the proxy and the library. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, routingOf } from "../../mod.ts";
import { environment, toVendorKey } from "../support/_library.ts";
import { type OperationOptions, operationStage } from "../support/_operations.ts";
import { tally } from "../support/_tuned.ts";
import { json, type Script, startUpstream, status } from "../support/upstream.ts";

const results = [{ index: 0, relevance_score: 0.1 }, { index: 2, relevance_score: 0.9 }, {
  index: 1,
  relevance_score: 0.5,
}];
const fine = json({ results, usage: { total_tokens: 30 } });
const request = { query: "red", documents: ["leaf", { text: "rose", id: 7 }, "ruby"] };
const stage = (cast: Readonly<Record<string, Script>>, options: Partial<OperationOptions> = {}) =>
  operationStage(cast, { capability: "reranking", ...options });
const noRetry = { retry: { max_attempts: 0 }, deactivation: { retry_limit: 2 } };

describe("POST /v1/rerank", () => {
  it("answers best first, after a failover, and is recorded", async () => {
    await using scene = await stage({ a: status(500), b: fine }, { pool: noRetry });
    const { status: code, json: body } = await scene.post("rerank", request);
    assertEquals(code, 200);
    assertEquals(body.results, [results[1], results[2], results[0]]);
    const { path, json: sent } = scene.upstreams.b!.requests[0]!;
    assertEquals([path, sent()], ["/v1/rerank", { model: "b", query: "red", documents: ["leaf", "rose", "ruby"] }]);
    const { capability, fallback_chain, tokens_in } = scene.routing;
    assertEquals([capability, fallback_chain.length, tokens_in], ["retrieval.reranking", 2, 30]);
    await scene.post("rerank", request);
    assertEquals(scene.proxy.mesh.poolStatus().pool!.models[0]!.reason, "retry_limit");
  });

  it("returns no more than asked for, with documents where they are asked for", async () => {
    await using scene = await stage({ a: fine });
    const { json: body } = await scene.post("rerank", { ...request, top_n: 2, return_documents: true });
    assertEquals(body.results, [
      { index: 2, relevance_score: 0.9, document: { text: "ruby" } },
      { index: 1, relevance_score: 0.5, document: { text: "rose" } },
    ]);
    assertEquals(scene.upstreams.a!.requests[0]!.json().return_documents, undefined);
  });

  it("costs its searches: one for each hundred documents, or what the vendor bills", async () => {
    await using scene = await stage({ a: fine }, { models: { a: { pricing: { per_search: 0.002 } } } });
    const documents = Array.from({ length: 101 }, () => "leaf");
    const costOf = async () => (await scene.post("rerank", { ...request, documents })).headers.get("x-mesh-cost-usd");
    assertEquals(await costOf(), "0.004");
    scene.upstreams.a!.follow(json({ results, meta: { billed_units: { search_units: 3 } } }));
    assertEquals(await costOf(), "0.006");
  });

  it("keeps a budget to the cent, and the vendor's limits, with requests at once", async () => {
    const models = { a: { pricing: { per_search: 0.1 }, limits: { rpm: 2 } }, b: { pricing: { per_search: 0.1 } } };
    await using scene = await stage({ a: fine, b: fine }, { models, pool: { budget: { daily_limit: 0.4 } } });
    const ask = () =>
      scene.client.rerank.create(request).then((answer) => routingOf(answer)!.model, ({ code }) => code);
    const answers = await Promise.all(Array.from({ length: 6 }, ask));
    assertEquals(tally(answers), { a: 2, b: 2, no_active_model: 2 });
  });

  it("skips models whose window a document does not fit, and explains it", async () => {
    await using scene = await stage({ a: fine, b: fine }, { models: { a: { constraints: { context_window: 5 } } } });
    const long = { ...request, documents: ["leaf", "a leaf ".repeat(100), "ruby"] };
    const { order, excluded } = await scene.client.explain(long, { operation: "rerank" });
    assertEquals([order.map(({ model }) => model), excluded], [["b"], [{ model: "a", reason: "features" }]]);
  });

  const refused: readonly (readonly [body: object, code: string, param: string])[] = [
    [{ query: undefined }, "missing_required_parameter", "query"],
    [{ query: "" }, "invalid_value", "query"],
    [{ query: 5 }, "invalid_value", "query"],
    [{ documents: undefined }, "missing_required_parameter", "documents"],
    [{ documents: [] }, "invalid_value", "documents"],
    [{ documents: "leaf" }, "invalid_value", "documents"],
    [{ documents: ["leaf", { title: "rose" }] }, "invalid_value", "documents[1]"],
    [{ top_n: 0 }, "invalid_value", "top_n"],
    [{ return_documents: "yes" }, "invalid_value", "return_documents"],
    [{ model: undefined }, "missing_required_parameter", "model"],
  ];
  for (const [body, code, param] of refused) {
    it(`refuses ${JSON.stringify(body)}`, async () => {
      await using scene = await stage({ a: fine });
      const { status: answered, json: { error } } = await scene.post("rerank", { ...request, ...body });
      assertEquals([answered, error.code, error.param, scene.calls.a], [400, code, param, 0]);
    });
  }

  for (
    const broken of [{ results: "none" }, { results: [{ index: 9, relevance_score: 1 }] }, { results: [{ index: 0 }] }]
  ) {
    it(`rotates on ${JSON.stringify(broken)}`, async () => {
      await using scene = await stage({ a: json(broken), b: fine });
      assertEquals((await scene.post("rerank", request)).headers.get("x-mesh-model"), "b");
    });
  }
});

describe("client.rerank", () => {
  it("goes to Cohere's own path, beside its compatibility base", async () => {
    await using upstream = await startUpstream(json({ results, meta: { billed_units: { search_units: 1 } } }));
    const url = upstream.url.replace(/v1$/, "compatibility/v1");
    await using client = create({ env: environment({ cohere: url }) });
    const answer = await client.rerank.create(request);
    assertEquals(answer.results[0]!.index, 2);
    const { path, headers, json: sent } = upstream.requests[0]!;
    assertEquals([path, headers.authorization], ["/v2/rerank", `Bearer ${toVendorKey("cohere")}`]);
    assertEquals([sent().model, routingOf(answer)!.cost_usd], ["rerank-v4.0-fast", 0.002]);
  });
});
