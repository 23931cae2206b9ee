/** Document parsing end to end: by the proxy and the library. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, routingOf, UnsupportedRequestError } from "../../mod.ts";
import { findBoundary, readForm } from "../../src/util/multipart.ts";
import { environment, toVendorKey } from "../support/_library.ts";
import { type OperationOptions, operationStage, type Posted } from "../support/_operations.ts";
import { tally } from "../support/_tuned.ts";
import { html200, json, type ReceivedRequest, type Script, startUpstream, status } from "../support/upstream.ts";

const url = "https://papers.example/one.pdf";
const pages = ["# One", "Two"].map((markdown, index) => ({ page: index + 1, markdown }));
const fine = json({ object: "document", model: "m", text: "", pages });
const pdf = new TextEncoder().encode("%PDF-1.7 of a kind");
const stage = (cast: Readonly<Record<string, Script>>, options: Partial<OperationOptions> = {}) =>
  operationStage(cast, { capability: "document-parsing", ...options });
const noRetry = { retry: { max_attempts: 0 }, deactivation: { retry_limit: 2 } };
const perRequest = (usd: number) => ({ pricing: { per_request: usd } });

/** A form of text fields, and files by field. */
function createForm(fields: Readonly<Record<string, string | Blob>>): RequestInit {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string") form.append(name, value);
    else form.append(name, value, "paper.pdf");
  }
  return { headers: {}, body: form };
}

const file = (bytes: Uint8Array<ArrayBuffer> = pdf, type = "application/pdf") => new Blob([bytes], { type });

function formIn({ headers, body }: ReceivedRequest) {
  return readForm(new TextEncoder().encode(body), findBoundary(headers["content-type"] ?? null)!)!;
}

describe("POST /v1/documents/parse", () => {
  it("answers in one shape, and hands an address on", async () => {
    await using scene = await stage({ a: fine });
    const response = await scene.post("documents/parse", { url });
    assertEquals(response.json, { object: "document", model: "a", text: "# One\n\nTwo", pages });
    const { path, json: sent } = scene.upstreams.a!.requests[0]!;
    assertEquals([path, sent()], ["/v1/documents/parse", { model: "a", url }]);
  });

  it("sends a file to every provider in turn, and records them", async () => {
    const models = { a: perRequest(0.1), b: perRequest(0.02) };
    await using scene = await stage({ a: status(503), b: fine }, { models, pool: noRetry });
    const response = await scene.post("documents/parse", {}, createForm({ model: "pool", file: file() }));
    assertEquals([response.status, response.json.pages], [200, pages]);
    for (const [name, { requests }] of Object.entries(scene.upstreams)) {
      const { fields, files } = formIn(requests[0]!);
      assertEquals(fields, [["model", name]]);
      assertEquals(files.map((one) => [one.field, one.name, one.type]), [["file", "paper.pdf", "application/pdf"]]);
      assertEquals(files[0]!.bytes, pdf);
    }
    const { capability, model, fallback_chain, cost_usd } = scene.routing;
    assertEquals(capability, "document-understanding.document-parsing");
    assertEquals([model, fallback_chain.map(({ outcome }) => outcome), cost_usd], ["b", ["server", "ok"], 0.02]);
  });

  const senseless: readonly Script[] = [html200(), json({ pages: "none" }), json({ pages: [{ page: 1 }] })];
  for (const [index, script] of [...senseless, json({ pages: [] })].entries()) {
    it(`rotates on a response without pages (${index})`, async () => {
      await using scene = await stage({ a: script, b: fine }, { pool: noRetry });
      assertEquals((await scene.post("documents/parse", { url })).headers.get("x-mesh-model"), "b");
    });
  }

  it("deactivates a model that fails again and again", async () => {
    await using scene = await stage({ a: status(500), b: fine }, { pool: noRetry });
    for (let asked = 0; asked < 4; asked++) await scene.post("documents/parse", { url });
    assertEquals(scene.calls, { a: 2, b: 4 });
    assertEquals(scene.proxy.mesh.poolStatus().pool!.models[0]!.reason, "retry_limit");
  });

  it("skips models that take no file of that size, and explains it", async () => {
    const models = { a: { constraints: { max_file_size: "3B" } } };
    await using scene = await stage({ a: fine, b: fine }, { models });
    const { headers } = await scene.post("documents/parse", {}, createForm({ model: "pool", file: file() }));
    assertEquals(headers.get("x-mesh-model"), "b");
    assertEquals((await scene.post("documents/parse", { url })).headers.get("x-mesh-model"), "a");
    const { order } = await scene.client.explain({ url }, { operation: "documents" });
    assertEquals(order.map(({ model }) => model), ["a", "b"]);
  });

  it("has no cost where tokens are priced and none are reported", async () => {
    await using scene = await stage({ a: fine }, { models: { a: { pricing: { input: 1 } } } });
    const costOf = async () => (await scene.post("documents/parse", { url })).headers.get("x-mesh-cost-usd");
    assertEquals(await costOf(), null);
    scene.upstreams.a!.follow(json({ pages, usage: { total_tokens: 1500 } }));
    assertEquals(await costOf(), "0.0015");
  });
});

describe("Documents under limits", () => {
  it("spend a budget to the cent, and no more, however many come at once", async () => {
    const pool = { budget: { daily_limit: 0.3 } };
    await using scene = await stage({ a: fine }, { models: { a: perRequest(0.1) }, pool });
    const ask = () => scene.client.documents.parse({ url }).then(() => "ok", ({ code }) => code);
    assertEquals(tally(await Promise.all(Array.from({ length: 8 }, ask))), { ok: 3, budget_exceeded: 5 });
    assertEquals(scene.client.stats().find(({ scope }) => scope === "pool")!.cost_total, 0.3);
  });

  it("count towards what the vendor allows", async () => {
    await using scene = await stage({ a: fine, b: fine }, { models: { a: { limits: { rpm: 2 } } } });
    const ask = async () => routingOf(await scene.client.documents.parse({ url }))!.model;
    assertEquals(tally(await Promise.all(Array.from({ length: 5 }, ask))), { a: 2, b: 3 });
  });
});

describe("A bad request for a document", () => {
  const refused = async (post: (path: string) => Promise<Posted>, expected: readonly [string, string | null]) => {
    const { status: answered, json: { error } } = await post("documents/parse");
    assertEquals([answered, error.code, error.param], [expected[0] === "model_not_found" ? 404 : 400, ...expected]);
  };
  const bodies: readonly (readonly [body: object, code: string, param: string])[] = [
    [{}, "missing_required_parameter", "file"],
    [{ url: 5 }, "invalid_value", "url"],
    [{ url: "" }, "invalid_value", "url"],
    [{ url: "papers.example/one.pdf" }, "invalid_value", "url"],
    [{ url: "file:///etc/passwd" }, "invalid_value", "url"],
    [{ url: "data:application/pdf;base64,AA==" }, "invalid_value", "url"],
    [{ url: "ftp://papers.example/one.pdf" }, "invalid_value", "url"],
    [{ url, Url: url }, "invalid_value", "Url"],
    [{ url, model: undefined }, "missing_required_parameter", "model"],
    [{ url, model: "nothing" }, "model_not_found", "model"],
  ];
  for (const [body, code, param] of bodies) {
    it(`is refused: ${JSON.stringify(body)}`, async () => {
      await using scene = await stage({ a: fine });
      await refused((path) => scene.post(path, body), [code, param]);
      assertEquals(scene.calls.a, 0);
    });
  }

  const forms: Readonly<Record<string, readonly [RequestInit, string, string | null]>> = {
    "no file": [createForm({ model: "pool" }), "missing_required_parameter", "file"],
    "a text for a file": [createForm({ model: "pool", file: "text" }), "missing_required_parameter", "file"],
    "an empty file": [createForm({ model: "pool", file: file(new Uint8Array()) }), "invalid_value", "file"],
    "a file in another field": [createForm({ model: "pool", document: file() }), "invalid_value", "document"],
    "a file and an address": [createForm({ model: "pool", file: file(), url }), "invalid_value", "url"],
    "no model": [createForm({ file: file() }), "missing_required_parameter", "model"],
    "a wrong boundary": [
      { headers: { "content-type": "multipart/form-data; boundary=x" }, body: "--y\r\n" },
      "invalid_value",
      null,
    ],
  };
  for (const [name, [init, code, param]] of Object.entries(forms)) {
    it(`is refused: a form with ${name}`, async () => {
      await using scene = await stage({ a: fine });
      await refused((path) => scene.post(path, {}, init), [code, param]);
      assertEquals(scene.calls.a, 0);
    });
  }

  it("is refused when it is over the limit", async () => {
    await using scene = await stage({ a: fine }, { config: { proxy: { upload_limit: "1KB" } } });
    const { status: answered } = await scene.post(
      "documents/parse",
      {},
      createForm({ file: file(new Uint8Array(2_000)) }),
    );
    assertEquals([answered, scene.calls.a], [413, 0]);
  });
});

describe("client.documents", () => {
  it("goes to Mistral's OCR, a file as a data address", async () => {
    await using upstream = await startUpstream(json({ pages: [{ index: 0, markdown: "# One" }] }));
    await using client = create({ env: environment({ mistral: upstream.url }) });
    const answer = await client.documents.parse({ file: file() });
    assertEquals(answer, {
      object: "document",
      model: "mistral-ocr-latest",
      text: "# One",
      pages: [{ page: 1, markdown: "# One" }],
    });
    await client.documents.parse({ file: file(pdf, "") });
    await client.documents.parse({ file: file(pdf, "image/png") });
    await client.documents.parse({ url });
    await client.documents.parse({ url: "https://papers.example/scan.JPG?size=2" });
    const documents = upstream.requests.map(({ json: sent }) => sent().document);
    const data = `base64,${btoa("%PDF-1.7 of a kind")}`;
    assertEquals(documents, [
      { type: "document_url", document_url: `data:application/pdf;${data}` },
      { type: "document_url", document_url: `data:application/pdf;${data}` },
      { type: "image_url", image_url: `data:image/png;${data}` },
      { type: "document_url", document_url: url },
      { type: "image_url", image_url: "https://papers.example/scan.JPG?size=2" },
    ]);
    const { path, headers } = upstream.requests[0]!;
    assertEquals([path, headers.authorization], ["/v1/ocr", `Bearer ${toVendorKey("mistral")}`]);
  });

  it("goes to Firecrawl with an address alone", async () => {
    await using upstream = await startUpstream(json({ success: true, data: { markdown: "# One" } }));
    await using client = create({ env: environment({ firecrawl: upstream.url }) });
    const answer = await client.documents.parse({ url });
    assertEquals([answer.text, routingOf(answer)!.model], ["# One", "firecrawl.scrape"]);
    assertEquals([upstream.requests[0]!.path, upstream.requests[0]!.json()], ["/v1/scrape", {
      url,
      formats: ["markdown"],
    }]);
    const error = await assertRejects(() => client.documents.parse({ file: file() }), UnsupportedRequestError);
    assertEquals([error.code, upstream.calls], ["unsupported_by_pool", 1]);
  });

  it("throws what is wrong with a request, and stops by its signal", async () => {
    await using scene = await stage({ a: fine });
    await assertRejects(() => scene.client.documents.parse({}), UnsupportedRequestError, "A document is missing");
    await assertRejects(() => scene.client.documents.parse({ file: "x" as unknown as Blob }), UnsupportedRequestError);
    const reason = new Error("enough");
    const signal = AbortSignal.abort(reason);
    assertEquals(await assertRejects(() => scene.client.documents.parse({ url }, { signal })), reason);
  });
});
