/** Images by vendors that take other requests than OpenAI's: what they are sent, and what becomes of their responses. */
import { assertEquals } from "@std/assert";
import { create, routingOf } from "../../mod.ts";
import { drawn } from "../support/_images.ts";
import { json, type Script, startUpstream } from "../support/upstream.ts";

const prompt = "a red room";
const image = new File([new Uint8Array([1, 2, 3])], "room.png", { type: "image/png" });
const byBase64 = json({ data: [{ index: 0, b64_json: drawn }] });

/** A client of one vendor, and what it sends. */
async function over(connector: string, script: Script, facts: object = {}) {
  const upstream = await startUpstream(script);
  const client = create({
    config: {
      providers: { vendor: { connector, base_url: upstream.url, api_key: "key-of-the-vendor" } },
      models: {
        drawing: { provider: "vendor", model: "m/1", capabilities: ["text-to-image", "image-to-image"], ...facts },
      },
      pools: { pool: { models: ["drawing"], retry: { max_attempts: 0 } } },
    },
  });
  return {
    client,
    sent: () => ({ path: upstream.requests.at(-1)!.path, body: upstream.requests.at(-1)!.json() }),
    get calls() {
      return upstream.calls;
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await upstream.close();
    },
  };
}

Deno.test("Together takes pixels by two members, and has another word for base64", async () => {
  await using vendor = await over("together.api.v1", byBase64);
  const { data, created } = await vendor.client.images.generate({
    prompt,
    n: 1,
    size: "1024x768",
    quality: "high",
    response_format: "b64_json",
  });
  assertEquals([data[0]!.b64_json, Number.isInteger(created)], [drawn, true]);
  assertEquals(vendor.sent(), {
    path: "/v1/images/generations",
    body: { model: "m/1", prompt, n: 1, width: 1024, height: 768, response_format: "base64" },
  });
});

Deno.test("xAI takes a shape in place of a size, and names what it leaves out", async () => {
  await using vendor = await over("xai.grok.v1", json({ data: [{ url: "https://images.example/1.jpg" }] }));
  const ask = async (size: string) => {
    await vendor.client.images.generate({ prompt, size, style: "vivid", response_format: "url" });
    return vendor.sent().body.aspect_ratio;
  };
  assertEquals([await ask("1536x1024"), await ask("1000x3000"), await ask("auto")], ["3:2", undefined, undefined]);
  assertEquals(vendor.sent(), {
    path: "/v1/images/generations",
    body: { model: "m/1", prompt, response_format: "url" },
  });
});

Deno.test("xAI edits an image that is a data URL", async () => {
  await using vendor = await over("xai.grok.v1", byBase64);
  const response = await vendor.client.images.edit({ image, prompt, response_format: "b64_json" });
  assertEquals([response.data[0]!.b64_json, routingOf(response)!.model], [drawn, "drawing"]);
  assertEquals(vendor.sent(), {
    path: "/v1/images/edits",
    body: {
      model: "m/1",
      prompt,
      response_format: "b64_json",
      image: { url: "data:image/png;base64,AQID", type: "image_url" },
    },
  });
});

Deno.test("Cloudflare draws one image by the API of its own", async () => {
  await using vendor = await over("cloudflare.workers-ai.v1", json({ success: true, result: { image: drawn } }));
  const { data } = await vendor.client.images.generate({ prompt, size: "512x512", response_format: "b64_json" });
  assertEquals(data, [{ b64_json: drawn }]);
  assertEquals(vendor.sent(), { path: "/run/m/1", body: { prompt } });
  const refused = await vendor.client.images.generate({ prompt, n: 2 }).then(() => "served", ({ status }) => status);
  assertEquals([refused, vendor.calls], [400, 1]);
});

const gemini = json({
  candidates: [{
    content: {
      parts: [{ text: "Here you are" }, { inlineData: { data: "thought" }, thought: true }, {
        inlineData: { mimeType: "image/png", data: drawn },
      }],
    },
    finishReason: "STOP",
  }],
  usageMetadata: {
    promptTokenCount: 270,
    candidatesTokenCount: 1120,
    thoughtsTokenCount: 30,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: 12 }, { modality: "IMAGE", tokenCount: 258 }],
  },
});

Deno.test("Gemini draws and edits by generateContent, priced by its tokens", async () => {
  await using vendor = await over("google.gemini.v1", gemini, { model: "gemini-3.1-flash-image" });
  const drawing = await vendor.client.images.generate({ prompt, size: "1792x1024", response_format: "b64_json" });
  assertEquals([drawing.data, drawing.usage], [[{ b64_json: drawn }], {
    input_tokens: 270,
    output_tokens: 1150,
    total_tokens: 1420,
    input_tokens_details: { text_tokens: 12, image_tokens: 258 },
  }]);
  assertEquals(routingOf(drawing)!.cost_usd, 0.069135);
  const generationConfig = { responseModalities: ["IMAGE"] };
  const path = "/v1/models/gemini-3.1-flash-image:generateContent";
  const parts: object[] = [{ text: prompt }];
  assertEquals(vendor.sent(), { path, body: { contents: [{ role: "user", parts }], generationConfig } });
  await vendor.client.images.edit({ image: [image], prompt, size: "1024x1024" });
  assertEquals(vendor.sent().body, {
    contents: [{ role: "user", parts: [...parts, { inlineData: { mimeType: "image/png", data: "AQID" } }] }],
    generationConfig: { ...generationConfig, imageConfig: { aspectRatio: "1:1" } },
  });
});

Deno.test("Gemini has no images where it stopped, and its response is an empty one", async () => {
  const stopped = json({ candidates: [{ finishReason: "IMAGE_SAFETY" }], usageMetadata: { promptTokenCount: 5 } });
  await using vendor = await over("google.gemini.v1", stopped, { model: "gemini-3.1-flash-image" });
  assertEquals((await vendor.client.images.generate({ prompt })).data, []);
});
