/**
 * One pool over four APIs: OpenAI's dialect, the Messages API, generateContent and Converse. Whichever three fail, the fourth
 * takes over, and what a conversation holds goes with it: ids of calls, results, schemas, but no other vendor's state.
 */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { bedrock } from "../../support/_bedrock.ts";
import { anthropicError, type DialectFacts, googleError, type Json, speaking } from "../../support/_dialects.ts";
import { startTestProxy } from "../../support/proxy.ts";
import { assertMatchesSchema } from "../../support/schema.ts";
import { type Behaviour, type ReceivedRequest, startUpstream, status } from "../../support/upstream.ts";

type Vendor = "openai" | "anthropic" | "gemini" | "bedrock";
type Facts = Pick<DialectFacts, "connector" | "model" | "respond"> & { readonly failure: Behaviour };

/** Models that sign their thoughts, where the vendor has such. */
const facts: Readonly<Record<Vendor, Facts>> = {
  openai: { ...speaking.openai, failure: status(500) },
  anthropic: { ...speaking.anthropic, failure: anthropicError(529, "overloaded_error", "Overloaded") },
  gemini: { ...speaking.gemini, model: "gemini-3.5-flash", failure: googleError(503, "UNAVAILABLE", "Overloaded") },
  bedrock: { ...bedrock, failure: status(503, { json: { message: "Busy" } }) },
};
const vendors = Object.keys(facts) as Vendor[];

const text = "Hello wörld";
const signature = "c2lnbmF0dXJlIG9mIHRob3VnaHRz";
const question = { role: "user", content: "Weather and time in Zürich?" };
const tools = ["get_weather", "get_time"].map((name) => ({
  type: "function",
  function: { name, description: name, parameters: { type: "object", properties: { city: { type: "string" } } } },
}));
const calls = [
  { id: "call_w", name: "get_weather", input: { city: "Zürich" }, state: signature },
  { id: "call_t", name: "get_time", input: { city: "Zürich" } },
];
const results = [
  { role: "tool", tool_call_id: "call_w", content: '{"degrees":21}' },
  { role: "tool", tool_call_id: "call_t", content: "noon" },
];

interface Assistant extends Json {
  content: string | null;
  tool_calls: { id: string; type: string; function: { name: string; arguments: string }; extra_content?: Json }[];
}

/** A pool of all four, of which one is last and answers; what came of a request, and what each was sent. */
async function over(last: Vendor, reply: Behaviour, body: Json) {
  const order = [...vendors.filter((one) => one !== last), last];
  const upstreams = await Promise.all(
    order.map((one) => startUpstream(one === last ? reply : facts[one].failure)),
  );
  const per = (make: (one: Vendor, index: number) => Json) =>
    Object.fromEntries(order.map((one, at) => [one, make(one, at)]));
  const proxy = await startTestProxy({
    upstreams: {},
    config: {
      providers: per((one, at) => ({
        connector: facts[one].connector,
        base_url: upstreams[at]!.url,
        api_key: `key-of-${one}-0123456789`,
        ...(one === "bedrock" ? { config: { region: "eu-central-1" } } : {}),
      })),
      models: per((one) => ({ provider: one, model: facts[one].model, capabilities: ["chat-completion"] })),
      pools: { chat: { models: order, strategy: "priority", model_priority: order, retry: { max_attempts: 0 } } },
    },
  });
  try {
    const response = await proxy.chat({ messages: [question], ...body });
    const answer = await read(response);
    const sent = Object.fromEntries(order.map((one, at) => [one, upstreams[at]!.requests]));
    return { order, response, ...answer, sent: sent as Record<Vendor, readonly ReceivedRequest[]>, proxy };
  } finally {
    await proxy[Symbol.asyncDispose]();
    for (const upstream of upstreams) await upstream.close();
  }
}

async function read(response: Response): Promise<{ message: Assistant; finish: string }> {
  if (!/event-stream/.test(response.headers.get("content-type") ?? "")) {
    const answer = await response.json();
    assertMatchesSchema("CreateChatCompletionResponse", answer);
    return { message: answer.choices[0].message, finish: answer.choices[0].finish_reason };
  }
  const body = await response.text();
  assert(body.endsWith("data: [DONE]\n\n") && !body.includes('"error"'), body);
  return gathered(
    body.split("\n\n").filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6))),
  );
}

function gathered(chunks: readonly { choices: { delta: Json; finish_reason: string | null }[] }[]) {
  const message: Assistant = { content: null, tool_calls: [] };
  let finish = "";
  for (const { delta, finish_reason } of chunks.flatMap(({ choices }) => choices)) {
    if (typeof delta.content === "string" && delta.content !== "") {
      message.content = (message.content ?? "") + delta.content;
    }
    for (
      const { index, ...call } of (delta.tool_calls ?? []) as (Assistant["tool_calls"][number] & { index: number })[]
    ) {
      const known = message.tool_calls[index];
      if (known === undefined) message.tool_calls[index] = structuredClone(call);
      else known.function.arguments += call.function.arguments;
    }
    finish = finish_reason ?? finish;
  }
  return { message, finish };
}

/** Every vendor was asked, once, and the last one answered. */
function assertTookOver({ order, response, sent }: Awaited<ReturnType<typeof over>>): void {
  assertEquals([response.status, response.headers.get("x-mesh-model")], [200, order.at(-1)!]);
  assertEquals([response.headers.get("x-mesh-attempts"), response.headers.get("x-mesh-fallbacks")], ["4", "3"]);
  assertEquals(order.map((one) => sent[one].length), [1, 1, 1, 1]);
}

describe("A pool of four APIs, of which three fail", () => {
  for (const last of vendors) {
    for (const stream of [false, true]) {
      const form = stream ? "streamed" : "whole";
      it(`${last} answers, ${form}`, async () => {
        const scene = await over(last, facts[last].respond({ pieces: ["Hello", " wörld"] }), { stream });
        assertTookOver(scene);
        assertEquals([scene.message.content, scene.finish], [text, "stop"]);
        for (const one of vendors) assert(scene.sent[one][0]!.body.includes(question.content), one);
      });

      it(`${last} calls functions, ${form}, by its own ids`, async () => {
        const scene = await over(last, facts[last].respond({ pieces: [], calls }), { stream, tools });
        assertTookOver(scene);
        assertEquals(scene.finish, "tool_calls");
        assertEquals(
          scene.message.tool_calls.map((
            { id, function: { name, arguments: written } },
          ) => [id, name, JSON.parse(written)]),
          calls.map(({ id, name, input }) => [id, name, input]),
        );
      });
    }
  }
});

describe("A conversation that fails over to another API after its calls", () => {
  /** Ids of the calls and of their results, in the format of each. */
  const idsIn: Readonly<Record<Vendor, (body: Json) => unknown[]>> = {
    openai: ({ messages }) =>
      (messages as Json[]).flatMap(({ tool_calls = [], tool_call_id }) => [
        ...(tool_calls as Json[]).map(({ id }) => id),
        ...(tool_call_id === undefined ? [] : [tool_call_id]),
      ]),
    anthropic: ({ messages }) =>
      (messages as Json[]).flatMap(({ content }) =>
        Array.isArray(content)
          ? content.flatMap(({ type, id, tool_use_id }) => type === "text" ? [] : id ?? tool_use_id ?? [])
          : []
      ),
    gemini: ({ contents }) =>
      (contents as { parts: Json[] }[]).flatMap(({ parts }) =>
        parts.flatMap(({ functionCall, functionResponse }) => Object(functionCall ?? functionResponse).id ?? [])
      ),
    bedrock: ({ messages }) =>
      (messages as { content: Json[] }[]).flatMap(({ content }) =>
        content.flatMap(({ toolUse, toolResult }) => Object(toolUse ?? toolResult).toolUseId ?? [])
      ),
  };

  for (const from of vendors) {
    it(`from ${from}: all others get its ids, and none of its state`, async () => {
      const first = await over(from, facts[from].respond({ pieces: [], calls }), { tools });
      const isSigned = JSON.stringify(first.message).includes(signature);
      assertEquals(isSigned, from === "anthropic" || from === "gemini");
      const last = vendors.find((one) => one !== from)!;
      const messages = [question, first.message, ...results];
      const scene = await over(last, facts[last].respond({ pieces: ["Hello", " wörld"] }), { messages, tools });
      assertTookOver(scene);
      assertEquals(scene.message.content, text);
      for (const one of vendors) {
        const { body, json } = scene.sent[one][0]!;
        assertEquals(idsIn[one](json()), ["call_w", "call_t", "call_w", "call_t"], one);
        assertEquals(body.includes(signature), isSigned && one === from, one);
        assert(!body.includes("extra_content"), one);
      }
      const standIn = "skip_thought_signature_validator";
      assertEquals(scene.sent.gemini[0]!.body.includes(standIn), from !== "gemini");
    });
  }
});

describe("A response format in a pool of four APIs", () => {
  const schema = {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  };
  const response_format = { type: "json_schema", json_schema: { name: "place", schema, strict: true } };

  for (const last of vendors) {
    it(`stays a schema in the format of each, up to ${last}`, async () => {
      const scene = await over(last, facts[last].respond({ pieces: ['{"city":', '"Zürich"}'] }), { response_format });
      assertTookOver(scene);
      assertEquals(JSON.parse(scene.message.content!), { city: "Zürich" });
      for (const one of vendors) assert(scene.sent[one][0]!.body.includes("additionalProperties"), one);
    });
  }

  it("that a vendor does not have skips its models", async () => {
    const scene = await over("openai", facts.openai.respond({ pieces: ["{}"] }), {
      response_format: { type: "json_object" },
    });
    assertEquals([scene.response.status, scene.message.content], [200, "{}"]);
    assertEquals(vendors.map((one) => [one, scene.sent[one].length]), [
      ["openai", 1],
      ["anthropic", 0],
      ["gemini", 1],
      ["bedrock", 0],
    ]);
  });
});
