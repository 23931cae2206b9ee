/** A model that rejects what the gateway has added to a request is asked again without it, and from then on. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { RoutingRecord } from "../../mod.ts";
import type { Json } from "../support/_dialects.ts";
import { startTestProxy, type TestProxy } from "../support/proxy.ts";
import { rejecting, without, withoutExtra } from "../support/_strict_vendors.ts";
import { completeResponse, type ReceivedRequest, type Script, startUpstream, status } from "../support/upstream.ts";

const connector = "openai.compatible.v1";
const key = "key-of-the-vendor-0123456789";
const user = { role: "user", content: "Hi" };

function over(
  { url }: { readonly url: string },
  settings: Json = {},
  pool: Json = {},
  provider: Json = {},
): Promise<TestProxy> {
  return startTestProxy({
    upstreams: {},
    config: {
      providers: { vendor: { connector, base_url: url, api_key: key, ...provider } },
      models: { one: { provider: "vendor", model: "m", capabilities: ["chat-completion"], ...settings } },
      pools: { chat: { models: ["one"], retry: { max_attempts: 0 }, ...pool }, other: { models: ["one"] } },
    },
  });
}

async function post(proxy: TestProxy, path: string, body: Json): Promise<Response & { readonly said: string }> {
  const response = await fetch(`${proxy.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "chat", ...body }),
  });
  return Object.assign(response, { said: await response.text() });
}

/** Whether each request had a member. */
const had = (requests: readonly ReceivedRequest[], name: string) => requests.map((one) => name in one.json());

const streamed = { messages: [user], stream: true };

describe("The options of a stream that the gateway adds", () => {
  const name = "stream_options";
  const rejections: readonly (readonly [what: string, script: Script])[] = [
    ["OpenAI's words", rejecting(without(name, "Unrecognized request argument supplied: stream_options"))],
    ["Groq's words", rejecting(without(name, "property 'stream_options' is unsupported"))],
    ["a list, with 422", rejecting(withoutExtra(name))],
  ];
  for (const [what, script] of rejections) {
    it(`are left out once they are rejected, in ${what}`, async () => {
      await using upstream = await startUpstream(script);
      await using proxy = await over(upstream, {}, { deactivation: { retry_limit: 1, error_codes: [400, 422] } });
      for (let round = 0; round < 2; round++) {
        const answer = await post(proxy, "/v1/chat/completions", streamed);
        assertEquals([answer.status, answer.said.includes("[DONE]")], [200, true]);
        assertEquals(answer.headers.get("x-mesh-dropped-params"), null);
      }
      assertEquals((await post(proxy, "/v1/chat/completions", { ...streamed, model: "other" })).status, 200);
      assertEquals(had(upstream.requests, name), [true, false, false, false], "it is remembered");
      assertEquals(proxy.mesh.poolStatus().chat!.models[0]!.status, "active", "it is no failure");
      const record = proxy.records.find((one): one is RoutingRecord => one.type === "routing")!;
      assertEquals(record.fallback_chain.map(({ outcome }) => outcome), ["ok"]);
    });
  }

  it("are left out for requests that begin together", async () => {
    await using upstream = await startUpstream(rejecting(without(name)));
    await using proxy = await over(upstream);
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(proxy, "/v1/chat/completions", streamed)));
    assertEquals(answers.map(({ status }) => status), [200, 200, 200, 200, 200]);
    assertEquals((await post(proxy, "/v1/chat/completions", streamed)).status, 200);
    assertEquals(had(upstream.requests, name).at(-1), false);
  });

  it("are left out with several API keys too", async () => {
    await using upstream = await startUpstream(rejecting(without(name)));
    await using proxy = await over(upstream, {}, {}, { api_key: ["key-one-0123456789", "key-two-0123456789"] });
    assertEquals((await post(proxy, "/v1/chat/completions", streamed)).status, 200);
    assertEquals(had(upstream.requests, name), [true, false]);
  });

  it("are the client's if it sends them: its error is the client's", async () => {
    await using upstream = await startUpstream(rejecting(without(name)));
    await using proxy = await over(upstream);
    assertEquals((await post(proxy, "/v1/chat/completions", streamed)).status, 200);
    const own = await post(proxy, "/v1/chat/completions", { ...streamed, stream_options: { include_usage: true } });
    assertEquals([own.status, upstream.calls], [400, 3]);
    assertStringIncludes(own.said, name);
  });

  it("are not remembered if they were not the cause", async () => {
    await using upstream = await startUpstream(() =>
      status(400, { json: { error: { message: "stream_options, or the model, is wrong", type: "x" } } })
    );
    await using proxy = await over(upstream);
    assertEquals((await post(proxy, "/v1/chat/completions", streamed)).status, 400);
    assertEquals(upstream.calls, 2);
    upstream.follow(rejecting());
    assertEquals((await post(proxy, "/v1/chat/completions", streamed)).status, 200);
    assertEquals(had(upstream.requests, name), [true, false, true]);
  });

  it("are never sent to a model that is configured to drop them", async () => {
    await using upstream = await startUpstream(rejecting(without(name)));
    await using proxy = await over(upstream, { parameters: { drop: [name] } });
    for (const own of [{}, { stream_options: { include_usage: true } }]) {
      const answer = await post(proxy, "/v1/chat/completions", { ...streamed, ...own });
      assertEquals([answer.status, answer.said.includes("[DONE]")], [200, true]);
    }
    assertEquals(had(upstream.requests, name), [false, false]);
  });
});

describe("The options of a native stream of text completions", () => {
  const name = "stream_options";
  const prompt = { prompt: "Hi", stream: true };
  const native = { ...{ id: "cmpl-1", object: "text_completion", created: 1, model: "m" } };
  const choices = [{ index: 0, text: "Hi", logprobs: null, finish_reason: "stop" }];
  const said = completeResponse(
    200,
    `data: ${JSON.stringify({ ...native, choices })}\n\ndata: [DONE]\n\n`,
    "text/event-stream",
  );
  const script: Script = (request) =>
    name in request.json()
      ? status(400, { json: { error: { message: `Unrecognized request argument supplied: ${name}`, type: "x" } } })
      : said;

  it("are left out once they are rejected, and the client's are its own", async () => {
    await using upstream = await startUpstream(script);
    await using proxy = await over(upstream, {}, {}, { connector: "vllm.local.v1" });
    for (let round = 0; round < 2; round++) {
      const answer = await post(proxy, "/v1/completions", prompt);
      assertEquals([answer.status, answer.said.includes('"text":"Hi"')], [200, true], answer.said);
    }
    assertEquals(upstream.requests.map(({ path }) => path), Array(3).fill("/v1/completions"));
    assertEquals(had(upstream.requests, name), [true, false, false]);
    const own = await post(proxy, "/v1/completions", { ...prompt, stream_options: { include_usage: true } });
    assertEquals([own.status, upstream.calls], [400, 4]);
  });

  it("are never sent to a model that is configured to drop them", async () => {
    await using upstream = await startUpstream(script);
    await using proxy = await over(upstream, { parameters: { drop: [name] } }, {}, { connector: "vllm.local.v1" });
    const answer = await post(proxy, "/v1/completions", prompt);
    assertEquals([answer.status, answer.headers.get("x-mesh-dropped-params")], [200, null]);
    assertEquals(had(upstream.requests, name), [false]);
  });
});

describe("What a translation or a rule adds", () => {
  const tools = [{ name: "f", description: "d", input_schema: { type: "object" } }];
  const rows: readonly (readonly [member: string, path: string, body: Json])[] = [
    ["parallel_tool_calls", "/v1/messages", {
      ...{ max_tokens: 9, messages: [user], tools },
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
    }],
    ["parallel_tool_calls", "/v1/responses", {
      ...{ input: "Hi", parallel_tool_calls: true },
      tools: [{ type: "function", name: "f", parameters: { type: "object" } }],
    }],
    ["reasoning_effort", "/v1/responses", { input: "Hi", reasoning: { effort: "low" } }],
    ["logprobs", "/v1/responses", { input: "Hi", include: ["message.output_text.logprobs"] }],
    ["stream_options", "/v1/responses", { input: "Hi", stream: true }],
    ["stream_options", "/v1/messages", { max_tokens: 9, messages: [user], stream: true }],
  ];
  for (const [member, path, body] of rows) {
    it(`is left out once it is rejected: ${member} of ${path}`, async () => {
      await using upstream = await startUpstream(rejecting(without(member)));
      await using proxy = await over(upstream);
      for (let round = 0; round < 2; round++) assertEquals((await post(proxy, path, body)).status, 200);
      assertEquals(had(upstream.requests, member), [true, false, false]);
    });
  }

  it("is left out one after the other, and what the client wanted is named", async () => {
    await using upstream = await startUpstream(rejecting(without("top_logprobs"), without("logprobs")));
    await using proxy = await over(upstream);
    const body = { input: "Hi", include: ["message.output_text.logprobs"], top_logprobs: 2 };
    const answer = await post(proxy, "/v1/responses", body);
    assertEquals([answer.status, upstream.calls], [200, 3]);
    assertEquals(answer.headers.get("x-mesh-dropped-params"), "logprobs, top_logprobs");
  });

  it("is left out of the members that a rule fills in", async () => {
    await using upstream = await startUpstream(rejecting(without("store")));
    await using proxy = await over(upstream, { parameters: { fill: { store: true } } });
    for (let round = 0; round < 2; round++) {
      assertEquals((await post(proxy, "/v1/chat/completions", { messages: [user] })).status, 200);
    }
    assertEquals(had(upstream.requests, "store"), [true, false, false]);
    const own = await post(proxy, "/v1/chat/completions", { messages: [user], store: true });
    assertEquals([own.status, upstream.calls], [400, 4]);
  });

  it("is what the request is about, and stays: tools and formats", async () => {
    await using upstream = await startUpstream(rejecting(without("tools")));
    await using proxy = await over(upstream);
    const answer = await post(proxy, "/v1/messages", { max_tokens: 9, messages: [user], tools });
    assertEquals([answer.status, upstream.calls], [400, 1]);
  });
});
