/** The official client's Responses at the proxy, whatever dialect the provider behind it speaks. */
import OpenAI from "openai";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Dialect, dialects, speaking } from "../support/_dialects.ts";
import { createSdk, startDialectProxy } from "../support/_dialect_proxy.ts";
import type { TestProxyOptions } from "../support/proxy.ts";
import { type Script, startUpstream, status, type Upstream } from "../support/upstream.ts";

const text = "Hello wörld, how are you?";
const ask = { model: "chat", input: "Hi" };
const calls = [
  { id: "call_a", name: "get_weather", input: { city: "Zürich", days: 2 }, state: "c2VhbC1h" },
  { id: "call_b", name: "get_time", input: { zone: "Europe/Zurich" } },
];
const tools = calls.map(({ name }) => ({
  ...{ type: "function" as const, name, strict: false },
  parameters: { type: "object", properties: {} },
}));

/** A proxy over one provider, and a client of it. */
async function withClient(
  dialect: Dialect,
  script: Script,
  body: (client: OpenAI, upstream: Upstream) => Promise<void>,
  options: Omit<TestProxyOptions, "upstreams"> = {},
): Promise<void> {
  await using upstream = await startUpstream(script);
  await using proxy = await startDialectProxy({ only: { dialect, url: upstream.url } }, options);
  await body(createSdk(proxy), upstream);
}

const each = (title: string, test: (dialect: Dialect) => Promise<void>) =>
  dialects.forEach((dialect) => it(`${title} (${dialect})`, () => test(dialect)));

/** The functions called, with what they were given. */
function callsIn(output: readonly OpenAI.Responses.ResponseOutputItem[]): [string, unknown][] {
  return output.flatMap((item) =>
    item.type === "function_call" ? [[item.name, JSON.parse(item.arguments)] as [string, unknown]] : []
  );
}

describe("the openai package's responses", () => {
  each("are created", (dialect) =>
    withClient(dialect, speaking[dialect].respond(), async (client) => {
      const response = await client.responses.create(ask);
      assertEquals([response.output_text, response.status, response.usage?.total_tokens], [text, "completed", 15]);
    }));

  each(
    "are streamed",
    (dialect) =>
      withClient(dialect, speaking[dialect].respond({ thoughts: "Let me see" }), async (client) => {
        const stream = client.responses.stream(ask);
        const heard: string[] = [];
        stream.on("response.output_text.delta", ({ delta }) => heard.push(delta));
        const response = await stream.finalResponse();
        assertEquals([heard.join(""), heard.length > 1, response.output_text], [text, true, text]);
        const [thoughts] = response.output;
        assert(thoughts?.type === "reasoning");
        assertEquals(thoughts.summary.map(({ text }) => text), ["Let me see"]);
      }),
  );

  each(
    "are parsed by a schema",
    (dialect) =>
      withClient(dialect, speaking[dialect].respond({ pieces: ['{"city":', '"Bern"}'] }), async (client) => {
        const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
        const format = { type: "json_schema" as const, name: "place", schema, strict: true };
        const parsing = Object.defineProperty({ ...format }, "$brand", { value: "auto-parseable-response-format" });
        Object.defineProperty(parsing, "$parseRaw", { value: JSON.parse });
        const response = await client.responses.parse({ ...ask, text: { format: parsing } });
        assertEquals<unknown>(response.output_parsed, { city: "Bern" });
      }),
  );

  for (const isStream of [false, true]) {
    each(`go there and back with parallel calls, ${isStream ? "streamed" : "whole"}`, (dialect) => {
      const script = [speaking[dialect].respond({ calls }), speaking[dialect].respond()];
      return withClient(dialect, script, async (client, upstream) => {
        const first = isStream
          ? await client.responses.stream({ ...ask, tools }).finalResponse()
          : await client.responses.create({ ...ask, tools });
        assertEquals(callsIn(first.output), calls.map(({ name, input }) => [name, input]));
        const results = first.output.flatMap((item) =>
          item.type === "function_call"
            ? [{ type: "function_call_output" as const, call_id: item.call_id, output: `of ${item.name}` }]
            : []
        );
        const input = [
          { role: "user" as const, content: "Hi" },
          ...first.output as OpenAI.Responses.ResponseInputItem[],
          ...results,
        ];
        const second = await client.responses.create({ model: "chat", tools, input });
        assertEquals([second.output_text, second.status], [text, "completed"]);
        const sent = JSON.stringify(upstream.requests[1]!.json());
        assert(/of get_weather.*of get_time/.test(sent), sent);
        if (dialect === "gemini") assert(sent.includes("c2VhbC1h"), "its signature has come back");
      });
    });
  }

  it("have the client's own error classes", async () => {
    await withClient("openai", status(500), async (client) => {
      await assertRejects(() => client.responses.create({ ...ask, model: "nothing" }), OpenAI.NotFoundError);
      await assertRejects(
        () => client.responses.create({ ...ask, previous_response_id: "resp_1" }),
        OpenAI.BadRequestError,
        "send all of it",
      );
    });
    await withClient("openai", status(500), async (client) => {
      await assertRejects(() => client.responses.create(ask), OpenAI.AuthenticationError);
    }, { tokens: ["secret"] });
  });

  it("report a stream that breaks midway as a failed response", () =>
    withClient("openai", speaking.openai.respond({ failsAfter: 3 }), async (client) => {
      const events = await Array.fromAsync(await client.responses.create({ ...ask, stream: true }));
      const last = events.at(-1)!;
      assert(last.type === "response.failed");
      assertEquals<unknown>(last.response.error?.code, "stream_interrupted");
    }));
});
