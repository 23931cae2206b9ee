/** What batches cost: usages as vendors state them in the lines of results, and the sums at the price of a batch. */
import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import type { RoutingRecord } from "../../../mod.ts";
import { ask, fileForm, objectStage } from "../../support/_objects.ts";
import { readSums } from "../../support/_spend.ts";

type Json = Readonly<Record<string, unknown>>;

const terra = [
  { input: 1, output: 5, cached_input: 0.05, cache_write: 1.25 },
  { input: 2, output: 7.5, cached_input: 0.1, cache_write: 2.5, above_tokens: 272_000 },
];

const rows: readonly (readonly [name: string, usd: number, endpoint: string, pricing: unknown, body: Json])[] = [
  // (10k·1 + 90k·0.05)·0.5 = (10 000 + 4 500)·0.5
  ["cached tokens of the Responses API", 0.00725, "/v1/responses", terra, {
    output: [],
    usage: {
      ...{ input_tokens: 100_000, output_tokens: 0, total_tokens: 100_000 },
      input_tokens_details: { cached_tokens: 90_000 },
    },
  }],
  // (10k·1 + 90k·0.05)·0.5, in the format of chat
  ["cached tokens of chat", 0.00725, "/v1/chat/completions", terra, {
    choices: [],
    usage: {
      ...{ prompt_tokens: 100_000, completion_tokens: 0, total_tokens: 100_000 },
      prompt_tokens_details: { cached_tokens: 90_000 },
    },
  }],
  // (1 000·1 + 100·10)·0.5 + 2 searches · 0.01: the discount is one of tokens
  ["searches", 0.021, "/v1/responses", { input: 1, output: 10, per_search: 0.01 }, {
    output: [1, 2].map((index) => ({ type: "web_search_call", id: `ws_${index}`, action: { type: "search" } })),
    usage: { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 },
  }],
  // 1 000·0.4 + 100·4: a price for batches takes the place of the discount, whatever the line says
  [
    "a price for batches",
    0.0008,
    "/v1/chat/completions",
    [{ input: 1, output: 10 }, { tier: "batch", input: 0.4, output: 4 }, { tier: "priority", input: 2, output: 20 }],
    {
      choices: [],
      service_tier: "priority",
      usage: { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 },
    },
  ],
  // (10k·1 + 100k·40)·0.5 + 100·10·0.5
  ["audio", 2.0055, "/v1/chat/completions", { input: 1, output: 10, audio_input: 40 }, {
    choices: [],
    usage: {
      ...{ prompt_tokens: 110_000, completion_tokens: 100, total_tokens: 110_100 },
      prompt_tokens_details: { audio_tokens: 100_000 },
    },
  }],
  // 2 images · 0.04 · 0.5
  ["images by number", 0.04, "/v1/images/generations", { per_image: 0.04 }, {
    ...{ created: 7, data: [{ b64_json: "AAAA" }, { b64_json: "AAAA" }] },
  }],
  // (200·5 + 5 000·30)·0.5 = 151 000·0.5
  ["images in tokens", 0.0755, "/v1/images/generations", { input: 5, output: 10, image_output: 30 }, {
    ...{ created: 7, data: [{ b64_json: "AAAA" }] },
    usage: { input_tokens: 200, output_tokens: 5_000, total_tokens: 5_200 },
  }],
  // an error costs nothing
  ["an image that was refused", 0, "/v1/images/generations", { per_image: 0.04 }, {
    error: { message: "no", type: "invalid_request_error" },
  }],
  // (1 000·1 + 100·10)·0.5, and nothing for the searches, since no row has a price for them
  ["searches without a price", 0.001, "/v1/responses", { input: 1, output: 10, audio_input: 40 }, {
    output: [{ type: "web_search_call", id: "ws_1", action: { type: "search" } }],
    usage: { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 },
  }],
];

/** Those whose cost is an estimate. */
const estimated = ["searches without a price"];

/** A request of an endpoint. */
function createRequest(endpoint: string): Json {
  if (endpoint.endsWith("responses")) return { model: "chat", input: "Hi" };
  return endpoint.includes("images")
    ? { model: "chat", prompt: "A cat" }
    : { model: "chat", messages: [{ role: "user", content: "Hi" }] };
}

for (const [name, usd, endpoint, pricing, body] of rows) {
  it(`cost of a batch: ${name} costs ${usd} USD, in its record, its budget and the metrics`, async () => {
    const isTier = Array.isArray(pricing) && pricing.some(({ tier }) => tier === "batch");
    await using stage = await objectStage(["a"], {
      model: {
        pricing,
        ...(isTier ? {} : { batch: { cost_discount: 0.5 } }),
        ...(endpoint.includes("images") && { capabilities: ["text-to-image"] }),
      } as object,
      budget: { daily_limit: 1e6 },
    });
    const { proxy, vendors: { a } } = stage;
    const line = JSON.stringify({ custom_id: "r", method: "POST", url: endpoint, body: createRequest(endpoint) });
    const { json: { id: input_file_id } } = await ask(proxy, "files", { body: fileForm(`${line}\n`) });
    const made = await ask(proxy, "batches", { json: { input_file_id, endpoint, completion_window: "24h" } });
    assertEquals(made.status, 200, JSON.stringify(made.json));
    const [batch] = [...a!.batches.values()];
    a!.move(batch!.id, "completed");
    const results = a!.files.get(String(batch!.output_file_id))!;
    const response = { status_code: 200, request_id: "r", body };
    results.text = `${JSON.stringify({ id: "b", custom_id: "r", response, error: null })}\n`;
    await ask(proxy, `batches/${made.json.id}`);
    const [record] = proxy.records.filter((one): one is RoutingRecord => one.type === "routing");
    const sums = await readSums(proxy);
    const nanoUsd = Math.round(usd * 1e9);
    assertEquals([Math.round(record!.cost_usd! * 1e9), sums.budget, sums.metrics], [nanoUsd, nanoUsd, nanoUsd]);
    assertEquals(record!.estimated === true, estimated.includes(name));
  });
}
