/** Token counts: asked of a vendor that counts free of charge, and estimated otherwise. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { becomes } from "../support/patience.ts";
import { startTestProxy } from "../support/proxy.ts";
import { hang, json, ok, type Script, startUpstream, status } from "../support/upstream.ts";

/** A proxy over one provider per connector, in this order. */
async function stage(cast: Readonly<Record<string, Script>>) {
  const connectors = Object.keys(cast);
  const names = connectors.map((connector) => connector.split(".")[0]!);
  const started = await Promise.all(Object.values(cast).map((script) => startUpstream(script)));
  const models: Readonly<Record<string, string>> = {
    anthropic: "claude-sonnet-5",
    google: "gemini-3.5-flash",
    openai: "m",
  };
  const perName = (make: (name: string, at: number) => object) =>
    Object.fromEntries(names.map((name, at) => [name, make(name, at)]));
  const proxy = await startTestProxy({
    upstreams: {},
    config: {
      providers: perName((_, at) => ({
        connector: connectors[at],
        base_url: started[at]!.url,
        api_key: "key-of-0123456789012",
      })),
      models: perName((name) => ({ provider: name, model: models[name], capabilities: ["chat-completion"] })),
      pools: { chat: { models: names, strategy: "priority", model_priority: names } },
    },
  });
  const count = async (path: string, body: object) => {
    const response = await fetch(`${proxy.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "anthropic-beta": "some-beta" },
      body: JSON.stringify(body),
    });
    const { status, headers } = response;
    const text = await response.text();
    const named = (name: string) => headers.get(`x-mesh-${name}`);
    return { status, body: JSON.parse(text), isEstimated: named("estimated"), model: named("model") };
  };
  return {
    proxy,
    count,
    byMessages: (body: object = {}) => count("/v1/messages/count_tokens", { model: "chat", ...ask, ...body }),
    byGemini: (body: object = { contents }) => count("/v1beta/models/chat:countTokens", body),
    upstreams: Object.fromEntries(names.map((name, at) => [name, started[at]!])),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await Promise.all(started.map((upstream) => upstream.close()));
    },
  };
}

const contents = [{ role: "user", parts: [{ text: "Hello" }] }];
const tools = [{ name: "look", input_schema: { type: "object" } }];
const ask = { system: "Be kind", messages: [{ role: "user", content: "Hello" }], tools };
const byClaude = json({ input_tokens: 77 });
const byGemini = json({ totalTokens: 55 });

describe("a token count", () => {
  it("is that of Claude for Claude, from the client's own request", async () => {
    await using scene = await stage({ "anthropic.claude.v1": byClaude });
    assertEquals(await scene.byMessages({ thinking: { type: "adaptive" }, mesh: { tags: ["a"] } }), {
      ...{ status: 200, body: { input_tokens: 77 }, isEstimated: null, model: "anthropic" },
    });
    const { path, headers, json: sent } = scene.upstreams.anthropic!.requests[0]!;
    assertEquals([path, headers["x-api-key"], headers["anthropic-beta"]], [
      ...["/v1/messages/count_tokens", "key-of-0123456789012", "some-beta"],
    ]);
    assertEquals(sent(), { model: "claude-sonnet-5", ...ask, thinking: { type: "adaptive" } });
  });

  it("is that of Gemini for Gemini, from the client's own request", async () => {
    const systemInstruction = { parts: [{ text: "Be kind" }] };
    for (
      const body of [{ contents }, { generateContentRequest: { model: "models/chat", contents, systemInstruction } }]
    ) {
      await using scene = await stage({ "google.gemini.v1": byGemini });
      assertEquals(await scene.byGemini(body), {
        ...{ status: 200, body: { totalTokens: 55 }, isEstimated: null, model: "google" },
      });
      const { path, json: sent } = scene.upstreams.google!.requests[0]!;
      assertEquals(path, "/v1/models/gemini-3.5-flash:countTokens");
      assertEquals(sent(), {
        generateContentRequest: {
          ...{ model: "models/gemini-3.5-flash", contents },
          ..."generateContentRequest" in body ? { systemInstruction } : {},
        },
      });
    }
  });

  it("is translated for the other vendor", async () => {
    await using claude = await stage({ "anthropic.claude.v1": byClaude });
    assertEquals((await claude.byGemini()).body, { totalTokens: 77 });
    const { max_tokens, messages } = claude.upstreams.anthropic!.requests[0]!.json();
    assertEquals([max_tokens, messages], [undefined, [{ role: "user", content: [{ type: "text", text: "Hello" }] }]]);
    await using gemini = await stage({ "google.gemini.v1": byGemini });
    assertEquals((await gemini.byMessages()).body, { input_tokens: 55 });
    const { generateContentRequest: sent } = gemini.upstreams.google!.requests[0]!.json();
    assertEquals([sent.contents[0].parts, sent.tools.length], [[{ text: "Hello" }], 1]);
  });

  it("is estimated for other vendors, without a call, and says so", async () => {
    await using scene = await stage({ "openai.compatible.v1": ok() });
    const { status, body, isEstimated, model } = await scene.byMessages();
    assertEquals([status, isEstimated, model, scene.upstreams.openai!.calls], [200, "true", "openai", 0]);
    assert(body.input_tokens > 0);
  });

  it("is of the model that would receive the request first", async () => {
    await using scene = await stage({ "openai.compatible.v1": ok(), "anthropic.claude.v1": byClaude });
    assertEquals((await scene.byMessages()).isEstimated, "true");
    await scene.proxy.mesh.deactivate("openai");
    assertEquals((await scene.byMessages()).body, { input_tokens: 77 });
    assertEquals((await scene.byMessages({ mesh: { only: ["openai"] } })).isEstimated, "true");
    await scene.proxy.mesh.deactivate("anthropic");
    assertEquals((await scene.byMessages()).isEstimated, "true");
  });

  it("is estimated when the vendor fails, which changes no model's state", async () => {
    const broken: readonly Script[] = [
      status(500),
      status(404),
      json({ input_tokens: "many" }),
      json({}),
      json([]),
    ];
    for (const script of broken) {
      await using scene = await stage({ "anthropic.claude.v1": script });
      const { status, body, isEstimated } = await scene.byMessages();
      assertEquals([status, isEstimated, scene.upstreams.anthropic!.calls], [200, "true", 1]);
      assert(body.input_tokens > 0);
      const [model] = scene.proxy.mesh.poolStatus().chat!.models;
      assertEquals(model!.status, "active");
    }
  });

  it("is estimated when the vendor does not respond in time", async () => {
    await using scene = await stage({ "anthropic.claude.v1": hang() });
    const counting = scene.byMessages();
    await becomes(() => scene.upstreams.anthropic!.calls, 1);
    await scene.proxy.clock.advance(10_000);
    assertEquals((await counting).isEstimated, "true");
  });

  it("is an error for a malformed request, and for an unknown model", async () => {
    await using scene = await stage({ "anthropic.claude.v1": byClaude });
    assertEquals((await scene.byMessages({ messages: 7 })).status, 400);
    assertEquals((await scene.byMessages({ model: "nothing" })).status, 404);
    assertEquals(scene.upstreams.anthropic!.calls, 0);
  });
});
