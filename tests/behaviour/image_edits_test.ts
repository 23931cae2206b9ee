/** Edits of images end to end: forms over real HTTP, the library and the official client. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { routingOf, UnsupportedRequestError } from "../../mod.ts";
import { findBoundary, readForm } from "../../src/util/multipart.ts";
import { createSdk } from "../support/_dialect_proxy.ts";
import { createForm, drawn, images, imageUsage } from "../support/_images.ts";
import { type OperationOptions, operationStage } from "../support/_operations.ts";
import { tally } from "../support/_tuned.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { type ReceivedRequest, type Script, status } from "../support/upstream.ts";

const stage = (cast: Readonly<Record<string, Script>>, options: Partial<OperationOptions> = {}) =>
  operationStage(cast, { capability: "image-to-image", ...options });

const bytes = (...numbers: number[]) => new Uint8Array(numbers);
const png = (name: string, ...numbers: number[]) => new File([bytes(...numbers)], name, { type: "image/png" });
const prompt = "a red room";
const asForm = (form: FormData): RequestInit => ({ body: form, headers: {} });

/** What a provider was sent. */
function received({ headers, bytes }: ReceivedRequest) {
  const { fields, files } = readForm(new Uint8Array(bytes), findBoundary(headers["content-type"]!)!)!;
  return { fields: Object.fromEntries(fields), files };
}

const room = { field: "image", name: "room.png", type: "image/png", bytes: bytes(1, 2, 3) };

describe("POST /v1/images/edits", () => {
  it("answers in OpenAI's shape, and passes every field and file on", async () => {
    await using scene = await stage({ a: images({ b64_json: drawn }, { usage: imageUsage }) }, {
      capability: "inpainting",
    });
    const form = createForm({ n: "2", mask: png("mask.png", 4), size: "1024x1024" });
    const response = await scene.post("images/edits", {}, asForm(form));
    assertEquals(response.status, 200);
    assertMatchesSchema("ImagesResponse", response.json);
    assertEquals(response.json.data.length, 2);
    const sent = scene.upstreams.a!.requests[0]!;
    assertEquals(sent.path, "/v1/images/edits");
    const { fields, files } = received(sent);
    assertEquals(fields, { model: "a", prompt, n: "2", size: "1024x1024" });
    assertEquals(files, [room, { field: "mask", name: "mask.png", type: "image/png", bytes: bytes(4) }]);
  });

  it("sends the same files to the next model when one fails, and records both", async () => {
    await using scene = await stage({ a: status(503), b: images() }, {
      models: { b: { pricing: { per_image: 0.04 } } },
      pool: { retry: { max_attempts: 0 } },
    });
    const several = { image: undefined, "image[]": [png("1.png", 1), png("2.png", 2)] };
    assertEquals((await scene.post("images/edits", {}, asForm(createForm(several)))).status, 200);
    for (const upstream of Object.values(scene.upstreams)) {
      const { files } = received(upstream.requests[0]!);
      assertEquals(files.map(({ field, name, bytes }) => [field, name, ...bytes]), [
        ["image[]", "1.png", 1],
        ["image[]", "2.png", 2],
      ]);
    }
    const { capability, fallback_chain, cost_usd } = scene.routing;
    assertEquals(capability, "generation.image.image-to-image");
    assertEquals([fallback_chain.map(({ outcome }) => outcome), cost_usd], [["server", "ok"], 0.04]);
  });

  it("is served by models for inpainting, and by none that only make new images", async () => {
    await using inpainting = await stage({ a: images() }, { capability: "inpainting" });
    assertEquals((await inpainting.post("images/edits", {}, asForm(createForm()))).status, 200);
    await using other = await stage({ a: images() }, { capability: "text-to-image" });
    const refused = await other.post("images/edits", {}, asForm(createForm()));
    assertEquals([refused.status, refused.json.error.code], [400, "unsupported_by_pool"]);
  });

  it("sends a mask to models that paint by one", async () => {
    const models = { b: { capabilities: ["image-to-image", "inpainting"] } };
    await using scene = await stage({ a: images(), b: images() }, { models });
    const modelFor = async (form: FormData) =>
      (await scene.post("images/edits", {}, asForm(form))).headers.get("x-mesh-model");
    assertEquals([await modelFor(createForm({ mask: png("mask.png", 4) })), await modelFor(createForm())], ["b", "a"]);
  });

  it("leaves out models for which a file is too large, or that take fewer of them", async () => {
    const models = { a: { constraints: { max_file_size: "2B" } }, b: { constraints: { max_images: 1 } } };
    await using scene = await stage({ a: images(), b: images(), c: images() }, { models });
    const modelFor = async (form: FormData) =>
      (await scene.post("images/edits", {}, asForm(form))).headers.get("x-mesh-model");
    assertEquals(await modelFor(createForm()), "b");
    assertEquals(await modelFor(createForm({ image: [png("1", 1), png("2", 2, 3, 4)] })), "c");
    assertEquals(await modelFor(createForm({ image: png("1", 1) })), "a");
  });

  it("deactivates a model that fails again and again", async () => {
    await using scene = await stage({ a: status(500), b: images() }, {
      pool: { retry: { max_attempts: 0 }, deactivation: { retry_limit: 2 } },
    });
    for (let asked = 0; asked < 4; asked++) await scene.post("images/edits", {}, asForm(createForm()));
    assertEquals(scene.calls, { a: 2, b: 4 });
    assertEquals(scene.proxy.mesh.poolStatus().pool!.models[0]!.reason, "retry_limit");
  });
});

describe("Edits of images under limits", () => {
  it("spend a budget to the cent, and no more, however many come at once", async () => {
    const models = { a: { pricing: { per_image: 0.04 } } };
    await using scene = await stage({ a: images() }, { models, pool: { budget: { daily_limit: 0.3 } } });
    const ask = () =>
      scene.client.images.edit({ image: png("a.png", 1), prompt, n: 2 }).then(() => "ok", ({ code }) => code);
    assertEquals(tally(await Promise.all(Array.from({ length: 8 }, ask))), { ok: 3, budget_exceeded: 5 });
    assertEquals(scene.client.stats().find(({ scope }) => scope === "pool")!.cost_total, 0.24);
  });

  it("count towards what the vendor allows", async () => {
    await using scene = await stage({ a: images(), b: images() }, { models: { a: { limits: { rpm: 2 } } } });
    const ask = async () => routingOf(await scene.client.images.edit({ image: png("a.png", 1), prompt }))!.model;
    assertEquals(tally(await Promise.all(Array.from({ length: 5 }, ask))), { a: 2, b: 3 });
  });

  it("are explained with their files", async () => {
    const models = { a: { constraints: { max_file_size: "2B" } } };
    await using scene = await stage({ a: images(), b: images() }, { models });
    const { order, excluded } = await scene.client.explain({ prompt }, { operation: "image-edit", files: [room] });
    assertEquals([order.map(({ model }) => model), excluded.map(({ model }) => model)], [["b"], ["a"]]);
  });
});

describe("A bad request for an edit", () => {
  const cases: readonly (readonly [fields: Parameters<typeof createForm>[0], code: string, param: string])[] = [
    [{ image: undefined }, "missing_required_parameter", "image"],
    [{ image: undefined, mask: png("mask.png", 1) }, "missing_required_parameter", "image"],
    [{ image: png("empty.png") }, "invalid_value", "image"],
    [{ mask: png("empty.png") }, "invalid_value", "mask"],
    [{ image: "https://images.example/1.png" }, "invalid_value", "image"],
    [{ mask: [png("1.png", 1), png("2.png", 2)] }, "invalid_value", "mask"],
    [{ image: Array.from({ length: 17 }, (_, index) => png(`${index}`, 1)) }, "invalid_value", "image"],
    [{ file: png("1.png", 1) }, "invalid_value", "file"],
    [{ prompt: undefined }, "missing_required_parameter", "prompt"],
    [{ prompt: "" }, "invalid_value", "prompt"],
    [{ n: "many" }, "invalid_value", "n"],
    [{ n: "11" }, "invalid_value", "n"],
    [{ stream: "perhaps" }, "invalid_value", "stream"],
    [{ model: undefined }, "missing_required_parameter", "model"],
  ];
  for (const [fields, code, param] of cases) {
    it(`is refused: ${Object.keys(fields!)} ${JSON.stringify(fields)}`, async () => {
      await using scene = await stage({ a: images() });
      const response = await scene.post("images/edits", {}, asForm(createForm(fields)));
      const { error } = response.json;
      assertMatchesSchema("ErrorResponse", { error });
      assertEquals([response.status, error.code, error.param], [400, code, param]);
      assertEquals(scene.calls.a, 0);
    });
  }

  it("is refused: JSON, a wrong boundary, a form that ends early", async () => {
    await using scene = await stage({ a: images() });
    const ask = async (type: string, body: string) => {
      const { status, json } = await scene.post("images/edits", {}, { body, headers: { "content-type": type } });
      return [status, json.error.code];
    };
    const part = '--b\r\ncontent-disposition: form-data; name="prompt"\r\n\r\nred\r\n';
    assertEquals(await ask("application/json", "{}"), [415, "unsupported_media_type"]);
    assertEquals(await ask("multipart/form-data; boundary=other", `${part}--b--\r\n`), [400, "invalid_value"]);
    assertEquals(await ask("multipart/form-data", `${part}--b--\r\n`), [400, "invalid_value"]);
    assertEquals(await ask("multipart/form-data; boundary=b", part), [400, "invalid_value"]);
    assertEquals(scene.calls.a, 0);
  });

  it("is refused: a body over the limit", async () => {
    await using scene = await stage({ a: images() }, { config: { proxy: { upload_limit: "1000B" } } });
    const form = createForm({ image: png("large.png", ...new Array(1_000).fill(1)) });
    const response = await scene.post("images/edits", {}, asForm(form));
    assertEquals([response.status, response.json.error.code, scene.calls.a], [413, "request_too_large", 0]);
  });

  it("is what a provider says it is, when all say so", async () => {
    await using scene = await stage({ a: status(400) });
    const response = await scene.post("images/edits", {}, asForm(createForm()));
    assertEquals(response.status, 400);
    assertStringIncludes(response.json.error.message, "Scripted 400");
  });
});

describe("client.images.edit", () => {
  it("sends blobs and files, one or several", async () => {
    await using scene = await stage({ a: images() }, { capability: "inpainting" });
    await scene.client.images.edit({ image: new Blob([bytes(1, 2)]), mask: png("mask.png", 3), prompt });
    await scene.client.images.edit({ image: [png("1.png", 1), png("2.png", 2)], prompt });
    const [one, several] = scene.upstreams.a!.requests.map((request) => received(request).files);
    assertEquals(one!.map(({ field, name, type }) => [field, name, type]), [
      ["image", "image", "application/octet-stream"],
      ["mask", "mask.png", "image/png"],
    ]);
    assertEquals(several!.map(({ field, name }) => [field, name]), [["image[]", "1.png"], ["image[]", "2.png"]]);
  });

  it("throws what is wrong with a request", async () => {
    await using scene = await stage({ a: images() });
    const edit = (image: unknown) => scene.client.images.edit({ image: image as Blob, prompt });
    await assertRejects(() => edit(undefined), UnsupportedRequestError, '"image" is missing');
    await assertRejects(() => edit("room.png"), UnsupportedRequestError, '"image" has to be a File, Blob');
    await assertRejects(() => edit(new Blob([])), UnsupportedRequestError, 'The file "image" is empty');
  });
});

describe("The openai package", () => {
  it("edits one image, and several", async () => {
    await using scene = await stage({ a: images() });
    const { images: sdk } = createSdk(scene.proxy);
    const { data } = await sdk.edit({ model: "pool", prompt, image: png("room.png", 1, 2, 3), n: 2 });
    assertEquals(data!.map((one) => one.b64_json), [drawn, drawn]);
    await sdk.edit({ model: "pool", prompt, image: [png("1.png", 1), png("2.png", 2)] });
    const [one, several] = scene.upstreams.a!.requests.map(received);
    assertEquals([one!.files, one!.fields], [[room], { model: "a", prompt, n: "2" }]);
    assertEquals(several!.files.map(({ bytes }) => [...bytes]), [[1], [2]]);
  });
});
