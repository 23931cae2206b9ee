// deno-lint-ignore-file no-import-prefix -- an entry of `imports` would be downloaded before every task
/** Vercel's `ai` with its provider for Anthropic, whatever dialect the provider behind the proxy speaks. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type AnthropicProvider, createAnthropic } from "npm:@ai-sdk/anthropic@4.0.105";
import { APICallError, generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import { startDialectProxy } from "../support/_dialect_proxy.ts";
import { type Dialect, dialects, type Reply, speaking } from "../support/_dialects.ts";
import { startUpstream, status, type Upstream } from "../support/upstream.ts";

const text = "Hello wörld, how are you?";
const place = {
  type: "object" as const,
  properties: { city: { type: "string" as const } },
  required: ["city"],
};
const calls = [{ id: "call_a", name: "look", input: { city: "Bern" } }];
const tools = {
  look: tool({ inputSchema: jsonSchema<{ city: string }>(place), execute: ({ city }) => `sunny in ${city}` }),
};

/** A model of the pool, which answers one reply after the other, the last one again and again. */
async function withModel(
  dialect: Dialect,
  replies: readonly Reply[],
  body: (model: ReturnType<AnthropicProvider>, upstream: Upstream) => Promise<void>,
): Promise<void> {
  await using upstream = await startUpstream(replies.map((reply) => speaking[dialect].respond(reply)));
  await using proxy = await startDialectProxy({ only: { dialect, url: upstream.url } });
  await body(createAnthropic({ baseURL: `${proxy.url}/v1`, apiKey: "any" })("chat"), upstream);
}

describe("Vercel's ai with its provider for Anthropic", () => {
  for (const dialect of dialects) {
    it(`chats (${dialect})`, () =>
      withModel(dialect, [{ thoughts: "Hm" }], async (model) => {
        const { text: said, reasoningText, finishReason, usage } = await generateText({
          ...{ model, prompt: "Hi", maxRetries: 0 },
        });
        assertEquals([said, reasoningText, finishReason], [text, "Hm", "stop"]);
        assertEquals(usage.outputTokens! > 0, true);
      }));

    it(`streams (${dialect})`, () =>
      withModel(dialect, [{}], async (model) => {
        const { textStream, totalUsage } = streamText({ model, prompt: "Hi", maxRetries: 0 });
        assertEquals((await Array.fromAsync(textStream)).join(""), text);
        assertEquals((await totalUsage).outputTokens! > 0, true);
      }));

    it(`calls tools, step by step, streamed (${dialect})`, () =>
      withModel(dialect, [{ pieces: [], calls }, {}], async (model, upstream) => {
        const { text: said, steps } = streamText({
          ...{ model, prompt: "Hi", tools, stopWhen: stepCountIs(3), maxRetries: 0 },
        });
        assertEquals([await said, (await steps).length], [text, 2]);
        assertEquals(upstream.requests[1]!.body.includes("sunny in Bern"), true);
      }));
  }

  it("makes objects", () =>
    withModel("openai", [{ pieces: ['{"city":"Bern"}'] }], async (model, upstream) => {
      const { output } = await generateText({
        ...{ model, prompt: "Where?", maxRetries: 0 },
        output: Output.object({ schema: jsonSchema<{ city: string }>(place) }),
      });
      assertEquals([output, upstream.calls], [{ city: "Bern" }, 1]);
    }));

  it("throws its own errors, with the status", async () => {
    await using upstream = await startUpstream(status(400, { error: { message: "Too odd" } }));
    await using proxy = await startDialectProxy({ only: { dialect: "openai", url: upstream.url } });
    const model = createAnthropic({ baseURL: `${proxy.url}/v1`, apiKey: "any" })("chat");
    const error = await assertRejects(() => generateText({ model, prompt: "Hi", maxRetries: 0 }), APICallError);
    assertEquals([error.statusCode, error.message], [400, "Too odd"]);
  });
});
