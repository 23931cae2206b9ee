/** Gemini's dialect to its own models: the client's own bytes there, the provider's own bytes back. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { RoutingRecord } from "../../mod.ts";
import { startDialectProxy, toApiKey } from "../support/_dialect_proxy.ts";
import { speaking } from "../support/_dialects.ts";
import { ask as send, type Asked, hello, parseEvents } from "../support/_gemini_dialect.ts";
import type { TestProxy } from "../support/proxy.ts";
import { json, startUpstream, status, stream, type Upstream } from "../support/upstream.ts";

const noRetry = { pool: { retry: { max_attempts: 0 } } };
const dialect = "gemini";
const ask = (proxy: TestProxy, method: string, asked: Asked = {}) =>
  send({ proxy }, method, { model: "chat", ...asked });

/** A proxy over one of its models. */
function over(
  { url }: Upstream,
  more: { readonly settings?: object; readonly model?: string } = {},
): Promise<TestProxy> {
  return startDialectProxy({ google: { dialect, url, ...more, settings: { ...more.settings } } }, noRetry);
}

function findRouting({ records }: TestProxy): RoutingRecord {
  return records.filter((record): record is RoutingRecord => record.type === "routing").at(-1)!;
}

const answer = {
  candidates: [{
    content: { parts: [{ text: "Hi", thoughtSignature: "c2VhbA==" }], role: "model" },
    finishReason: "STOP",
    avgLogprobs: -0.1,
  }],
  usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10, serviceTier: "standard" },
  modelVersion: "gemini-x",
  responseId: "r1",
};

describe("Gemini's dialect to a model of that dialect", () => {
  it("sends what the client wrote, and nothing of ours; returns what came, byte for byte", async () => {
    await using upstream = await startUpstream(json(answer));
    await using proxy = await over(upstream, { settings: { pricing: { input: 1, output: 1 } } });
    const own = { ...hello, tools: [{ googleSearch: {} }], cachedContent: "cachedContents/1", odd: 12 };
    const response = await ask(proxy, "generateContent?key=of-the-client", {
      body: { ...own, model: "models/chat", mesh: { tags: ["a"] }, api_key: "x", models: ["chat"] },
      headers: { "x-goog-api-key": "of-the-client", authorization: "Bearer of-the-client" },
    });
    assertEquals([response.status, response.text], [200, JSON.stringify(answer)]);
    assertEquals(response.headers.get("x-mesh-dropped-params"), null);
    const { path, headers, json: sent } = upstream.requests[0]!;
    assertEquals([path, sent()], [`/v1/models/${speaking.gemini.model}:generateContent`, own]);
    assertEquals([headers["x-goog-api-key"], headers.authorization], [toApiKey("google"), undefined]);
    const { tokens_in, tokens_out, cost_usd } = findRouting(proxy);
    assertEquals([tokens_in, tokens_out], [7, 3]);
    assertEquals(response.headers.get("x-mesh-cost-usd"), String(cost_usd));
  });

  it("passes events on as they came, as events and as an array, with no end of ours", async () => {
    await using upstream = await startUpstream(speaking.gemini.respond({ thoughts: "Hm", pieces: ["Hello", " you"] }));
    await using proxy = await over(upstream);
    const { text } = await ask(proxy, "streamGenerateContent?alt=sse");
    const events = parseEvents(text);
    assertEquals(events.map(({ candidates: [{ content }] }) => content.parts), [
      ...[[{ text: "Hm", thought: true }], [{ text: "Hello" }], [{ text: " you" }], []],
    ]);
    assertEquals([events.at(-1).candidates[0].finishReason, events.at(-1).responseId], ["STOP", "resp-scripted"]);
    assertEquals(upstream.requests[0]!.path, `/v1/models/${speaking.gemini.model}:streamGenerateContent?alt=sse`);
    assertEquals((await ask(proxy, "streamGenerateContent")).json, events);
    const { tokens_in, tokens_out } = findRouting(proxy);
    assertEquals([tokens_in, tokens_out], [10, 5]);
  });

  it("fails over to and from a model of another dialect before the first content", async () => {
    await using broken = await startUpstream(speaking.gemini.respond({ failsAfter: 0 }));
    await using other = await startUpstream(stream({ pieces: ["Good", " day"] }));
    await using there = await startDialectProxy({
      google: { dialect, url: broken.url },
      other: { dialect: "openai", url: other.url },
    }, noRetry);
    const { text } = await ask(there, "streamGenerateContent?alt=sse");
    assertStringIncludes(text, '"text":" day"');
    assertEquals(text.match(/"finishReason":"STOP"/g)?.length, 1);

    await using down = await startUpstream(status(500));
    await using google = await startUpstream(json(answer));
    await using back = await startDialectProxy({
      other: { dialect: "openai", url: down.url },
      google: { dialect, url: google.url },
    }, noRetry);
    assertEquals((await ask(back, "generateContent")).json, answer);
  });

  it("asks only models of that dialect for what no other supports", async () => {
    await using other = await startUpstream(json({}));
    await using google = await startUpstream(json(answer));
    await using proxy = await startDialectProxy({
      other: { dialect: "openai", url: other.url },
      google: { dialect, url: google.url },
    }, noRetry);
    const body = { ...hello, tools: [{ urlContext: {} }] };
    const { headers, json: given } = await ask(proxy, "generateContent", { body });
    assertEquals([headers.get("x-mesh-model"), given, other.calls], ["google", answer, 0]);
  });

  it("ends a stream that breaks midway, or ends without a finishReason, with its error", async () => {
    const scripts = [
      speaking.gemini.respond({ failsAfter: 2 }),
      speaking.gemini.respond({ cut: { after: 2, how: "end" } }),
    ];
    for (const script of scripts) {
      await using upstream = await startUpstream(script);
      await using proxy = await over(upstream);
      const events = parseEvents((await ask(proxy, "streamGenerateContent?alt=sse")).text);
      assertEquals([events.length, events.at(-1).error.code], [3, 502]);
    }
  });

  it("leaves out what other models bound to their calls, and fills in what a newer model demands", async () => {
    await using upstream = await startUpstream(json(answer));
    const call = (signature?: string) => ({
      functionCall: { name: "f", args: {} },
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    });
    const result = { functionResponse: { name: "f", response: {} } };
    const conversation = (signature?: string) => [
      ...hello.contents,
      { role: "model", parts: [call("c2VhbA=="), call()] },
      { role: "user", parts: [result, result] },
      { role: "model", parts: [call(signature)] },
      { role: "user", parts: [result] },
    ];
    const foreign = btoa(JSON.stringify({ mesh: { acme: { seal: 1 } } }));
    const sentTo = async (model: string, body: object) => {
      await using proxy = await over(upstream, { model });
      assertEquals((await ask(proxy, "generateContent", { body })).status, 200);
      return upstream.requests.at(-1)!.json();
    };
    assertEquals(await sentTo("gemini-2.5-flash", { contents: conversation(foreign) }), { contents: conversation() });
    assertEquals(await sentTo("gemini-3-pro-preview", { contents: conversation(foreign), odd: 1 }), {
      contents: conversation("skip_thought_signature_validator"),
      odd: 1,
    });
  });

  it("embeds in its own format, one or several, with the model that is asked", async () => {
    const single = { embedding: { values: [1, 2] }, usageMetadata: { promptTokenCount: 3 } };
    const several = { embeddings: [{ values: [1] }, { values: [2] }] };
    await using upstream = await startUpstream([json(single), json(several)]);
    await using proxy = await over(upstream, {
      model: "gemini-embedding-001",
      settings: { capabilities: ["text-embeddings"] },
    });
    const content = { parts: [{ text: "red" }] };
    const body = { content, taskType: "CLUSTERING", outputDimensionality: 2 };
    assertEquals((await ask(proxy, "embedContent", { body })).json, single);
    const requests = [{ model: "models/chat", content, title: "T" }, { content }];
    assertEquals((await ask(proxy, "batchEmbedContents", { body: { requests } })).json, several);
    const [one, many] = upstream.requests;
    assertEquals([one!.path, one!.json()], ["/v1/models/gemini-embedding-001:embedContent", body]);
    const named = { model: "models/gemini-embedding-001" };
    assertEquals([many!.path, many!.json()], ["/v1/models/gemini-embedding-001:batchEmbedContents", {
      requests: [{ ...named, content, title: "T" }, { ...named, content }],
    }]);
  });
});
