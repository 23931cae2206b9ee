/** `/v1/messages` through chat: requests, answers, streams, errors and tokens in that dialect. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { messages } from "../../src/dialects/messages/messages.ts";
import { type OperationOptions, operationStage } from "../support/_operations.ts";
import { json, ok, type Script, status, stream } from "../support/upstream.ts";

const stage = (cast: Readonly<Record<string, Script>>, options: Partial<OperationOptions> = {}) =>
  operationStage(cast, { capability: "chat-completion", ...options });
const noRetry = { retry: { max_attempts: 0 } };
const hello = { max_tokens: 64, messages: [{ role: "user", content: "Hello" }] };

/** The events of a stream. */
function parseEvents(text: string): { readonly name: string; readonly data: Record<string, unknown> }[] {
  return text.trimEnd().split("\n\n").map((event) => {
    const [name, data] = event.split("\n");
    return { name: name!.slice("event: ".length), data: JSON.parse(data!.slice("data: ".length)) };
  });
}

describe("POST /v1/messages", () => {
  it("is a chat to the model, and answers with a message", async () => {
    await using scene = await stage({ a: status(500), b: ok({ text: "Good day" }) }, { pool: noRetry });
    const { status: code, headers, json: body } = await scene.post("messages", {
      ...hello,
      system: [{ type: "text", text: "Be kind", cache_control: { type: "ephemeral" } }],
      stop_sequences: ["END"],
      metadata: { user_id: "u-1" },
    });
    assertEquals(code, 200);
    const { id: _, ...message } = body;
    assertEquals(message, {
      type: "message",
      role: "assistant",
      model: "b",
      content: [{ type: "text", text: "Good day" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 },
    });
    assertEquals([headers.get("x-mesh-model"), headers.get("x-mesh-fallbacks")], ["b", "1"]);
    assertEquals(scene.upstreams.b!.requests[0]!.json(), {
      model: "b",
      max_tokens: 64,
      messages: [{ role: "system", content: "Be kind" }, { role: "user", content: "Hello" }],
      stop: ["END"],
      user: "u-1",
    });
    assertEquals([scene.routing.model, scene.routing.tokens_in], ["b", 10]);
  });

  it("refuses what is nested too deep within a block that carries state, without asking a model", async () => {
    await using scene = await stage({ a: ok() });
    const state = `{"openai-compatible":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    const content = [
      { type: "redacted_thinking", data: `mesh:${btoa(state)}` },
      { type: "tool_use", id: "c1", name: "look", input: {} },
    ];
    const { status: code, json: body } = await scene.post("messages", {
      ...hello,
      messages: [
        { role: "user", content: "Hello" },
        { role: "assistant", content },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "" }] },
      ],
    });
    assertEquals([code, body.error.type], [400, "invalid_request_error"]);
    assertEquals(scene.upstreams.a!.calls, 0);
  });

  it("streams the events in order, after a failover that does not show", async () => {
    const broken = stream({ error: { after: "headers" } });
    await using scene = await stage({ a: broken, b: stream({ pieces: ["Good", " day"] }) }, { pool: noRetry });
    const { headers, text } = await scene.post("messages", { ...hello, stream: true });
    assertEquals(headers.get("content-type"), "text/event-stream");
    const events = parseEvents(text);
    assertEquals(events.map(({ name }) => name), [
      ...["message_start", "ping", "content_block_start", "content_block_delta", "content_block_delta"],
      ...["content_block_stop", "message_delta", "message_stop"],
    ]);
    assertEquals(events.map(({ data }) => data.type), events.map(({ name }) => name));
    assertEquals(events[6]!.data, {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5 },
    });
  });

  it("ends a stream that breaks midway with an error event, and nothing after it", async () => {
    await using scene = await stage({ a: stream({ pieces: ["Good", " day"], cut: { after: 1, how: "reset" } }) });
    const { text } = await scene.post("messages", { ...hello, stream: true });
    const { name, data } = parseEvents(text).at(-1)!;
    assertEquals([name, data.type], ["error", "error"]);
    assertEquals((data.error as { type: string }).type, "api_error");
  });

  it("takes the token as x-api-key, and as a bearer", async () => {
    await using scene = await stage({ a: ok() }, { tokens: ["secret"] });
    const headers = { "content-type": "application/json" };
    const ask = (token: Record<string, string>) => scene.post("messages", hello, { headers: { ...headers, ...token } });
    assertEquals((await ask({ "x-api-key": "secret" })).status, 200);
    assertEquals((await ask({ authorization: "Bearer secret" })).status, 200);
    assertEquals((await ask({ "x-api-key": "secret", authorization: "Bearer other" })).status, 200);
    for (const token of [{}, { "x-api-key": "other" }] as Record<string, string>[]) {
      const { status: code, json: body } = await ask(token);
      assertEquals([code, body.type, body.error.type], [401, "error", "authentication_error"]);
    }
    const elsewhere = await scene.post("chat/completions", hello, { headers: { ...headers, "x-api-key": "secret" } });
    assertEquals(elsewhere.status, 401);
    assertEquals(scene.upstreams.a!.requests.map(({ headers }) => headers["x-api-key"]), Array(3).fill(undefined));
  });

  it("has errors in its own format", async () => {
    await using scene = await stage({ a: status(500) }, { pool: noRetry });
    const post = (body: object) => scene.post("messages", body);
    const errorOf = async (body: object) => {
      const { status: code, json: { type, error } } = await post(body);
      assertEquals([type, Object.keys(error)], ["error", ["type", "message"]]);
      return [code, error.type, error.message];
    };
    assertEquals((await errorOf({ ...hello, model: "nothing" })).slice(0, 2), [404, "not_found_error"]);
    assertEquals((await errorOf(hello)).slice(0, 2), [502, "api_error"]);
    assertEquals(await errorOf({ ...hello, max_tokens: undefined }), [
      ...[400, "invalid_request_error", 'The parameter "max_tokens" is missing'],
    ]);
    const { status: code, json: body } = await scene.post("messages", {}, { method: "PUT", body: "{}" });
    assertEquals([code, body.error.type], [405, "invalid_request_error"]);
  });

  it("refuses what chat does not support, with what to do", async () => {
    await using scene = await stage({ a: ok() });
    const use = { type: "tool_use", id: "t1", name: "f", input: {} };
    const result = { type: "tool_result", tool_use_id: "t1", content: "4" };
    const user = (...content: object[]) => ({ ...hello, messages: [{ role: "user", content }] });
    const bad: [object, RegExp][] = [
      [{ ...hello, messages: [] }, /at least one/],
      [{ ...hello, messages: [{ role: "tool", content: "x" }] }, /messages\[0\]\.role.*tool_result/],
      [user({ type: "hologram" }), /messages\[0\]\.content\[0\].*"hologram".*use text/],
      [user({ type: "image", source: { type: "file", file_id: "f" } }), /content\[0\]\.source.*"file".*use "base64"/],
      [user(result), /tool_use_id" is "t1", but the previous message has no tool_use/],
      [{ ...hello, messages: [{ role: "assistant", content: [use] }, { role: "user", content: "x" }] }, /"t1"/],
      [
        { ...hello, tools: [{ type: "web_search_20250305", name: "web_search" }] },
        /tools\[0\]\.type.*tool of your own/,
      ],
      [{ ...hello, mcp_servers: [{ url: "https://mcp.example" }] }, /mcp_servers/],
      [{ ...hello, Max_tokens: 3 }, /in case alone/],
    ];
    for (const [body, message] of bad) {
      const { status: code, json: { error } } = await scene.post("messages", body);
      assertEquals([code, error.type], [400, "invalid_request_error"]);
      assertMatch(error.message, message);
    }
    assertEquals(scene.calls, { a: 0 });
  });
});

describe("the content of /v1/messages", () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };

  it("has parallel tool calls and their results, with pictures", async () => {
    await using scene = await stage({ a: ok() });
    const call = (id: string) => ({ type: "tool_use", id, name: "look", input: { at: id } });
    const { status: code } = await scene.post("messages", {
      ...hello,
      tools: [{ name: "look", description: "Looks", input_schema: { type: "object" } }],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
      messages: [
        { role: "user", content: [{ type: "text", text: "See?" }, image] },
        { role: "assistant", content: [{ type: "text", text: "I look" }, call("t1"), call("t2")] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "t1", content: [image] },
            { type: "tool_result", tool_use_id: "t2", content: "Dark", is_error: true },
            { type: "text", text: "Go on" },
          ],
        },
      ],
    });
    assertEquals(code, 200);
    const picture = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
    const called = (id: string) => ({ id, type: "function", function: { name: "look", arguments: `{"at":"${id}"}` } });
    assertEquals(scene.upstreams.a!.requests[0]!.json(), {
      model: "a",
      max_tokens: 64,
      messages: [
        { role: "user", content: [{ type: "text", text: "See?" }, picture] },
        { role: "assistant", content: "I look", tool_calls: [called("t1"), called("t2")] },
        { role: "tool", tool_call_id: "t1", content: "(1 more in the next message)" },
        { role: "tool", tool_call_id: "t2", content: "The tool failed:\nDark" },
        {
          role: "user",
          content: [{ type: "text", text: "Of the result of the tool call t1:" }, picture, {
            type: "text",
            text: "Go on",
          }],
        },
      ],
      tools: [{ type: "function", function: { name: "look", description: "Looks", parameters: { type: "object" } } }],
      tool_choice: "required",
      parallel_tool_calls: false,
    });
  });

  it("has calls and results of several turns in one row", async () => {
    await using scene = await stage({ a: ok() });
    const use = (id: string) => ({ type: "tool_use", id, name: "look", input: {} });
    const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: `of ${id}` });
    const { status: code } = await scene.post("messages", {
      ...hello,
      messages: [
        { role: "user", content: "See?" },
        { role: "assistant", content: [{ type: "text", text: "I look" }, use("t1")] },
        { role: "assistant", content: [use("t2")] },
        { role: "user", content: [result("t2")] },
        { role: "user", content: [result("t1"), { type: "text", text: "Go on" }] },
      ],
    });
    assertEquals(code, 200);
    const called = (id: string) => ({ id, type: "function", function: { name: "look", arguments: "{}" } });
    assertEquals(scene.upstreams.a!.requests[0]!.json().messages, [
      { role: "user", content: "See?" },
      { role: "assistant", content: "I look", tool_calls: [called("t1"), called("t2")] },
      { role: "tool", tool_call_id: "t2", content: "of t2" },
      { role: "tool", tool_call_id: "t1", content: "of t1" },
      { role: "user", content: "Go on" },
    ]);
  });

  it("gives back what a model of another vendor bound to its call", async () => {
    const state = { acme: { seal: "s1" } };
    const toolCall = { id: "t1", type: "function", function: { name: "f", arguments: "{}" }, extra_content: state };
    const message = { role: "assistant", content: null, refusal: null, tool_calls: [toolCall] };
    const answer = json({
      ...{ id: "c1", object: "chat.completion", created: 1, model: "a" },
      choices: [{ index: 0, message, finish_reason: "tool_calls", logprobs: null }],
    });
    await using scene = await stage({ a: answer });
    const { json: { content, stop_reason } } = await scene.post("messages", hello);
    assertEquals([content.map(({ type }: { type: string }) => type), stop_reason], [
      ["redacted_thinking", "tool_use"],
      "tool_use",
    ]);
    const turns = [
      ...hello.messages,
      { role: "assistant", content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "4" }] },
    ];
    const { chat } = messages.translate({ ...hello, model: "a", messages: turns }, { url: "", headers: new Headers() });
    assertEquals(chat.messages[1]!.tool_calls![0]!.extra_content, state);
  });
});
