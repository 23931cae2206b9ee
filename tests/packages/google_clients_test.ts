// deno-lint-ignore-file no-import-prefix -- an entry of `imports` would be downloaded before every task
/** Clients of Gemini's API at the proxy, whatever dialect the provider speaks: Google's own, and Vercel's `ai` with its. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createGoogleGenerativeAI } from "npm:@ai-sdk/google@4.0.121";
import { ApiError, type Content, FunctionCallingConfigMode, GoogleGenAI, Type } from "npm:@google/genai@3.1.0";
import { embedMany, generateObject, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { startDialectProxy } from "../support/_dialect_proxy.ts";
import { type Dialect, dialects, speaking } from "../support/_dialects.ts";
import { operationStage } from "../support/_operations.ts";
import type { TestProxyOptions } from "../support/proxy.ts";
import { embeddings, ok, type Script, startUpstream, status, type Upstream } from "../support/upstream.ts";

const text = "Hello wörld, how are you?";
const model = "chat";
const contents = "Hi";
const calls = [
  { id: "call_a", name: "get_weather", input: { city: "Zürich", days: 2 } },
  { id: "call_b", name: "get_time", input: { zone: "Europe/Zurich" } },
];
const config = {
  tools: [{
    functionDeclarations: calls.map(({ name }) => ({ name, parameters: { type: Type.OBJECT, properties: {} } })),
  }],
  toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } },
};

function createGenAi({ url }: { readonly url: string }, apiKey = "of-the-client"): GoogleGenAI {
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
}

/** A client over one provider. */
async function withClient(
  dialect: Dialect,
  script: Script,
  body: (client: GoogleGenAI, upstream: Upstream) => Promise<void>,
  options: Omit<TestProxyOptions, "upstreams"> = {},
): Promise<void> {
  await using upstream = await startUpstream(script);
  await using proxy = await startDialectProxy({ only: { dialect, url: upstream.url } }, options);
  await body(createGenAi(proxy), upstream);
}

const each = (title: string, test: (dialect: Dialect) => Promise<void>) =>
  dialects.forEach((dialect) => it(`${title} (${dialect})`, () => test(dialect)));

describe("@google/genai", () => {
  each("generates", (dialect) =>
    withClient(dialect, speaking[dialect].respond(), async (client) => {
      const answer = await client.models.generateContent({ model, contents, config: { systemInstruction: "Be kind" } });
      assertEquals([answer.text, answer.candidates?.[0]?.finishReason], [text, "STOP"]);
      const { promptTokenCount, candidatesTokenCount } = answer.usageMetadata!;
      assertEquals([promptTokenCount, candidatesTokenCount], [10, 5]);
    }));

  each(
    "streams",
    (dialect) =>
      withClient(dialect, speaking[dialect].respond({ thoughts: "Let me see" }), async (client) => {
        const thinking = { thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 } };
        const answers = await Array.fromAsync(
          await client.models.generateContentStream({ model, contents, config: thinking }),
        );
        assertEquals(answers.map((answer) => answer.text ?? "").join(""), text);
        const parts = answers.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
        assertEquals(parts.filter(({ thought }) => thought).map((part) => part.text).join(""), "Let me see");
        assertEquals(answers.at(-1)!.candidates?.[0]?.finishReason, "STOP");
        assertEquals(answers.at(-1)!.usageMetadata?.totalTokenCount, 15);
      }),
  );

  for (const isStream of [false, true]) {
    each(`goes there and back with parallel calls, ${isStream ? "streamed" : "whole"}`, (dialect) => {
      const script = [speaking[dialect].respond({ calls }), speaking[dialect].respond()];
      return withClient(dialect, script, async (client, upstream) => {
        const asked = { model, contents, config };
        const first = isStream
          ? await Array.fromAsync(await client.models.generateContentStream(asked))
          : [await client.models.generateContent(asked)];
        const called = first.flatMap((answer) => answer.functionCalls ?? []);
        assertEquals(called.map(({ name, args }) => [name, args]), calls.map(({ name, input }) => [name, input]));
        const said: Content[] = first.flatMap(({ candidates }) => candidates?.[0]?.content ?? []);
        const results = called.map(({ id, name }) => ({
          functionResponse: { ...(id === undefined ? {} : { id }), name: name!, response: { output: `of ${name}` } },
        }));
        const next = [{ role: "user", parts: [{ text: contents }] }, ...said, { role: "user", parts: results }];
        const second = await client.models.generateContent({ ...asked, contents: next });
        assertEquals(second.text, text);
        assertEquals(/of get_weather.*of get_time/.test(JSON.stringify(upstream.requests[1]!.json())), true);
      });
    });
  }

  it("keeps the history of a chat", () =>
    withClient("anthropic", speaking.anthropic.respond(), async (client, upstream) => {
      const chat = client.chats.create({ model });
      for await (const _ of await chat.sendMessageStream({ message: "One" }));
      await chat.sendMessage({ message: "Two" });
      assertEquals(speaking.anthropic.userTexts(upstream.requests[1]!), ["One", "Two"]);
      assertEquals(JSON.stringify(upstream.requests[1]!.json()).includes("wörld"), true);
    }));

  it("asks for a response in JSON", () =>
    withClient("openai", speaking.openai.respond({ pieces: ['{"at":1}'] }), async (client, upstream) => {
      const schema = { type: Type.OBJECT, properties: { at: { type: Type.INTEGER } }, required: ["at"] };
      const answer = await client.models.generateContent({
        ...{ model, contents },
        config: { responseMimeType: "application/json", responseSchema: schema },
      });
      assertEquals(JSON.parse(answer.text!), { at: 1 });
      assertEquals(upstream.requests[0]!.json().response_format.json_schema.schema, {
        ...{ type: "object", properties: { at: { type: "integer" } }, required: ["at"] },
      });
    }));

  it("counts tokens, and lists models", () =>
    withClient("openai", status(500), async (client, upstream) => {
      const { totalTokens = 0 } = await client.models.countTokens({ model, contents: "Hello there ".repeat(100) });
      assertEquals([totalTokens > 200, upstream.calls], [true, 0]);
      const listed = await Array.fromAsync(await client.models.list());
      assertEquals(listed.some(({ name }) => name === "models/chat"), true);
      assertEquals((await client.models.get({ model })).displayName, "chat");
    }));

  it("embeds", async () => {
    await using scene = await operationStage({ a: embeddings() }, { capability: "text-embeddings" });
    const { embeddings: vectors = [] } = await createGenAi(scene.proxy).models.embedContent({
      model: "pool",
      contents: ["red", "green"],
    });
    assertEquals(vectors.map(({ values }) => values), [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]]);
  });

  it("throws its own errors, with the status", async () => {
    const noRetry = { pool: { retry: { max_attempts: 0 } } };
    const statusOf = async (client: GoogleGenAI, name = model) =>
      (await assertRejects(() => client.models.generateContent({ model: name, contents }), ApiError)).status;
    await withClient("openai", status(500), async (client) => {
      assertEquals([await statusOf(client), await statusOf(client, "nothing")], [502, 404]);
    }, noRetry);
    await withClient("openai", ok(), async (client) => assertEquals(await statusOf(client), 401), {
      tokens: ["secret"],
    });
  });

  each(
    "throws where a stream breaks midway",
    (dialect) =>
      withClient(dialect, speaking[dialect].respond({ failsAfter: 4 }), async (client) => {
        const bodies: ReadableStream[] = [];
        const { fetch } = globalThis;
        globalThis.fetch = async (...asked) => {
          const response = await fetch(...asked);
          bodies.push(response.body!);
          return response;
        };
        try {
          const stream = await client.models.generateContentStream({ model, contents });
          await assertRejects(() => Array.fromAsync(stream), Error, "502");
        } finally {
          globalThis.fetch = fetch;
          for (const body of bodies) await body.cancel(); // the client leaves them open
        }
      }),
  );
});

describe("Vercel's ai with its provider for Google", () => {
  async function withAi(
    dialect: Dialect,
    script: Script,
    body: (google: ReturnType<typeof createGoogleGenerativeAI>, upstream: Upstream) => Promise<void>,
  ): Promise<void> {
    await using upstream = await startUpstream(script);
    await using proxy = await startDialectProxy({ only: { dialect, url: upstream.url } });
    await body(createGoogleGenerativeAI({ baseURL: `${proxy.url}/v1beta`, apiKey: "any" }), upstream);
  }

  each("generates and streams", (dialect) =>
    withAi(dialect, speaking[dialect].respond(), async (google) => {
      const { text: said, usage, finishReason } = await generateText({
        model: google(model),
        prompt: "Hi",
        maxRetries: 0,
      });
      assertEquals([said, usage.inputTokens, usage.outputTokens, finishReason], [text, 10, 5, "stop"]);
      const { textStream, totalUsage } = streamText({ model: google(model), prompt: "Hi", maxRetries: 0 });
      assertEquals([(await Array.fromAsync(textStream)).join(""), (await totalUsage).totalTokens], [text, 15]);
    }));

  each("calls tools over several steps", (dialect) => {
    const script = [speaking[dialect].respond({ calls }), speaking[dialect].respond()];
    return withAi(dialect, script, async (google, upstream) => {
      const answering = ({ name }: { readonly name: string }) =>
        tool({
          inputSchema: jsonSchema<object>({ type: "object", properties: {} }),
          execute: (input: object) => `of ${name}: ${JSON.stringify(input)}`,
        });
      const { text: said, steps } = await generateText({
        model: google(model),
        prompt: "Hi",
        maxRetries: 0,
        tools: Object.fromEntries(calls.map((call) => [call.name, answering(call)])),
        stopWhen: stepCountIs(3),
      });
      assertEquals([said, steps.length], [text, 2]);
      const sent = JSON.stringify(upstream.requests[1]!.json());
      assertEquals(/of get_weather.*Zürich.*of get_time/.test(sent), true);
    });
  });

  it("generates objects", () =>
    withAi("openai", speaking.openai.respond({ pieces: ['{"at":1}'] }), async (google) => {
      const schema = jsonSchema<{ at: number }>({ type: "object", properties: { at: { type: "number" } } });
      const { object } = await generateObject({ model: google(model), prompt: "Hi", schema, maxRetries: 0 });
      assertEquals(object, { at: 1 });
    }));

  it("embeds", async () => {
    await using scene = await operationStage({ a: embeddings() }, { capability: "text-embeddings" });
    const google = createGoogleGenerativeAI({ baseURL: `${scene.proxy.url}/v1beta`, apiKey: "any" });
    const { embeddings: vectors } = await embedMany({
      model: google.embeddingModel("pool"),
      values: ["red", "green"],
      maxRetries: 0,
    });
    assertEquals(vectors, [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]]);
  });
});
