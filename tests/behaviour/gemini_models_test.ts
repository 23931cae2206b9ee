/** What Gemini's dialect has beside chats: token counts, embeddings, lists of models. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ask, geminiStage as stage, hello } from "../support/_gemini_dialect.ts";
import { embeddings, ok } from "../support/upstream.ts";

describe("what else Gemini's dialect has", () => {
  it("counts tokens by our own estimate, without a call", async () => {
    await using scene = await stage({ a: ok() });
    const { json: short } = await ask(scene, "countTokens");
    const { json: long } = await ask(scene, "countTokens", {
      body: { generateContentRequest: { ...hello, systemInstruction: { parts: [{ text: "Be kind ".repeat(100) }] } } },
    });
    assertEquals([short.totalTokens < 20, long.totalTokens > 100, scene.calls.a], [true, true, 0]);
    assertEquals((await ask(scene, "countTokens", { model: "nothing" })).status, 404);
  });

  it("embeds one content, or several", async () => {
    await using scene = await stage({ a: embeddings() }, { capability: "text-embeddings" });
    const content = (text: string) => ({ content: { parts: [{ text }] } });
    const one = await ask(scene, "embedContent", {
      body: { ...content("red"), outputDimensionality: 3, taskType: "CLUSTERING" },
    });
    assertEquals(one.json, { embedding: { values: [0.1, 0.2, 0.3] } });
    assertEquals(one.headers.get("x-mesh-dropped-params"), "taskType");
    const { json: several } = await ask(scene, "batchEmbedContents", {
      body: { requests: ["red", "green"].map((text) => ({ model: "models/pool", ...content(text) })) },
    });
    assertEquals(several, { embeddings: [{ values: [0.1, 0.2, 0.3] }, { values: [0.1, 0.2, 0.3] }] });
    assertEquals(scene.upstreams.a!.requests.map(({ json }) => json()), [
      { model: "a", input: "red", dimensions: 3 },
      { model: "a", input: ["red", "green"] },
    ]);
    const bad: [string, object, RegExp][] = [
      ["embedContent", {}, /"content" is missing/],
      ["batchEmbedContents", {}, /"requests" is missing/],
      ["batchEmbedContents", { requests: [] }, /at least one request/],
      ["batchEmbedContents", { requests: [{}] }, /requests\[0\]\.content" is missing/],
      [
        "batchEmbedContents",
        { requests: [content("a"), { ...content("b"), outputDimensionality: 2 }] },
        /outputDimensionality" has to be the same/,
      ],
    ];
    for (const [method, body, message] of bad) {
      const { status: code, json: { error } } = await ask(scene, method, { body });
      assertEquals([code, error.status], [400, "INVALID_ARGUMENT"]);
      assertMatch(error.message, message);
    }
  });

  it("lists pools and models with the methods that they have", async () => {
    await using scene = await stage({ a: ok() }, { models: { a: { constraints: { context_window: 4096 } } } });
    const get = async (path: string) => {
      const response = await fetch(`${scene.proxy.url}/v1beta/models${path}`);
      return { status: response.status, body: await response.json() };
    };
    const methods = ["generateContent", "countTokens"];
    const pool = { name: "models/pool", version: "1", displayName: "pool", supportedGenerationMethods: methods };
    const { body: { models } } = await get("?pageSize=50");
    assertEquals(models.slice(0, 1), [pool]);
    assertEquals(models.at(-1).inputTokenLimit, 4096);
    assertEquals((await get("/pool")).body, pool);
    const missing = await get("/nothing");
    assertEquals([missing.status, missing.body.error.status], [404, "NOT_FOUND"]);
  });

  it("lists aliases with the methods of what they stand for, and creates no pool", async () => {
    const aliases = {
      one: "pool",
      two: "a",
      three: "upstream-id",
      four: "upstream-id-2026-01-01",
      five: "code-generation",
    };
    await using scene = await stage({ a: ok() }, { models: { a: { model: "upstream-id" } }, config: { aliases } });
    const get = async (path: string) => await (await fetch(`${scene.proxy.url}/v1beta/models${path}`)).json();
    const { models } = await get("");
    const names = Object.keys(aliases);
    for (const name of names) {
      const own = name === "five" ? [] : ["generateContent", "countTokens"]; // no model can do that
      const listed = { name: `models/${name}`, version: "1", displayName: name, supportedGenerationMethods: own };
      assertEquals([models.find((one: { name: string }) => one.name === listed.name), await get(`/${name}`)], [
        listed,
        listed,
      ]);
    }
    assertEquals(Object.keys(scene.proxy.mesh.poolStatus()), ["pool"]);
  });

  it("is below /v1 as well, where its newer clients ask, beside OpenAI's list", async () => {
    await using scene = await stage({ a: ok() }, { tokens: ["secret"] });
    const get = async (path: string, headers: Record<string, string>) => {
      const response = await fetch(`${scene.proxy.url}/v1/models${path}`, { headers });
      return { status: response.status, body: await response.json() };
    };
    const google = { "x-goog-api-key": "secret" };
    assertEquals((await get("/pool", google)).body.name, "models/pool");
    assertEquals((await get("", google)).body.models[0].name, "models/pool");
    assertEquals((await get("", { authorization: "Bearer secret" })).body.object, "list");
    assertEquals((await get("", { "x-goog-api-key": "other" })).body.error.status, "UNAUTHENTICATED");
    const response = await fetch(`${scene.proxy.url}/v1/models/pool:generateContent?key=secret`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(hello),
    });
    assertEquals([response.status, (await response.json()).candidates.length], [200, 1]);
  });

  it("is exposed as v1beta/models", async () => {
    await using scene = await stage({ a: ok() }, { config: { proxy: { endpoints: ["chat/completions"] } } });
    assertEquals((await ask(scene, "generateContent")).status, 404);
  });
});
