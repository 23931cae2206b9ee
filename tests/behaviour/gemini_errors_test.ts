/** Bad requests in Gemini's dialect: Google's errors, which name the field and say what to do. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ask, type Asked, geminiStage as stage, hello } from "../support/_gemini_dialect.ts";
import { ok, status } from "../support/upstream.ts";

const noRetry = { retry: { max_attempts: 0 } };

describe("the errors of Gemini's dialect", () => {
  it("are Google's", async () => {
    await using scene = await stage({ a: status(500) }, { pool: noRetry });
    const errorOf = async (method: string, options: Asked = {}) => {
      const { status: code, json: { error } } = await ask(scene, method, options);
      assertEquals(Object.keys(error), ["code", "message", "status"]);
      return [code, error.code, error.status];
    };
    assertEquals(await errorOf("generateContent", { model: "nothing" }), [404, 404, "NOT_FOUND"]);
    assertEquals(await errorOf("generateContent"), [502, 502, "UNAVAILABLE"]);
    assertEquals(await errorOf("generateContent", { body: [] }), [400, 400, "INVALID_ARGUMENT"]);
    assertEquals(await errorOf("predictLongRunning"), [404, 404, "NOT_FOUND"]);
    const wrongMethod = await fetch(`${scene.proxy.url}/v1beta/models/pool:generateContent`);
    assertEquals([wrongMethod.status, (await wrongMethod.json()).error.status], [405, "INVALID_ARGUMENT"]);
    const files = await fetch(`${scene.proxy.url}/v1beta/files`, { method: "POST" });
    const { error } = await files.json();
    assertMatch(error.message, /POST \/v1beta\/files.*:generateContent/);
  });

  const contents = (...parts: object[]) => ({ contents: [{ role: "user", parts }] });
  const call = { functionCall: { name: "f", args: {} } };
  const result = { functionResponse: { name: "f", response: { n: 4 } } };
  const model = (...parts: object[]) => ({ role: "model", parts });
  const user = (...parts: object[]) => ({ role: "user", parts });
  const bad: [string, object, RegExp][] = [
    ["no contents", {}, /"contents" is missing/],
    ["empty contents", { contents: [] }, /at least one content/],
    ["contents that are no list", { contents: "Hi" }, /"contents" has to be an array, not a string/],
    ["no parts", { contents: [{ role: "user" }] }, /contents\[0\]\.parts" has to have at least one part/],
    [
      "an unknown role",
      { contents: [{ role: "system", parts: [{ text: "x" }] }] },
      /contents\[0\]\.role.*systemInstruction/,
    ],
    ["text that is none", contents({ text: 4 }), /contents\[0\]\.parts\[0\]\.text" has to be a string/],
    ["a picture without a type", contents({ inlineData: { data: "AA==" } }), /inlineData\.mimeType" is missing/],
    [
      "text that is no base64",
      contents({ inlineData: { mimeType: "text/plain", data: "%" } }),
      /inlineData\.data" has to be base64/,
    ],
    ["a result without a call", contents(result), /functionResponse" is for "f", and no such call/],
    [
      "a second result",
      { contents: [...hello.contents, model(call), user(result, result)] },
      /parts\[1\]\.functionResponse/,
    ],
    [
      "a call without a result",
      { contents: [...hello.contents, model(call), user({ text: "x" })] },
      /functionResponse for the call of "f"/,
    ],
    ["arguments that are no object", {
      contents: [...hello.contents, model({ functionCall: { name: "f", args: [] } })],
    }, /functionCall\.args" has to be an object/],
    [
      "a system prompt with a picture",
      { ...hello, systemInstruction: { parts: [{ inlineData: {} }] } },
      /systemInstruction\.parts\[0\]" has to be text/,
    ],
    [
      "a function without a name",
      { ...hello, tools: [{ functionDeclarations: [{}] }] },
      /functionDeclarations\[0\]\.name" is missing/,
    ],
    ["an unknown mode", {
      ...hello,
      tools: [{ functionDeclarations: [{ name: "f" }] }],
      toolConfig: { functionCallingConfig: { mode: "SOME" } },
    }, /mode" has to be AUTO/],
    [
      "an allowed function that there is not",
      {
        ...hello,
        tools: [{ functionDeclarations: [{ name: "f" }] }],
        toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["g"] } },
      },
      /allowedFunctionNames" names none/,
    ],
    [
      "no candidates",
      { ...hello, generationConfig: { candidateCount: 0 } },
      /candidateCount" has to be an integer of at least 1/,
    ],
    ["a name in another case", { ...hello, Contents: [] }, /in case alone/],
    [
      "a search without search models",
      { ...hello, tools: [{ googleSearch: {} }] },
      /"tools\[0\]\.googleSearch" .*"proxy\.tools\.web_search"/,
    ],
  ];
  for (const [name, body, message] of bad) {
    it(`refuse ${name}, with the field`, async () => {
      await using scene = await stage({ a: ok() });
      const { status: code, json: { error } } = await ask(scene, "generateContent", { body });
      assertEquals([code, error.status], [400, "INVALID_ARGUMENT"]);
      assertMatch(error.message, message);
      assertEquals(scene.calls, { a: 0 });
    });
  }

  const unsaid: [string, object][] = [
    ["cachedContent", { ...hello, cachedContent: "cachedContents/1" }],
    [
      "contents[0].parts[0].fileData",
      contents({ fileData: { fileUri: "https://x.example/v1beta/files/1", mimeType: "image/png" } }),
    ],
    ["contents[0].parts[0].inlineData", contents({ inlineData: { mimeType: "video/mp4", data: "AA==" } })],
    ["generationConfig.responseModalities", { ...hello, generationConfig: { responseModalities: ["IMAGE"] } }],
  ];
  for (const [param, body] of unsaid) {
    it(`say of ${param} that no model of the pool supports it`, async () => {
      await using scene = await stage({ a: ok() });
      const { status: code, json: { error } } = await ask(scene, "generateContent", { body });
      assertEquals([code, error.status, error.message], [
        400,
        "INVALID_ARGUMENT",
        `No model of the pool supports "${param}": leave it out, or ask a model of that API itself`,
      ]);
      assertEquals(scene.calls, { a: 0 });
    });
  }
});
