/** Gemini's dialect through chat: requests, answers and streams in Google's words. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { gemini } from "../../src/dialects/gemini/gemini.ts";
import { ask, geminiStage as stage, hello, parseEvents } from "../support/_gemini_dialect.ts";
import { json, ok, status, stream } from "../support/upstream.ts";

const noRetry = { retry: { max_attempts: 0 } };
const usage = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };

describe("POST /v1beta/models/{model}:generateContent", () => {
  it("is a chat to the model in its address, and answers with candidates", async () => {
    await using scene = await stage({ a: status(500), b: ok({ text: "Good day" }) }, { pool: noRetry });
    const { status: code, headers, json: body } = await ask(scene, "generateContent", {
      body: {
        ...hello,
        system_instruction: { parts: [{ text: "Be kind" }] },
        generationConfig: { maxOutputTokens: 64, stopSequences: ["END"], topK: 3, mediaResolution: "LOW" },
        safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
      },
    });
    assertEquals(code, 200);
    const { responseId: _, ...answer } = body;
    assertEquals(answer, {
      candidates: [{ content: { parts: [{ text: "Good day" }], role: "model" }, finishReason: "STOP", index: 0 }],
      usageMetadata: usage,
      modelVersion: "b",
    });
    assertEquals([headers.get("x-mesh-model"), headers.get("x-mesh-fallbacks")], ["b", "1"]);
    assertEquals(headers.get("x-mesh-dropped-params"), "safetySettings, generationConfig.mediaResolution");
    assertEquals(scene.upstreams.b!.requests[0]!.json(), {
      model: "b",
      messages: [{ role: "system", content: "Be kind" }, { role: "user", content: "Hello" }],
      stop: ["END"],
      max_tokens: 64,
      top_k: 3,
    });
    assertEquals([scene.routing.model, scene.routing.tokens_in], ["b", 10]);
  });

  it("takes every name that a request may have, percent-encoded or not", async () => {
    await using scene = await stage({ "a:8b": ok(), b: ok() }, {
      models: { "a:8b": { model: "llama3:8b" }, b: { model: "acme/b" } },
      config: { aliases: { fast: "b" } },
    });
    const names = ["pool", "chat-completion", "fast", "acme/b", "acme%2Fb", "llama3:8b", "a:8b", "a%3A8b"];
    const models = await Promise.all(names.map(async (model) => {
      const { headers } = await ask(scene, "generateContent", { model });
      return headers.get("x-mesh-model");
    }));
    assertEquals(models, ["a:8b", "a:8b", "b", "b", "b", "a:8b", "a:8b", "a:8b"]);
  });

  it("takes the token as x-goog-api-key, as ?key=, and as a bearer, and passes it on to no provider and no log", async () => {
    await using scene = await stage({ a: ok() }, { tokens: ["secret"] });
    const by = (headers: Record<string, string>, query = "") =>
      ask(scene, `generateContent${query}`, { headers }).then(({ status }) => status);
    assertEquals(await by({ "x-goog-api-key": "secret" }), 200);
    assertEquals(await by({}, "?key=secret"), 200);
    assertEquals(await by({ authorization: "Bearer secret" }), 200);
    for (const refused of [await by({}), await by({}, "?key=other"), await by({ "x-goog-api-key": "other" })]) {
      assertEquals(refused, 401);
    }
    const elsewhere = await fetch(`${scene.proxy.url}/v1/models?key=secret`);
    assertEquals([elsewhere.status, (await elsewhere.json()).error.code], [401, "invalid_api_key"]);
    const { requests } = scene.upstreams.a!;
    assertEquals(requests.length, 3);
    for (const { path, headers } of requests) {
      assertEquals([path.includes("key"), headers["x-goog-api-key"], JSON.stringify(headers).includes("secret")], [
        false,
        undefined,
        false,
      ]);
    }
    assertEquals(JSON.stringify(scene.proxy.records).includes("secret"), false);
  });
});

describe("POST /v1beta/models/{model}:streamGenerateContent", () => {
  it("streams events after a failover that does not show; the last one has the end and the usage", async () => {
    const broken = stream({ error: { after: "headers" } });
    await using scene = await stage({ a: broken, b: stream({ pieces: ["Good", " day"] }) }, { pool: noRetry });
    const { headers, text } = await ask(scene, "streamGenerateContent?alt=sse");
    assertEquals(headers.get("content-type"), "text/event-stream");
    const events = parseEvents(text).map(({ responseId: _, modelVersion: __, ...event }) => event);
    const content = (text: string) => ({ content: { parts: [{ text }], role: "model" } });
    assertEquals(events, [
      { candidates: [{ ...content("Good"), index: 0 }] },
      { candidates: [{ ...content(" day"), index: 0 }] },
      { candidates: [{ ...content(""), finishReason: "STOP", index: 0 }], usageMetadata: usage },
    ]);
  });

  it("is one JSON array without alt=sse", async () => {
    await using scene = await stage({ a: stream({ pieces: ["Good", " day"] }) });
    const { headers, json: all } = await ask(scene, "streamGenerateContent");
    assertEquals(headers.get("content-type"), "application/json");
    assertEquals(all.length, 3);
    assertEquals(
      all.map(({ candidates: [{ content }] }: { candidates: [{ content: { parts: [{ text: string }] } }] }) =>
        content.parts[0].text
      ).join(""),
      "Good day",
    );
    assertEquals(all[2].candidates[0].finishReason, "STOP");
  });

  it("ends a stream that breaks midway with the error, and without a finishReason", async () => {
    await using scene = await stage({ a: stream({ pieces: ["Good", " day"], cut: { after: 1, how: "reset" } }) });
    const { text } = await ask(scene, "streamGenerateContent?alt=sse");
    const { error } = parseEvents(text).at(-1);
    assertEquals([error.code, error.status, text.includes("finishReason")], [502, "UNAVAILABLE", false]);
    const { json: all } = await ask(scene, "streamGenerateContent");
    assertEquals(all.at(-1).error.status, "UNAVAILABLE");
  });
});

describe("the content of Gemini's dialect", () => {
  it("has pictures, sound, files, thoughts, parallel calls and their results", async () => {
    await using scene = await stage({ a: ok() });
    const picture = { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } };
    const { status: code } = await ask(scene, "generateContent", {
      body: {
        contents: [
          {
            parts: [
              { text: "See?" },
              { inline_data: { mime_type: "image/png", data: "iVBORw0KGgo=" } },
              { inlineData: { mimeType: "audio/mpeg", data: "AAAA" } },
              { inlineData: { mimeType: "application/pdf", data: "JVBERg==", displayName: "a.pdf" } },
              { inlineData: { mimeType: "text/csv", data: btoa("a,b") } },
              { fileData: { mimeType: "image/webp", fileUri: "https://img.example/1.webp" } },
            ],
          },
          { role: "model", parts: [{ text: "Hm", thought: true }, { text: "I " }] },
          { role: "model", parts: [{ text: "look" }, { functionCall: { name: "look", args: { at: 1 } } }] },
          { role: "model", parts: [{ functionCall: { id: "c2", name: "look", args: { at: 2 } } }] },
          {
            role: "function",
            parts: [{ functionResponse: { name: "look", response: { light: true }, parts: [picture] } }],
          },
          { role: "user", parts: [{ functionResponse: { id: "c2", name: "look", response: { output: "Dark" } } }] },
          { role: "user", parts: [{ text: "Go on" }] },
        ],
        tools: [{
          functionDeclarations: [
            {
              name: "look",
              description: "Looks",
              parameters: { type: "OBJECT", properties: { at: { type: "INTEGER", nullable: true } } },
            },
            { name: "hear", parametersJsonSchema: { type: "object", additionalProperties: false } },
          ],
        }],
        toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["look"] } },
        generationConfig: {
          ...{ candidateCount: 2, thinkingConfig: { thinkingBudget: 4_000 }, responseMimeType: "application/json" },
          responseSchema: {
            type: "ARRAY",
            minItems: "2",
            items: { type: "STRING", format: "enum", enum: ["x"] },
            property_ordering: [],
          },
        },
      },
    });
    assertEquals(code, 200);
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
    const called = (id: string, at: number) => ({
      id,
      type: "function",
      function: { name: "look", arguments: `{"at":${at}}` },
    });
    assertEquals(scene.upstreams.a!.requests[0]!.json(), {
      model: "a",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "See?" },
            image,
            { type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } },
            { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERg==" } },
            { type: "text", text: "a,b" },
            { type: "image_url", image_url: { url: "https://img.example/1.webp" } },
          ],
        },
        {
          ...{ role: "assistant", content: "I look", reasoning_content: "Hm" },
          tool_calls: [called("call_1_0", 1), called("c2", 2)],
        },
        { role: "tool", tool_call_id: "call_1_0", content: '{"light":true}' },
        { role: "tool", tool_call_id: "c2", content: '{"output":"Dark"}' },
        { role: "user", content: [{ type: "text", text: "Of the result of the tool call call_1_0:" }, image] },
        { role: "user", content: "Go on" },
      ],
      tools: [{
        type: "function",
        function: {
          ...{ name: "look", description: "Looks" },
          parameters: { type: "object", properties: { at: { type: ["integer", "null"] } } },
        },
      }],
      tool_choice: { type: "function", function: { name: "look" } },
      n: 2,
      response_format: {
        type: "json_schema",
        json_schema: {
          name: "response",
          schema: { type: "array", minItems: 2, items: { type: "string", enum: ["x"] } },
        },
      },
      reasoning_effort: "medium",
    });
  });

  it("converts the types of Gemini's schemas in JSON Schema, too, at any depth", async () => {
    const google = {
      type: "OBJECT",
      properties: {
        type: { type: "STRING", enum: ["OBJECT"], default: null },
        list: { type: ["ARRAY", "NULL"], prefixItems: [{ type: "INTEGER" }], items: { $ref: "#/$defs/item" } },
        more: { oneOf: [{ type: "NUMBER" }, { const: { type: "BOOLEAN" } }] },
      },
      additionalProperties: { type: "BOOLEAN" },
      $defs: { item: { type: "OBJECT", examples: [{ type: "STRING" }] } },
    };
    const plain = {
      type: "object",
      properties: {
        type: { type: "string", enum: ["OBJECT"], default: null },
        list: { type: ["array", "null"], prefixItems: [{ type: "integer" }], items: { $ref: "#/$defs/item" } },
        more: { oneOf: [{ type: "number" }, { const: { type: "BOOLEAN" } }] },
      },
      additionalProperties: { type: "boolean" },
      $defs: { item: { type: "object", examples: [{ type: "STRING" }] } },
    };
    await using scene = await stage({ a: ok() });
    const tools = [{
      functionDeclarations: [{ name: "a", parametersJsonSchema: google }, { name: "b", parameters: google }],
    }];
    for (const name of ["responseSchema", "responseJsonSchema"]) {
      const generationConfig = { responseMimeType: "application/json", [name]: google };
      await ask(scene, "generateContent", { body: { ...hello, tools, generationConfig } });
      const { tools: sent, response_format: format } = scene.upstreams.a!.requests.at(-1)!.json();
      const schemas = sent.map((tool: { function: { parameters: unknown } }) => tool.function.parameters);
      assertEquals([...schemas, format.json_schema.schema], [plain, plain, plain]);
    }
  });
  it("gives back what a model of another vendor bound to its call, in a signature", async () => {
    const state = { acme: { seal: "s1" } };
    const toolCall = { id: "t1", type: "function", function: { name: "f", arguments: "{}" }, extra_content: state };
    const message = {
      role: "assistant",
      content: null,
      refusal: null,
      tool_calls: [toolCall],
      reasoning_content: "Hm",
    };
    const answer = json({
      ...{ id: "c1", object: "chat.completion", created: 1, model: "a" },
      choices: [{ index: 0, message, finish_reason: "tool_calls", logprobs: null }],
    });
    await using scene = await stage({ a: answer });
    const { json: { candidates: [{ content }] } } = await ask(scene, "generateContent");
    const [part] = content.parts;
    assertEquals([content.parts.length, part.functionCall], [1, { id: "t1", name: "f", args: {} }]);
    const next = [...hello.contents, content, {
      role: "user",
      parts: [{ functionResponse: { name: "f", response: {} } }],
    }];
    const { chat, native } = gemini.translate({ contents: next }, {
      url: "http://x/v1beta/models/a:generateContent",
      headers: new Headers(),
    });
    assertEquals(chat.messages[1]!.tool_calls![0]!.extra_content, state);
    const [, sent] = native!.edits("a", {}).contents as { parts: object[] }[];
    assertEquals(sent!.parts, [{ functionCall: part.functionCall }]);
  });

  it("has a word of its own for a call that cannot be read", async () => {
    await using scene = await stage({ a: ok({ toolCalls: [{ id: "t1", name: "f", arguments: '{"a":' }] }) });
    const { json: { candidates: [{ finishReason, content }] } } = await ask(scene, "generateContent");
    assertEquals([finishReason, content.parts], ["MALFORMED_FUNCTION_CALL", [{ text: "" }]]);
  });
});
