/** Web search end to end: by the proxy and the library. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, routingOf, UnsupportedRequestError } from "../../mod.ts";
import { environment, toVendorKey } from "../support/_library.ts";
import { type OperationOptions, operationStage } from "../support/_operations.ts";
import { tally } from "../support/_tuned.ts";
import { html200, json, type Script, startUpstream, status } from "../support/upstream.ts";

const pages = ["a", "b", "c"].map((name) => ({
  title: `Page ${name}`,
  url: `https://${name}.example/`,
  snippet: `About ${name}`,
  score: 0.5,
}));
const fine = json({ object: "search", model: "m", results: pages });
const request = { query: "tallest tower" };
const stage = (cast: Readonly<Record<string, Script>>, options: Partial<OperationOptions> = {}) =>
  operationStage(cast, { capability: "web-search", ...options });
const noRetry = { retry: { max_attempts: 0 }, deactivation: { retry_limit: 2 } };
const perSearch = (usd: number) => ({ pricing: { per_search: usd } });

describe("POST /v1/search", () => {
  it("answers in one shape, and says where it went", async () => {
    await using scene = await stage({ a: fine });
    const response = await scene.post("search", { ...request, max_results: 2 });
    assertEquals(response.json, { object: "search", model: "a", results: pages.slice(0, 2) });
    const { path, json: sent } = scene.upstreams.a!.requests[0]!;
    assertEquals([path, sent()], ["/v1/search", { model: "a", query: "tallest tower", max_results: 2 }]);
    assertEquals([response.status, response.headers.get("x-mesh-model")], [200, "a"]);
  });

  it("leaves out what no two vendors have in common, and names it", async () => {
    await using scene = await stage({ a: fine });
    const { headers } = await scene.post("search", { ...request, country: "us", max_results: null });
    assertEquals(headers.get("x-mesh-dropped-params"), "country");
    assertEquals(scene.upstreams.a!.requests[0]!.json(), { model: "a", query: "tallest tower" });
  });

  it("asks the next model when one fails, records both, and deactivates the one that fails again and again", async () => {
    const models = { a: perSearch(0.1), b: perSearch(0.008) };
    await using scene = await stage({ a: status(503), b: fine }, { models, pool: noRetry });
    for (let asked = 0; asked < 4; asked++) assertEquals((await scene.post("search", request)).status, 200);
    assertEquals(scene.calls, { a: 2, b: 4 });
    assertEquals(scene.proxy.mesh.poolStatus().pool!.models[0]!.reason, "retry_limit");
    const { capability, model, cost_usd } = scene.routing;
    assertEquals([capability, model, cost_usd], ["retrieval.search.web-search", "b", 0.008]);
  });

  it("takes no result for a response", async () => {
    await using scene = await stage({ a: json({ results: [] }), b: fine });
    const response = await scene.post("search", request);
    assertEquals([response.json.results, response.headers.get("x-mesh-model")], [[], "a"]);
  });

  const senseless: readonly Script[] = [
    html200(),
    json({ results: "none" }),
    json({ results: [{ title: "no address" }, 5] }),
    json({ error: { message: "sorry" } }),
  ];
  for (const [index, script] of senseless.entries()) {
    it(`rotates on a response that makes no sense (${index})`, async () => {
      await using scene = await stage({ a: script, b: fine });
      assertEquals((await scene.post("search", request)).headers.get("x-mesh-model"), "b");
    });
  }

  it("costs one search for each ten results, unless the vendor says what it bills", async () => {
    await using scene = await stage({ a: fine }, { models: { a: perSearch(0.002) } });
    const costOf = async (body: object = {}) =>
      (await scene.post("search", { ...request, ...body })).headers.get("x-mesh-cost-usd");
    assertEquals([await costOf(), await costOf({ max_results: 10 })], ["0.002", "0.002"]);
    assertEquals(await costOf({ max_results: 25 }), null, "three searches are an estimate");
    scene.upstreams.a!.follow(json({ results: pages, usage: { searches: 2 } }));
    assertEquals(await costOf({ max_results: 25 }), "0.004");
    scene.upstreams.a!.follow(json({ results: pages, usage: { searches: -1 } }));
    assertEquals(await costOf(), "0.002");
  });

  it("costs its tokens where the vendor counts those", async () => {
    await using scene = await stage({ a: json({ results: pages, usage: { total_tokens: 10_000 } }) }, {
      models: { a: { pricing: { input: 0.05 } } },
    });
    assertEquals((await scene.post("search", request)).headers.get("x-mesh-cost-usd"), "0.0005");
  });
});

describe("Searches under limits", () => {
  it("spend a budget to the cent, and no more, however many come at once", async () => {
    const pool = { budget: { daily_limit: 0.3 } };
    await using scene = await stage({ a: fine }, { models: { a: perSearch(0.1) }, pool });
    const ask = () => scene.client.search.create(request).then(() => "ok", ({ code }) => code);
    assertEquals(tally(await Promise.all(Array.from({ length: 8 }, ask))), { ok: 3, budget_exceeded: 5 });
    assertEquals(scene.client.stats().find(({ scope }) => scope === "pool")!.cost_total, 0.3);
  });

  it("count towards what the vendor allows", async () => {
    await using scene = await stage({ a: fine, b: fine }, { models: { a: { limits: { rpm: 2 } } } });
    const ask = async () => routingOf(await scene.client.search.create(request))!.model;
    assertEquals(tally(await Promise.all(Array.from({ length: 5 }, ask))), { a: 2, b: 3 });
  });

  it("are explained", async () => {
    await using scene = await stage({ a: fine, b: fine }, { models: { a: { parameters: { refuse: ["country"] } } } });
    const { order, excluded } = await scene.client.explain({ ...request, country: "us" }, { operation: "search" });
    assertEquals([order.map(({ model }) => model), excluded], [["b"], [{ model: "a", reason: "features" }]]);
  });
});

describe("A bad search request", () => {
  const cases: readonly (readonly [body: object, code: string, param: string])[] = [
    [{ query: undefined }, "missing_required_parameter", "query"],
    [{ query: " " }, "invalid_value", "query"],
    [{ query: ["tower"] }, "invalid_value", "query"],
    [{ Query: "tower" }, "invalid_value", "Query"],
    [{ max_results: 0 }, "invalid_value", "max_results"],
    [{ max_results: 101 }, "invalid_value", "max_results"],
    [{ max_results: 2.5 }, "invalid_value", "max_results"],
    [{ max_results: "5" }, "invalid_value", "max_results"],
    [{ model: undefined }, "missing_required_parameter", "model"],
    [{ model: "nothing" }, "model_not_found", "model"],
  ];
  for (const [body, code, param] of cases) {
    it(`is refused: ${JSON.stringify(body)}`, async () => {
      await using scene = await stage({ a: fine });
      const { status: answered, json: { error } } = await scene.post("search", { ...request, ...body });
      const expected = code === "model_not_found" ? 404 : 400;
      assertEquals([answered, error.code, error.param, scene.calls.a], [expected, code, param, 0]);
    });
  }

  it("is refused by a pool of other models", async () => {
    await using scene = await stage({ a: fine }, { capability: "reranking" });
    const { status: answered, json: { error } } = await scene.post("search", request);
    assertEquals([answered, error.code], [400, "unsupported_by_pool"]);
  });
});

describe("client.search", () => {
  it("goes to detected vendors by turns, each in its own format, and costs what they charge", async () => {
    await using tavily = await startUpstream(status(432, { json: { detail: { error: "used up" } } }));
    await using serper = await startUpstream(
      json({ organic: [{ title: "T", link: "https://t.example/" }], credits: 2 }),
    );
    await using client = create("web-search", { env: environment({ tavily: tavily.url, serper: serper.url }) });
    const answer = await client.search.create({ query: "tower", max_results: 20 });
    assertEquals(answer, {
      object: "search",
      model: "search",
      results: [{ title: "T", url: "https://t.example/", snippet: "" }],
    });
    const { pool, model, cost_usd, fallback_chain } = routingOf(answer)!;
    assertEquals([pool, model, cost_usd], ["web-search", "serper.search", 0.002]);
    assertEquals(fallback_chain.map(({ outcome }) => outcome), ["quota_exhausted", "ok"]);
    const [first, second] = [tavily.requests[0]!, serper.requests[0]!];
    assertEquals([first.path, first.headers.authorization], ["/v1/search", `Bearer ${toVendorKey("tavily")}`]);
    assertEquals(first.json(), { query: "tower", search_depth: "basic", max_results: 20 });
    assertEquals([second.headers["x-api-key"], second.json()], [toVendorKey("serper"), { q: "tower", num: 20 }]);
  });

  it("throws what is wrong with a request, and stops by its signal", async () => {
    await using scene = await stage({ a: fine });
    const error = await assertRejects(() => scene.client.search.create({ query: "" }), UnsupportedRequestError);
    assertEquals(error.param, "query");
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    assertEquals(await assertRejects(() => scene.client.search.create(request, { signal })), reason);
  });
});
