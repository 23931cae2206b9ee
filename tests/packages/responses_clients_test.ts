// deno-lint-ignore-file no-import-prefix -- an entry of `imports` would be downloaded before every task
/** Clients of others that speak the Responses API by default: Vercel's `ai` with its provider for OpenAI, and OpenAI's agents SDK. */
// @ts-types="./_agents.d.ts"
import { Agent, OpenAIProvider, Runner, setTraceProcessors, setTracingDisabled, tool } from "npm:@openai/agents@0.20.0";
import { createOpenAI } from "npm:@ai-sdk/openai@4.0.118";
import { generateText, jsonSchema, type ModelMessage, Output, stepCountIs, streamText, tool as aiTool } from "ai";
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type OperationStage, operationStage } from "../support/_operations.ts";
import { memoryStage } from "../support/_stored_responses.ts";
import { respond, type Script, status } from "../support/upstream.ts";

const text = "Hello world";
const place = {
  type: "object" as const,
  properties: { city: { type: "string" as const } },
  required: ["city"],
  additionalProperties: false,
};
const toolCalls = [{ name: "look", arguments: '{"city":"Bern"}', id: "call_1" }];

/** Two models, of which the first one always fails: what a client gets came by a failover. */
const stage = (script: Script) =>
  operationStage({ a: status(503), b: script }, {
    capability: "chat-completion",
    pool: { retry: { max_attempts: 0 }, deactivation: { retry_limit: 99 } },
  });

/** What the model that answers was sent last. */
function lastSent({ upstreams }: OperationStage) {
  return upstreams.b!.requests.at(-1)!.json();
}

const look = aiTool({ inputSchema: jsonSchema<{ city: string }>(place), execute: ({ city }) => `sunny in ${city}` });

describe("Vercel's ai with its provider for OpenAI", () => {
  const modelOf = ({ proxy }: OperationStage) => createOpenAI({ baseURL: `${proxy.url}/v1`, apiKey: "any" })("pool");
  const tools = { look };

  it("chats", async () => {
    await using scene = await stage(respond({ reasoning: "Hm" }));
    const { text: said, reasoningText, usage, finishReason } = await generateText({
      ...{ model: modelOf(scene), prompt: "Hi", maxRetries: 0 },
    });
    assertEquals([said, reasoningText, usage.totalTokens, finishReason], [text, "Hm", 15, "stop"]);
    assertEquals(scene.proxy.records.some((record) => record.type === "routing" && record.model === "b"), true);
  });

  it("streams", async () => {
    await using scene = await stage(respond());
    const { textStream, totalUsage } = streamText({ model: modelOf(scene), prompt: "Hi", maxRetries: 0 });
    assertEquals([(await Array.fromAsync(textStream)).join(""), (await totalUsage).totalTokens], [text, 15]);
  });

  it("makes objects", async () => {
    await using scene = await stage(respond({ text: '{"city":"Bern"}' }));
    const { output } = await generateText({
      ...{ model: modelOf(scene), prompt: "Where?", maxRetries: 0 },
      output: Output.object({ schema: jsonSchema<{ city: string }>(place) }),
    });
    assertEquals(output, { city: "Bern" });
    assertEquals(lastSent(scene).response_format.type, "json_schema");
  });

  it("calls tools, step by step", async () => {
    await using scene = await stage([respond({ toolCalls }), respond()]);
    const { text: said, steps } = await generateText({
      ...{ model: modelOf(scene), prompt: "Hi", tools, stopWhen: stepCountIs(3), maxRetries: 0 },
    });
    assertEquals([said, steps.length], [text, 2]);
    assertEquals(lastSent(scene).messages.at(-1), { role: "tool", tool_call_id: "call_1", content: "sunny in Bern" });
  });

  it("goes on from texts of its own, where it is asked to send them", async () => {
    await using scene = await stage([respond({ toolCalls, text: "I look" }), respond()]);
    const { fullStream } = streamText({
      ...{ model: modelOf(scene), prompt: "Hi", tools, stopWhen: stepCountIs(3), maxRetries: 0 },
      providerOptions: { openai: { store: false } },
    });
    const parts = await Array.fromAsync(fullStream);
    assert(!parts.some(({ type }) => type === "error"), JSON.stringify(parts));
    assertEquals(lastSent(scene).messages.at(-2).content, "I look");
  });
});

describe("Vercel's ai with its provider for OpenAI, of a proxy that stores responses", () => {
  const ask = { tools: { look }, stopWhen: stepCountIs(3), maxRetries: 0 };
  const script: Script = [
    respond({ toolCalls, text: "I look", reasoning: "Hm" }),
    respond({ pieces: ["Sunny"] }),
    respond(),
  ];

  for (const how of ["streamed", "not streamed"]) {
    it(`refers to its earlier items, ${how}`, async () => {
      await using scene = await memoryStage(script);
      const openai = createOpenAI({ baseURL: `${scene.proxy.url}/v1`, apiKey: "any" });
      const run = async (messages: ModelMessage[]) => {
        const request = { ...ask, model: openai("chat"), messages };
        const { steps } = how === "streamed" ? streamText(request) : await generateText(request);
        return [...messages, ...(await steps).flatMap(({ response }) => response.messages)];
      };
      const messages = await run([{ role: "user", content: "Where?" }]);
      await run([...messages, { role: "user", content: "Go on" }]);
      const sent = scene.upstream.requests.at(-1)!.json().messages;
      assertEquals(sent.map(({ role }: { role: string }) => role), ["user", "assistant", "tool", "assistant", "user"]);
      assertEquals([sent[1].content, sent[1].tool_calls.length], ["I look", 1]);
    });
  }
});

describe("OpenAI's agents SDK", () => {
  setTracingDisabled(true);
  setTraceProcessors([]); // ends the timer of the default one, which every later suite would be blamed for
  const look = tool({
    name: "look",
    description: "Looks out of the window",
    parameters: place,
    strict: true,
    execute: (given: unknown) => `sunny in ${(given as { city: string }).city}`,
  });
  const agent = new Agent({ name: "Guide", instructions: "Be kind", model: "pool", tools: [look] });
  const runnerOf = ({ proxy }: OperationStage) =>
    new Runner({ modelProvider: new OpenAIProvider({ baseURL: `${proxy.url}/v1`, apiKey: "any" }) });

  it("runs an agent with a tool", async () => {
    await using scene = await stage([respond({ toolCalls, reasoning: "Hm" }), respond()]);
    const { finalOutput } = await runnerOf(scene).run(agent, "Hi");
    assertEquals(finalOutput, text);
    const { messages } = lastSent(scene);
    assertEquals(messages[0], { role: "system", content: "Be kind" });
    assertEquals(messages.at(-1), { role: "tool", tool_call_id: "call_1", content: "sunny in Bern" });
  });

  it("streams a run", async () => {
    await using scene = await stage([respond({ toolCalls }), respond()]);
    const result = await runnerOf(scene).run(agent, "Hi", { stream: true });
    const said: string[] = [];
    for await (const event of result) {
      if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta") {
        said.push(event.data.delta);
      }
    }
    await result.completed;
    assertEquals([said.join(""), result.finalOutput], [text, text]);
  });
});
