// deno-lint-ignore-file no-import-prefix -- an entry of `imports` would be downloaded before every task
/** Clients of others at the proxy: Vercel's `ai` with its provider for compatible servers, and LangChain's for OpenAI. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createOpenAICompatible } from "npm:@ai-sdk/openai-compatible@3.0.92";
import { ChatOpenAI, OpenAIEmbeddings } from "npm:@langchain/openai@1.6.0";
import { embedMany, generateImage, generateText, streamText } from "ai";
import { drawn, images } from "../support/_images.ts";
import { operationStage } from "../support/_operations.ts";
import { embeddings, ok, type Script, status } from "../support/upstream.ts";

const text = "Hello world";

/** Two models, of which the first one always fails: what a client gets came by a failover. */
function stage(capability: string, script: Script) {
  const models = Object.fromEntries(["a", "b"].map((name) => [name, { embedding_space: "one" }]));
  return operationStage({ a: status(503), b: script }, {
    capability,
    models: capability === "text-embeddings" ? models : {},
    pool: { retry: { max_attempts: 0 } },
  });
}

describe("Vercel's ai", () => {
  const vendorOf = ({ url }: { readonly url: string }) =>
    createOpenAICompatible({ name: "mesh", baseURL: `${url}/v1`, apiKey: "any", includeUsage: true });

  it("chats", async () => {
    await using scene = await stage("chat-completion", ok());
    const { text: said, usage, finishReason } = await generateText({
      model: vendorOf(scene.proxy)("pool"),
      prompt: "Hi",
      maxRetries: 0,
    });
    assertEquals([said, usage.inputTokens, usage.outputTokens, finishReason], [text, 10, 5, "stop"]);
    assertEquals(scene.calls, { a: 1, b: 1 });
  });

  it("streams", async () => {
    await using scene = await stage("chat-completion", ok());
    const { textStream, totalUsage } = streamText({
      model: vendorOf(scene.proxy)("pool"),
      prompt: "Hi",
      maxRetries: 0,
    });
    assertEquals((await Array.fromAsync(textStream)).join(""), text);
    assertEquals((await totalUsage).totalTokens, 15);
  });

  it("embeds", async () => {
    await using scene = await stage("text-embeddings", embeddings());
    const { embeddings: vectors } = await embedMany({
      model: vendorOf(scene.proxy).embeddingModel("pool"),
      values: ["red", "green"],
      maxRetries: 0,
    });
    assertEquals(vectors, [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]]);
  });

  it("draws", async () => {
    await using scene = await stage("text-to-image", images());
    const { images: drawings } = await generateImage({
      model: vendorOf(scene.proxy).imageModel("pool"),
      prompt: "a red bicycle",
      n: 2,
      maxRetries: 0,
    });
    assertEquals(drawings.map(({ base64 }) => base64), [drawn, drawn]);
  });
});

describe("LangChain", () => {
  const settings = ({ url }: { readonly url: string }) => ({
    model: "pool",
    apiKey: "any",
    maxRetries: 0,
    configuration: { baseURL: `${url}/v1` },
  });

  it("chats", async () => {
    await using scene = await stage("chat-completion", ok());
    const answer = await new ChatOpenAI(settings(scene.proxy)).invoke("Hi");
    assertEquals([answer.content, answer.usage_metadata?.total_tokens], [text, 15]);
    assertEquals(scene.calls, { a: 1, b: 1 });
  });

  it("streams", async () => {
    await using scene = await stage("chat-completion", ok());
    const chunks = await Array.fromAsync(await new ChatOpenAI(settings(scene.proxy)).stream("Hi"));
    assertEquals(chunks.map(({ content }) => content).join(""), text);
  });

  it("embeds", async () => {
    await using scene = await stage("text-embeddings", embeddings());
    const vectors = await new OpenAIEmbeddings(settings(scene.proxy)).embedDocuments(["red", "green"]);
    assertEquals(vectors.map((vector) => vector.map((number) => Math.round(number * 10))), [[1, 2, 3], [1, 2, 3]]);
  });
});
