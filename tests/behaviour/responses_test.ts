/** `/v1/responses` through chat: requests, answers, streams, and the way of one conversation there and back. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type OperationOptions, operationStage } from "../support/_operations.ts";
import { listTypes, parseEvents, type ResponseEvent } from "../support/_responses.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { formatHead, json, ok, raw, type Script, status, stream } from "../support/upstream.ts";

const stage = (cast: Readonly<Record<string, Script>>, options: Partial<OperationOptions> = {}) =>
  operationStage(cast, { capability: "chat-completion", ...options });
const noRetry = { retry: { max_attempts: 0 } };

/** A response of chat with one choice. */
const choice = (message: object, finish_reason = "stop", more: object = {}) =>
  json({
    ...{ id: "chatcmpl-1", object: "chat.completion", created: 7, model: "m" },
    choices: [{
      index: 0,
      message: { role: "assistant", content: null, refusal: null, ...message },
      finish_reason,
      ...more,
    }],
    usage: {
      ...{ prompt_tokens: 30, completion_tokens: 5, total_tokens: 35 },
      prompt_tokens_details: { cached_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 3 },
    },
  });

describe("POST /v1/responses", () => {
  it("is a chat to the model, and answers with a response", async () => {
    await using scene = await stage({ a: status(500), b: choice({ content: "Good day" }) }, { pool: noRetry });
    const asked = {
      input: "Hello",
      instructions: "Be kind",
      max_output_tokens: 64,
      temperature: 0.5,
      reasoning: { effort: "low", summary: "auto" },
      text: { format: { type: "json_schema", name: "day", schema: { type: "object" }, strict: true } },
      tools: [{ type: "function", name: "look", parameters: { type: "object" } }],
      tool_choice: { type: "function", name: "look" },
      parallel_tool_calls: false,
      metadata: { place: "Bern" },
      user: "u-1",
      prompt_cache_key: "k-1",
      include: ["reasoning.encrypted_content"],
      store: false,
      odd: 12,
    };
    const { status: code, headers, json: body } = await scene.post("responses", asked);
    assertEquals(code, 200);
    assertMatchesSchema("Response", body);
    assertEquals(body.output, [{
      id: "msg_mesh_1_0",
      type: "message",
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", text: "Good day", annotations: [], logprobs: [] }],
    }]);
    assertEquals(body.usage, {
      input_tokens: 30,
      input_tokens_details: { cached_tokens: 20, cache_write_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 35,
    });
    assertEquals([body.id, body.status, body.model, body.created_at, body.store], [
      "resp_mesh_1",
      "completed",
      "m",
      7,
      false,
    ]);
    assertEquals([body.instructions, body.metadata, body.temperature], ["Be kind", { place: "Bern" }, 0.5]);
    assertEquals([body.tools, body.tool_choice], [[{ ...asked.tools[0], strict: null }], asked.tool_choice]);
    assertEquals([headers.get("x-mesh-model"), headers.get("x-mesh-fallbacks")], ["b", "1"]);
    assertEquals(headers.get("x-mesh-dropped-params"), "odd");
    assertEquals(scene.upstreams.b!.requests[0]!.json(), {
      model: "b",
      messages: [{ role: "system", content: "Be kind" }, { role: "user", content: "Hello" }],
      max_tokens: 64,
      temperature: 0.5,
      reasoning_effort: "low",
      response_format: { type: "json_schema", json_schema: { name: "day", schema: { type: "object" }, strict: true } },
      tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
      tool_choice: { type: "function", function: { name: "look" } },
      parallel_tool_calls: false,
      user: "u-1",
    });
    assertEquals([scene.routing.model, scene.routing.tokens_in], ["b", 30]);
  });

  it("says why a response is incomplete", async () => {
    await using scene = await stage({
      a: [choice({ content: "Go" }, "length"), choice({ content: "Go" }, "content_filter")],
    });
    for (const reason of ["max_output_tokens", "content_filter"]) {
      const { json: body } = await scene.post("responses", { input: "Hello" });
      assertMatchesSchema("Response", body);
      assertEquals([body.status, body.incomplete_details, body.output[0].status], [
        "incomplete",
        { reason },
        "incomplete",
      ]);
    }
  });

  it("has thoughts, a refusal, and calls as items", async () => {
    const call = (id: string, name: string) => ({ id, type: "function", function: { name, arguments: "{}" } });
    const message = {
      reasoning_content: "Hm",
      content: "Well",
      refusal: "No",
      tool_calls: [call("c1", "f"), call("c2", "g")],
    };
    await using scene = await stage({ a: choice(message, "tool_calls") });
    const { json: body } = await scene.post("responses", { input: "Hello" });
    assertMatchesSchema("Response", body);
    const called = { type: "function_call", status: "completed", arguments: "{}" };
    assertEquals(body.output, [
      {
        ...{ id: "rs_mesh_1_0", type: "reasoning", status: "completed", encrypted_content: null },
        summary: [{ type: "summary_text", text: "Hm" }],
      },
      {
        ...{ id: "msg_mesh_1_1", type: "message", status: "completed", role: "assistant" },
        content: [
          { type: "output_text", text: "Well", annotations: [], logprobs: [] },
          { type: "refusal", refusal: "No" },
        ],
      },
      { ...called, id: "fc_mesh_1_2", call_id: "c1", name: "f" },
      { ...called, id: "fc_mesh_1_3", call_id: "c2", name: "g" },
    ]);
  });

  it("asks for log probabilities, and has them with the text", async () => {
    const score = {
      token: "Hi",
      logprob: -0.5,
      bytes: null,
      top_logprobs: [{ token: "Hi", logprob: -0.5, bytes: [72] }],
    };
    await using scene = await stage({ a: choice({ content: "Hi" }, "stop", { logprobs: { content: [score] } }) });
    const asked = { input: "Hello", include: ["message.output_text.logprobs"], top_logprobs: 1 };
    const { json: body } = await scene.post("responses", asked);
    assertMatchesSchema("Response", body);
    assertEquals(body.output[0].content[0].logprobs, [{ ...score, bytes: [] }]);
    const { logprobs, top_logprobs } = scene.upstreams.a!.requests[0]!.json();
    assertEquals([logprobs, top_logprobs], [true, 1]);
  });

  it("keeps the requests of one cache key, identifier or user on one model", async () => {
    const pool = { strategy: "session-stickiness" };
    await using scene = await stage({ a: ok(), b: ok(), c: ok() }, { pool });
    for (const name of ["prompt_cache_key", "safety_identifier", "user"]) {
      const models = new Set<string | null>();
      for (let round = 0; round < 4; round++) {
        const { headers } = await scene.post("responses", { input: "Hello", [name]: "one" });
        models.add(headers.get("x-mesh-model"));
      }
      assertEquals(models.size, 1, name);
    }
  });

  it("needs the token as a bearer", async () => {
    await using scene = await stage({ a: ok() }, { tokens: ["secret"] });
    const headers = { "content-type": "application/json" };
    const ask = (token: Record<string, string>) =>
      scene.post("responses", { input: "Hello" }, {
        body: JSON.stringify({ model: "pool", input: "Hello" }),
        headers: { ...headers, ...token },
      });
    assertEquals((await ask({ authorization: "Bearer secret" })).status, 200);
    const { status: code, json: body } = await ask({ "x-api-key": "secret" });
    assertEquals([code, body.error.code], [401, "invalid_api_key"]);
  });
});

describe("a stream of /v1/responses", () => {
  const text = [
    ...["response.created", "response.in_progress", "response.output_item.added", "response.content_part.added"],
    ...["response.output_text.delta", "response.output_text.delta"],
    ...["response.output_text.done", "response.content_part.done", "response.output_item.done", "response.completed"],
  ];

  it("has the events of a text in order, after a failover that does not show", async () => {
    const broken = stream({ error: { after: "headers" } });
    await using scene = await stage({ a: broken, b: stream({ pieces: ["Good", " day"] }) }, { pool: noRetry });
    const posted = await scene.post("responses", { input: "Hello", stream: true });
    assertEquals(posted.headers.get("content-type"), "text/event-stream");
    assert(!posted.text.includes("[DONE]"));
    const events = parseEvents(posted.text);
    assertEquals(listTypes(events), text);
    const { response } = events.at(-1)! as unknown as { response: Record<string, unknown> };
    assertMatchesSchema("Response", response);
    assertEquals((response.usage as Record<string, unknown>).total_tokens, 15);
    assertEquals(scene.upstreams.b!.requests[0]!.json().stream_options, { include_usage: true });
  });

  it("has thoughts, then a refusal, then calls", async () => {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${
        JSON.stringify({
          id: "1",
          object: "chat.completion.chunk",
          created: 7,
          model: "m",
          choices: [{ index: 0, delta, finish_reason }],
        })
      }\n\n`;
    const call = (index: number, more: object) => chunk({ tool_calls: [{ index, ...more }] });
    const head = (index: number) =>
      call(index, { id: `c${index}`, type: "function", function: { name: "f", arguments: "" } });
    const body = chunk({ role: "assistant", reasoning_content: "Hm" }) + chunk({ refusal: "No" }) + head(0) + head(1) +
      call(0, { function: { arguments: "{}" } }) + call(1, { function: { arguments: '{"a":1}' } }) +
      chunk({}, "tool_calls") +
      "data: [DONE]\n\n";
    await using scene = await stage({ a: raw(formatHead(200, { "content-type": "text/event-stream" }) + body) });
    const { text: all } = await scene.post("responses", { input: "Hello", stream: true });
    const events = parseEvents(all);
    const about = ({ type, output_index, delta }: ResponseEvent) =>
      [type.slice("response.".length), output_index, delta].filter((one) => one !== undefined).join(" ");
    assertEquals(events.slice(2, -1).map(about), [
      "output_item.added 0",
      "reasoning_summary_part.added 0",
      "reasoning_summary_text.delta 0 Hm",
      "reasoning_summary_text.done 0",
      "reasoning_summary_part.done 0",
      "output_item.done 0",
      "output_item.added 1",
      "content_part.added 1",
      "refusal.delta 1 No",
      "refusal.done 1",
      "content_part.done 1",
      "output_item.done 1",
      "output_item.added 2",
      "output_item.added 3",
      "function_call_arguments.delta 2 {}",
      'function_call_arguments.delta 3 {"a":1}',
      "function_call_arguments.done 2",
      "output_item.done 2",
      "function_call_arguments.done 3",
      "output_item.done 3",
    ]);
    const done = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
    const { status: state, output } = events.at(-1)!.response as { status: string; output: unknown };
    assertEquals([state, output], ["completed", done]);
  });

  it("ends with response.failed where it breaks midway, and nothing after it", async () => {
    await using scene = await stage({ a: stream({ pieces: ["Good", " day"], cut: { after: 1, how: "reset" } }) });
    const { text } = await scene.post("responses", { input: "Hello", stream: true });
    const events = parseEvents(text);
    const last = events.at(-1)! as unknown as { type: string; response: Record<string, unknown> };
    const { status: state, error, output } = last.response as {
      status: string;
      error: { code: string };
      output: unknown[];
    };
    assertEquals([last.type, state, error.code], ["response.failed", "failed", "stream_interrupted"]);
    assertEquals(output, [{
      ...{ id: "msg_mesh_scripted_0", type: "message", status: "incomplete", role: "assistant" },
      content: [{ type: "output_text", text: "Good", annotations: [], logprobs: [] }],
    }]);
  });
});
