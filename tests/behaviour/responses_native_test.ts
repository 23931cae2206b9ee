/** `/v1/responses` to a provider of the Responses API itself: the client's own bytes there, the provider's own bytes back. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { RoutingRecord } from "../../mod.ts";
import { createResponse, eventsText, respondWithResponse } from "../support/_responses_behaviours.ts";
import { parseEvents } from "../support/_responses.ts";
import { startTestProxy, type TestProxy, type TestProxyOptions } from "../support/proxy.ts";
import { ok, respond, type Script, startUpstream, status, stream } from "../support/upstream.ts";

const native = { config: { responses: true } };
const noRetry = { retry: { max_attempts: 0 } };

/** Providers by name; those whose name begins with `n` have the API themselves. */
async function stage(
  cast: Readonly<Record<string, Script>>,
  { models = {}, ...options }: Partial<TestProxyOptions> & { readonly models?: Readonly<Record<string, object>> } = {},
) {
  const names = Object.keys(cast);
  const upstreams = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await startUpstream(cast[name]!)] as const)),
  );
  const perName = (make: (name: string) => object) => Object.fromEntries(names.map((name) => [name, make(name)]));
  const proxy = await startTestProxy({
    upstreams: {},
    ...options,
    config: {
      providers: perName((name) => ({
        connector: "openai.compatible.v1",
        base_url: upstreams[name]!.url,
        api_key: `key-of-${name}-0123456789`,
        ...(name.startsWith("n") ? native : {}),
      })),
      models: perName((name) => ({ provider: name, capabilities: ["chat-completion"], ...models[name] })),
      pools: { chat: { models: names, strategy: "priority", model_priority: names, ...noRetry, ...options.pool } },
    },
  });
  return {
    proxy,
    upstreams,
    async post(body: object, headers: Record<string, string> = {}) {
      const response = await fetch(`${proxy.url}/v1/responses`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ model: "chat", ...body }),
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
    get calls() {
      return Object.fromEntries(names.map((name) => [name, upstreams[name]!.calls]));
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await Promise.all(Object.values(upstreams).map((upstream) => upstream.close()));
    },
  };
}

function findRouting({ records }: TestProxy): RoutingRecord {
  return records.filter((record): record is RoutingRecord => record.type === "routing").at(-1)!;
}

describe("/v1/responses to a model of that API", () => {
  it("sends what the client wrote, and nothing of ours; returns what came, byte for byte", async () => {
    const reply = { text: "Hi", thoughts: "Hm", calls: ["look"] };
    await using scene = await stage({ n: respondWithResponse(reply) }, {
      models: { n: { pricing: { input: 1, output: 1 } } },
    });
    const own = {
      input: "Hello",
      temperature: 0.5,
      metadata: { a: "b" },
      tools: [{ type: "function", name: "f" }],
      odd: 12,
    };
    const response = await scene.post({ ...own, mesh: { tags: ["a"] }, api_key: "x", models: ["chat"] }, {
      authorization: "Bearer of-the-client",
    });
    assertEquals([response.status, response.text], [200, JSON.stringify(createResponse(reply))]);
    assertEquals(response.headers.get("x-mesh-dropped-params"), null);
    const { path, headers, json: sent } = scene.upstreams.n!.requests[0]!;
    assertEquals([path, sent()], ["/v1/responses", { model: "n", ...own }]);
    assertEquals(headers.authorization, "Bearer key-of-n-0123456789");
    const { tokens_in, tokens_out, cost_usd } = findRouting(scene.proxy);
    assertEquals([tokens_in, tokens_out], [7, 3]);
    assertEquals(response.headers.get("x-mesh-cost-usd"), String(cost_usd));
  });

  it("passes events on as they came, with no end of ours", async () => {
    const reply = { text: "Hi", thoughts: "Hm", calls: ["look", "see"] };
    await using scene = await stage({ n: respondWithResponse(reply) });
    const { text } = await scene.post({ input: "Hello", stream: true });
    assertEquals(text, eventsText(reply));
    const { tokens_in, tokens_out, estimated } = findRouting(scene.proxy);
    assertEquals([tokens_in, tokens_out, estimated], [7, 3, undefined]);
  });

  it("fails over from it, and to it, without a trace", async () => {
    for (
      const broken of [
        status(503),
        respondWithResponse({ last: { type: "error", code: "server_error", message: "Oops" } }),
      ]
    ) {
      await using scene = await stage({ n: broken, b: stream({ pieces: ["Good", " day"] }) });
      const events = parseEvents((await scene.post({ input: "Hello", stream: true })).text);
      assertEquals([events.at(-1)!.type, scene.calls], ["response.completed", { n: 1, b: 1 }]);
    }
    await using back = await stage({
      b: stream({ error: { after: "headers" } }),
      n: respondWithResponse({ text: "Hi" }),
    });
    assertEquals((await back.post({ input: "Hello", stream: true })).text, eventsText({ text: "Hi" }));
  });

  it("fails over where the response says inside that it failed", async () => {
    const failed = (code: string) =>
      respondWithResponse({ more: { status: "failed", error: { code, message: "Oops" } } });
    await using scene = await stage({ n: failed("server_error"), b: respond({ text: "from b" }) });
    assertEquals(JSON.parse((await scene.post({ input: "Hello" })).text).output[0].content[0].text, "from b");
    await using faulty = await stage({ n: failed("invalid_image_url") });
    assertEquals((await faulty.post({ input: "Hello" })).status, 400);
  });

  it("takes an empty response for one, and one in the background for none", async () => {
    await using scene = await stage({ n: respondWithResponse({ text: "" }), b: respond({ text: "from b" }) });
    await scene.post({ input: "Hello" });
    assertEquals(scene.calls, { n: 1, b: 1 });
    await using behind = await stage({
      n: respondWithResponse({ more: { status: "queued", output: [], usage: null } }),
    });
    const { text } = await behind.post({ model: "n", input: "Hello", background: true });
    assertEquals([JSON.parse(text).status, behind.calls], ["queued", { n: 1 }]);
  });

  it("ends a stream that breaks midway with response.failed, which goes on with its numbers and its id", async () => {
    const reply = { text: "Good day", breaksAfter: 4 };
    await using scene = await stage({ n: respondWithResponse(reply), b: ok() });
    const { text } = await scene.post({ input: "Hello", stream: true });
    const events = text.trimEnd().split("\n\n").map((event) => JSON.parse(event.slice(event.indexOf("data: ") + 6)));
    assertEquals(events.map(({ sequence_number }) => sequence_number), [0, 1, 2, 3, 4]);
    const { type, response } = events.at(-1)!;
    assertEquals([type, response.id, response.error.code], ["response.failed", "resp_1", "stream_interrupted"]);
    assertEquals(scene.calls, { n: 1, b: 0 });
  });

  it("leaves out what we and other models left in the history", async () => {
    await using scene = await stage({ n: respondWithResponse({ text: "Hi" }) });
    const call = { type: "function_call", call_id: "c1", name: "f", arguments: "{}" };
    const own = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "sealed" };
    const result = { type: "function_call_output", call_id: "c1", output: "4" };
    await scene.post({
      input: [
        { role: "user", content: "Hello" },
        own,
        { id: "rs_mesh_1_0", type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }] },
        { id: "rs_2", type: "reasoning", summary: [], encrypted_content: "mesh:e30=" },
        { ...call, id: "fc_mesh_1_1" },
        result,
      ],
    });
    assertEquals(scene.upstreams.n!.requests[0]!.json().input, [{ role: "user", content: "Hello" }, own, call, result]);
  });

  it("gives tools to a model that supports them in this API alone, unless the configuration says it has none at all", async () => {
    await using upstream = await startUpstream(respondWithResponse({ text: "Hi" }));
    await using other = await startUpstream(ok());
    const provider = (url: string, more: object) => ({ base_url: url, api_key: "sk-0123456789012345", ...more });
    const proxyOf = (features: object) =>
      startTestProxy({
        upstreams: {},
        config: {
          providers: {
            o: provider(upstream.url, { connector: "openai.llm.v1", config: { responses: true } }),
            c: provider(other.url, { connector: "openai.compatible.v1" }),
          },
          models: {
            terra: { provider: "o", model: "gpt-6.1-terra", ...features },
            plain: { provider: "c", capabilities: ["chat-completion"], features: { tool_calling: false } },
          },
          pools: { chat: { models: ["terra", "plain"] } },
        },
      });
    const tools = [{ type: "function", name: "look", parameters: { type: "object" } }];
    const post = async ({ url }: TestProxy, body: object) => {
      const response = await fetch(`${url}/v1/responses`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "chat", input: "Hello", tools, ...body }),
      });
      await response.body?.cancel();
      return [response.status, response.headers.get("x-mesh-model")];
    };
    await using proxy = await proxyOf({});
    for (const stream of [false, true]) {
      assertEquals(await post(proxy, { stream }), [200, "terra"]);
      assertEquals(upstream.requests.at(-1)!.json().tools, tools);
    }
    const chat = await proxy.chat({ tools: [{ type: "function", function: { name: "look" } }] });
    assertEquals([chat.status, (await chat.json()).choices[0].message.content], [200, "Hi"]);
    await using without = await proxyOf({ features: { tool_calling: false } });
    assertEquals((await post(without, {}))[0], 400);
    assertEquals([upstream.calls, other.calls], [3, 0]);
  });

  it("leaves out what the model refuses, and says so", async () => {
    const connector = "openai.llm.v1";
    await using upstream = await startUpstream(respondWithResponse({ text: "Hi" }));
    await using proxy = await startTestProxy({
      upstreams: {},
      config: {
        providers: {
          o: { connector, base_url: upstream.url, api_key: "sk-0123456789012345", config: { responses: true } },
        },
        pools: { chat: { models: ["openai.gpt-5-mini"] } },
      },
    });
    const response = await fetch(`${proxy.url}/v1/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: "chat",
        input: "Hello",
        temperature: 0.5,
        reasoning: { effort: "none", summary: "auto" },
      }),
    });
    await response.body?.cancel();
    assertEquals(response.headers.get("x-mesh-dropped-params"), "temperature");
    const { temperature, reasoning } = upstream.requests[0]!.json();
    assertEquals([temperature, reasoning], [undefined, { effort: "minimal", summary: "auto" }]);
  });
});

describe("what a provider of the Responses API keeps", () => {
  const kept = [
    { previous_response_id: "resp_1", input: [{ type: "function_call_output", call_id: "c1", output: "4" }] },
    { conversation: "conv_1", input: "Hello" },
    { input: "Hello", store: true },
    { input: "Hello", background: true },
    { input: [{ type: "item_reference", id: "msg_1" }] },
    { prompt: { id: "pmpt_1" } },
  ];

  it("is for a model by its name, and for a pool of that provider's models", async () => {
    await using scene = await stage({ n: respondWithResponse({ text: "Hi" }), b: ok() });
    for (const body of kept) {
      const { status: code } = await scene.post({ model: "n", ...body });
      assertEquals([code, scene.upstreams.n!.requests.at(-1)!.json()], [200, { model: "n", ...body }]);
    }
    const narrowed = await scene.post({ ...kept[0], mesh: { only: ["n"] } });
    assertEquals([narrowed.status, scene.calls], [200, { n: kept.length + 1, b: 0 }]);
  });

  it("is refused where the request could go to another one", async () => {
    await using scene = await stage({
      n: respondWithResponse({ text: "Hi" }),
      n2: respondWithResponse({ text: "Hi" }),
      b: ok(),
    });
    for (const body of kept) {
      for (const target of [{}, { model: "b" }, { mesh: { only: ["n", "n2"] } }]) {
        const { status: code, text } = await scene.post({ ...body, ...target });
        const { error } = JSON.parse(text);
        assertEquals([code, error.code], [400, "unsupported_by_pool"]);
        assertMatch(error.message, /set "model" to one whose provider supports the Responses API/);
      }
    }
    assertEquals(scene.calls, { n: 0, n2: 0, b: 0 });
  });

  it("streams its own items as they come", async () => {
    const reply = { items: [{ id: "ws_1", type: "web_search_call", status: "completed" }], text: "Found" };
    await using scene = await stage({ n: respondWithResponse(reply) });
    const asked = { model: "n", input: "Hello", tools: [{ type: "web_search" }], stream: true };
    assertEquals((await scene.post(asked)).text, eventsText(reply));
  });
});
