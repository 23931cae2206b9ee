// deno-lint-ignore-file no-import-prefix -- an entry of `imports` would be downloaded before every task
/** `@modelmesh/core/ai-sdk` under `ai` 5 and 6, which support older versions of the specification. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import * as five from "npm:ai@5.0.277";
import * as six from "npm:ai@6.0.326";
import { mesh } from "../../ai_sdk.ts";
import { ConfigError, mockClient, type MockResponse } from "../../mod.ts";
import { toProviderV3 } from "../../src/client/ai_sdk/older_models.ts";
import { providerOver } from "../../src/client/ai_sdk/provider.ts";

const usage = {
  prompt_tokens: 11,
  completion_tokens: 5,
  total_tokens: 16,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
};
const call = { id: "call_1", type: "function" as const, function: { name: "look", arguments: '{"at":"Rome"}' } };
const responses: MockResponse[] = [
  { choices: [{ message: { tool_calls: [call] } }], usage },
  { choices: [{ message: { content: "Sunny there", reasoning_content: "Hm" } }], usage },
];
const schema = { type: "object" as const, properties: { at: { type: "string" as const } } };

describe("A language model for ai 5", () => {
  const model = (script: readonly MockResponse[]) =>
    mesh(mockClient({ responses: script }), { specification: "v2" })("chat-completion");
  const tools = {
    look: five.tool({
      inputSchema: five.jsonSchema<{ at: string }>(schema),
      execute: ({ at }) => Promise.resolve(`sunny in ${at}`),
    }),
  };

  it("calls tools, and reports usage, reason and who answered", async () => {
    const result = await five.generateText({
      model: model(responses),
      prompt: "Hi",
      tools,
      stopWhen: five.stepCountIs(3),
    });
    assertEquals([result.text, result.reasoningText, result.steps.length], ["Sunny there", "Hm", 2]);
    assertEquals(result.steps.map(({ finishReason }) => finishReason), ["tool-calls", "stop"]);
    const { inputTokens, outputTokens, totalTokens, reasoningTokens, cachedInputTokens } = result.usage;
    assertEquals([inputTokens, outputTokens, totalTokens, reasoningTokens, cachedInputTokens], [11, 5, 16, 2, 4]);
    assertEquals(result.providerMetadata?.mesh?.provider, "mock");
  });

  it("streams the same", async () => {
    const result = five.streamText({ model: model(responses), prompt: "Hi", tools, stopWhen: five.stepCountIs(3) });
    assertEquals((await Array.fromAsync(result.textStream)).join(""), "Sunny there");
    assertEquals([await result.finishReason, (await result.usage).totalTokens], ["stop", 16]);
  });

  it("gets images, files and media of tool results", async () => {
    const seen: unknown[] = [];
    const script: MockResponse[] = [(request) => (seen.push(request.messages), "Seen")];
    const output = {
      type: "content" as const,
      value: [{ type: "media" as const, data: "iVBORw==", mediaType: "image/png" }],
    };
    await five.generateText({
      model: model(script),
      messages: [
        { role: "user", content: [{ type: "image", image: Uint8Array.of(137, 80, 78, 71) }] },
        { role: "assistant", content: [{ type: "tool-call", toolCallId: "call_1", toolName: "look", input: {} }] },
        { role: "tool", content: [{ type: "tool-result", toolCallId: "call_1", toolName: "look", output }] },
      ],
    });
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw==" } };
    const [[first, , , last]] = seen as [{ content: unknown }[]];
    assertEquals(first!.content, [image]);
    assertEquals((last!.content as unknown[]).at(-1), image);
  });
});

describe("A language model for ai 6", () => {
  const model = (script: readonly MockResponse[]) =>
    mesh(mockClient({ responses: script }), { specification: "v3" })("chat-completion");

  it("answers, streamed or not", async () => {
    const { text, usage: used, finishReason, warnings } = await six.generateText({
      model: model(responses.slice(1)),
      prompt: "Hi",
    });
    assertEquals([text, finishReason, used.totalTokens, warnings], ["Sunny there", "stop", 16, []]);
    const result = six.streamText({ model: model(responses.slice(1)), prompt: "Hi" });
    assertEquals((await Array.fromAsync(result.textStream)).join(""), "Sunny there");
  });

  it("gives files as Base64, and those with a URL as sources", async () => {
    const image = (url: string) => ({ type: "image_url" as const, image_url: { url } });
    const images = [image("data:image/png;base64,iVBORw=="), image("https://images.example/one.png")];
    const provider = toProviderV3(
      providerOver(mockClient({ responses: [{ choices: [{ message: { content: "Two", images } }] }] })),
    );
    const options = { prompt: [{ role: "user" as const, content: [{ type: "text", text: "Hi" }] }] };
    const { content } = await provider("chat-completion").doGenerate(options);
    const { stream } = await provider("chat-completion").doStream(options);
    const streamed = await Array.fromAsync(stream);
    for (const parts of [content, streamed]) {
      const [file] = parts.flatMap((part) => part.type === "file" ? [part.data] : []);
      const [source] = parts.flatMap((part) => part.type === "source" && part.sourceType === "url" ? [part.url] : []);
      assertEquals([file, source], ["iVBORw==", "https://images.example/one.png"]);
    }
  });
});

describe("The other models for ai 5 and 6", () => {
  const vectors: MockResponse = { data: [{ embedding: [1, 2] }] };
  const drawn: MockResponse = { data: [{ b64_json: "iVBORw==" }] };
  const v2 = (script: MockResponse) => mesh(mockClient({ responses: [script] }), { specification: "v2" });
  const v3 = (script: MockResponse) => mesh(mockClient({ responses: [script] }), { specification: "v3" });

  it("embed, draw, speak, transcribe and rank", async () => {
    const values = ["red"];
    assertEquals(
      (await five.embedMany({ model: v2(vectors).textEmbeddingModel("text-embeddings"), values })).embeddings,
      [
        [1, 2],
      ],
    );
    assertEquals((await six.embedMany({ model: v3(vectors).embeddingModel("text-embeddings"), values })).embeddings, [
      [1, 2],
    ]);
    const old = await five.experimental_generateImage({
      model: v2(drawn).imageModel("text-to-image"),
      prompt: "red",
      aspectRatio: "1:1",
    });
    assertEquals(old.warnings, [{ type: "unsupported-setting", setting: "aspectRatio" }]);
    const { images } = await six.generateImage({ model: v3(drawn).imageModel("text-to-image"), prompt: "red" });
    assertEquals(images.map(({ mediaType }) => mediaType), ["image/png"]);
    const bytes = Uint8Array.of(1, 2, 3);
    const spoken = await five.experimental_generateSpeech({
      model: v2(bytes).speechModel("text-to-speech"),
      text: "red",
    });
    assertEquals(spoken.audio.uint8Array, bytes);
    const model = v2({ text: "Red" }).transcriptionModel("speech-to-text");
    assertEquals((await five.experimental_transcribe({ model, audio: Uint8Array.of(82, 73, 70, 70, 1) })).text, "Red");
    const ranked: MockResponse = { results: [{ index: 0, relevance_score: 1 }] };
    const { ranking } = await six.rerank({
      model: v3(ranked).rerankingModel("reranking"),
      query: "red",
      documents: values,
    });
    assertEquals(ranking.map(({ score }) => score), [1]);
  });

  it("are in a registry", async () => {
    const old = five.createProviderRegistry({ mesh: v2("Five") });
    assertEquals(
      (await five.generateText({ model: old.languageModel("mesh:chat-completion"), prompt: "Hi" })).text,
      "Five",
    );
    const registry = six.createProviderRegistry({ mesh: v3("Six") });
    assertEquals(
      (await six.generateText({ model: registry.languageModel("mesh:chat-completion"), prompt: "Hi" })).text,
      "Six",
    );
  });
});

describe("mesh() with a version", () => {
  it("rejects one that there is not, and names those that there are", () => {
    const client = mockClient({ responses: ["Hi"] });
    const error = assertThrows(() => mesh(client, { specification: "v1" } as never), ConfigError);
    assertEquals(error.problems, [{
      path: "specification",
      message: 'expected "v4" for ai 7, "v3" for ai 6, or "v2" for ai 5',
    }]);
  });

  it("is needed: ai 5 and 6 refuse models of version v4", async () => {
    const model = mesh(mockClient({ responses: ["Hi"] }))("chat-completion") as never;
    await assertRejects(() => five.generateText({ model, prompt: "Hi" }), Error, "v4");
    await assertRejects(() => six.generateText({ model, prompt: "Hi" }), Error, "v4");
  });
});
