/** What images, documents and speech cost, by the units that their vendors bill, in headers, records and budgets. */
import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import type { RoutingRecord } from "../../../mod.ts";
import { startTestProxy } from "../../support/proxy.ts";
import { readSums } from "../../support/_spend.ts";
import { json, startUpstream } from "../../support/upstream.ts";

type Json = Readonly<Record<string, unknown>>;

interface Row {
  readonly connector: string;
  readonly capability: string;
  readonly pricing: Json;
  readonly path: string;
  readonly asked: Json;
  readonly answer: Json;
}

const picture = { created: 7, data: [{ b64_json: "AAAA" }] };
const images = {
  ...{ connector: "openai.llm.v1", capability: "text-to-image" },
  ...{ path: "/v1/images/generations", asked: { model: "m", prompt: "A cat" } },
};
const pages = [1, 2, 3].map((index) => ({ index, markdown: `# ${index}` }));
const documents = {
  ...{ connector: "mistral.api.v1", capability: "document-parsing" },
  ...{ path: "/v1/documents/parse", asked: { model: "m", url: "https://example.com/a.pdf" } },
};

const rows: readonly (readonly [name: string, usd: number, row: Row])[] = [
  // 200·5 + 800·8 + 5 000·30 = 1 000 + 6 400 + 150 000
  ["images in tokens", 0.1574, {
    ...images,
    pricing: { input: 5, output: 10, image_input: 8, image_output: 30 },
    answer: {
      ...picture,
      usage: {
        ...{ input_tokens: 1_000, output_tokens: 5_000, total_tokens: 6_000 },
        input_tokens_details: { text_tokens: 200, image_tokens: 800 },
      },
    },
  }],
  // 200·5 + 800·2 + 100·10 + 900·30: cached images, and some text in the output
  ["cached images in tokens", 0.0306, {
    ...images,
    pricing: { input: 5, output: 10, image_input: 8, image_output: 30, cached_input: 1.25, cached_image_input: 2 },
    answer: {
      ...picture,
      usage: {
        ...{ input_tokens: 1_000, output_tokens: 1_000, total_tokens: 2_000 },
        input_tokens_details: {
          ...{ text_tokens: 200, image_tokens: 800, cached_tokens: 800 },
          cached_tokens_details: { image_tokens: 800 },
        },
        output_tokens_details: { text_tokens: 100, image_tokens: 900 },
      },
    },
  }],
  // 1 image · 0.04, and no tokens
  ["images by number", 0.04, { ...images, pricing: { per_image: 0.04 }, answer: picture }],
  // 200 000 000 ticks of 10⁻¹⁰ USD, whatever the price of an image
  ["images at the cost that xAI states", 0.02, {
    ...{ ...images, connector: "xai.grok.v1", pricing: { per_image: 0.5 } },
    answer: { ...picture, usage: { cost_in_usd_ticks: 200_000_000 } },
  }],
  // as stated, although the model has a price
  ["embeddings at the cost that OpenRouter states", 0.0000021, {
    ...{ connector: "openrouter.gateway.v1", capability: "text-embeddings", pricing: { input: 5 } },
    ...{ path: "/v1/embeddings", asked: { model: "m", input: "Hello" } },
    answer: {
      ...{ object: "list", model: "m", data: [{ object: "embedding", index: 0, embedding: [0.5] }] },
      usage: { prompt_tokens: 21, total_tokens: 21, cost: 0.0000021 },
    },
  }],
  // 7 pages · 0.002, as the vendor counts them
  ["pages that the vendor counts", 0.014, {
    ...{ ...documents, pricing: { per_page: 0.002 } },
    answer: { model: "m", pages, usage_info: { pages_processed: 7, doc_size_bytes: 9 } },
  }],
  // 3 pages · 0.002, as they are in the response
  ["pages of the response", 0.006, { ...documents, pricing: { per_page: 0.002 }, answer: { model: "m", pages } }],
];

for (const [name, usd, { connector, capability, pricing, path, asked, answer }] of rows) {
  it(`cost of media: ${name} cost ${usd} USD`, async () => {
    await using upstream = await startUpstream(json(answer));
    await using proxy = await startTestProxy({
      upstreams: {},
      config: {
        providers: { a: { connector, base_url: upstream.url, api_key: "key-of-a-0123456789" } },
        models: { m: { provider: "a", model: "model-of-no-catalogue", capabilities: [capability], pricing } },
        pools: { p: { models: ["m"] } },
        budget: { daily_limit: 1e6 },
      },
    });
    const response = await fetch(`${proxy.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(asked),
    });
    const text = await response.text();
    assertEquals(response.status, 200, text);
    const header = Math.round(Number(response.headers.get("x-mesh-cost-usd")) * 1e9);
    const [record] = proxy.records.filter((one): one is RoutingRecord => one.type === "routing");
    const { budget, metrics } = await readSums(proxy);
    const nanoUsd = Math.round(usd * 1e9);
    assertEquals([header, Math.round(record!.cost_usd! * 1e9), budget, metrics], Array(4).fill(nanoUsd));
  });
}

it("cost of media: speech by the character costs as much as by the million", async () => {
  for (const pricing of [{ per_character: 0.000015 }, { per_million_characters: 15 }]) {
    await using upstream = await startUpstream(json({}, { "content-type": "audio/mpeg" }));
    await using proxy = await startTestProxy({
      upstreams: {},
      config: {
        providers: { a: { connector: "openai.llm.v1", base_url: upstream.url, api_key: "key-of-a-0123456789" } },
        models: { m: { provider: "a", model: "speaker", capabilities: ["text-to-speech"], pricing } },
        pools: { p: { models: ["m"] } },
        budget: { daily_limit: 1e6 },
      },
    });
    const response = await fetch(`${proxy.url}/v1/audio/speech`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "m", voice: "alloy", input: "Hello there" }),
    });
    await response.arrayBuffer();
    assertEquals(response.status, 200);
    // 11 characters · 0.000015
    assertEquals((await readSums(proxy)).budget, 165_000);
  }
});

/** One request for an image, by tokens, under a budget; the largest image has 6 240 tokens: 0.1872 USD at 30. */
async function drawUnder(daily_limit: number) {
  await using upstream = await startUpstream(json(picture));
  const pricing = { input: 5, output: 10, image_output: 30 };
  await using proxy = await startTestProxy({
    upstreams: {},
    config: {
      providers: { a: { connector: "openai.llm.v1", base_url: upstream.url, api_key: "key-of-a-0123456789" } },
      models: { m: { provider: "a", model: "model-of-no-catalogue", capabilities: ["text-to-image"], pricing } },
      pools: { p: { models: ["m"] } },
      budget: { daily_limit },
    },
  });
  const response = await fetch(`${proxy.url}${images.path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(images.asked),
  });
  await response.arrayBuffer();
  return { status: response.status, spent: (await readSums(proxy)).budget };
}

it("cost of media: an image reserves the price of image tokens, and costs it if the vendor states no usage", async () => {
  // with the prompt: 2 tokens · 5
  assertEquals(await drawUnder(0.19), { status: 200, spent: 187_210_000 });
  assertEquals(await drawUnder(0.18), { status: 429, spent: 0 });
});
