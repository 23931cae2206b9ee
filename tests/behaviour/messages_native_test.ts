/** `/v1/messages` to a provider of the Messages API itself: the client's own bytes there, the provider's own bytes back. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { RoutingRecord } from "../../mod.ts";
import { anthropicError, speaking } from "../support/_dialects.ts";
import { startDialectProxy, toApiKey } from "../support/_dialect_proxy.ts";
import type { TestProxy } from "../support/proxy.ts";
import { completeResponse, json, ok, startUpstream, stream, type Upstream } from "../support/upstream.ts";

const noRetry = { pool: { retry: { max_attempts: 0 } } };
const ask = { model: "chat", max_tokens: 64, messages: [{ role: "user", content: "Hello" }] };
const dialect = "anthropic";

function post(proxy: TestProxy, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${proxy.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** A proxy over one provider of Messages. */
function over({ url }: Upstream, settings = {}): Promise<TestProxy> {
  return startDialectProxy({ claude: { dialect, url, settings } }, noRetry);
}

function findRouting({ records }: TestProxy): RoutingRecord {
  return records.filter((record): record is RoutingRecord => record.type === "routing").at(-1)!;
}

describe("/v1/messages to a model of that dialect", () => {
  it("sends what the client wrote, and nothing of ours; returns what came, byte for byte", async () => {
    const answer = {
      ...{ id: "msg_1", type: "message", role: "assistant", model: "claude-x", container: null },
      content: [{ type: "text", text: "Hi", citations: null }],
      ...{ stop_reason: "stop_sequence", stop_sequence: "END" },
      usage: { input_tokens: 7, output_tokens: 3, cache_read_input_tokens: 2, cache_creation_input_tokens: 1 },
    };
    await using upstream = await startUpstream(json(answer));
    await using proxy = await over(upstream, { pricing: { input: 1, output: 1 } });
    const system = [{ type: "text", text: "Be kind", cache_control: { type: "ephemeral", ttl: "1h" } }];
    const own = { ...ask, system, temperature: 0.5, top_p: 0.9, service_tier: "auto", odd: 12 };
    const response = await post(proxy, { ...own, mesh: { tags: ["a"] }, api_key: "x", models: ["chat"] }, {
      "anthropic-beta": "context-1m",
      "x-api-key": "of-the-client",
      authorization: "Bearer of-the-client",
    });
    assertEquals([response.status, await response.text()], [200, JSON.stringify(answer)]);
    assertEquals(response.headers.get("x-mesh-dropped-params"), null);
    const { path, headers, json: sent } = upstream.requests[0]!;
    assertEquals([path, sent()], ["/v1/messages", { ...own, model: speaking.anthropic.model }]);
    assertEquals([headers["anthropic-beta"], headers["x-api-key"]], ["context-1m", toApiKey("claude")]);
    assertEquals(headers.authorization, undefined);
    const { tokens_in, tokens_out, cost_usd } = findRouting(proxy);
    assertEquals([tokens_in, tokens_out], [10, 3]);
    assertEquals(response.headers.get("x-mesh-cost-usd"), String(cost_usd));
  });

  it("passes events on as they came, pings and signatures too, with no end of ours", async () => {
    await using upstream = await startUpstream(
      speaking.anthropic.respond({ thoughts: "Hm", pieces: ["Good", " day"] }),
    );
    await using proxy = await over(upstream);
    const response = await post(proxy, { ...ask, stream: true });
    const direct = await fetch(`${upstream.url}/messages`, {
      method: "POST",
      body: JSON.stringify({ ...ask, stream: true }),
    });
    const text = await response.text();
    assertEquals(text, await direct.text());
    assertStringIncludes(text, "signature_delta");
    assertEquals(findRouting(proxy).estimated, undefined);
  });

  it("fails over from it, and to it", async () => {
    await using busy = await startUpstream(anthropicError(529, "overloaded_error", "Overloaded"));
    await using fine = await startUpstream(stream({ pieces: ["Good", " day"] }));
    await using proxy = await startDialectProxy({
      claude: { dialect, url: busy.url },
      other: { dialect: "openai", url: fine.url },
    }, noRetry);
    const text = await (await post(proxy, { ...ask, stream: true })).text();
    assertStringIncludes(text, '"text":" day"');
    assertStringIncludes(text, "event: message_stop");

    await using broken = await startUpstream(stream({ error: { after: "headers" } }));
    await using claude = await startUpstream(speaking.anthropic.respond({ pieces: ["Hello"] }));
    await using back = await startDialectProxy({
      other: { dialect: "openai", url: broken.url },
      claude: { dialect, url: claude.url },
    }, noRetry);
    assertEquals((await (await post(back, { ...ask, stream: true })).text()).match(/event: message_stop/g)?.length, 1);
  });

  it("ends a stream that breaks midway with its error event", async () => {
    await using upstream = await startUpstream(speaking.anthropic.respond({ failsAfter: 4 }));
    await using proxy = await over(upstream);
    const events = (await (await post(proxy, { ...ask, stream: true })).text()).trimEnd().split("\n\n");
    const overload = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"';
    assertStringIncludes(events.at(-1)!, overload, "as the provider's own, after which clients try again");
  });

  it("leaves out thoughts of other models, which it would refuse", async () => {
    await using upstream = await startUpstream(speaking.anthropic.respond());
    await using proxy = await over(upstream);
    const signed = { type: "thinking", thinking: "Own", signature: "sig" };
    const use = { type: "tool_use", id: "t1", name: "f", input: {} };
    const conversation = (...content: object[]) => [
      ...ask.messages,
      { role: "assistant", content: [...content, use] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "4" }] },
    ];
    const foreign = [
      { type: "thinking", thinking: "Other", signature: "" },
      { type: "redacted_thinking", data: "mesh:e30=" },
    ];
    await (await post(proxy, { ...ask, messages: conversation(signed, ...foreign) })).body?.cancel();
    assertEquals(upstream.requests[0]!.json().messages, conversation(signed));
  });

  it("leaves out thinking that it would refuse, where only it can take the request", async () => {
    await using upstream = await startUpstream(speaking.anthropic.respond());
    await using proxy = await over(upstream);
    const conversation = (...content: object[]) => [
      ...ask.messages,
      { role: "assistant", content: [...content, { type: "tool_use", id: "t1", name: "f", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "4" }] },
    ];
    const tools = [{ type: "web_search_20250305", name: "web_search" }];
    const thinking = { type: "enabled", budget_tokens: 2_048 };
    const clear = { type: "clear_tool_uses_20250919" };
    const context_management = { edits: [{ type: "clear_thinking_20251015" }, clear] };
    const foreign = { type: "thinking", thinking: "Other", signature: "" };
    const response = await post(proxy, {
      ...{ ...ask, tools, thinking, context_management, odd: 1 },
      messages: conversation(foreign),
    });
    await response.body?.cancel();
    assertEquals([response.status, response.headers.get("x-mesh-dropped-params")], [
      200,
      "thinking",
    ]);
    assertEquals(upstream.requests[0]!.json(), {
      ...{ ...ask, model: speaking.anthropic.model, tools, odd: 1, messages: conversation() },
      context_management: { edits: [clear] },
    });
  });

  it("returns what it did by itself, rather than ask another model", async () => {
    const usage = { input_tokens: 7, output_tokens: 3 };
    const head = { id: "msg_1", type: "message", role: "assistant", model: "claude-x", usage };
    const answers: readonly [string, object][] = [
      ["pause_turn", { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "x" } }],
      ["compaction", { type: "compaction", content: "So far" }],
    ];
    for (const [stop_reason, block] of answers) {
      const message = { ...head, content: [block], stop_reason, stop_sequence: null };
      const events = [
        { type: "message_start", message: { ...head, content: [] } },
        { type: "content_block_start", index: 0, content_block: block },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason }, usage },
        { type: "message_stop" },
      ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
      await using upstream = await startUpstream(({ json: body }) =>
        body().stream === true ? completeResponse(200, events, "text/event-stream") : json(message)
      );
      await using next = await startUpstream(speaking.anthropic.respond());
      await using proxy = await startDialectProxy({
        claude: { dialect, url: upstream.url },
        next: { dialect, url: next.url },
      }, noRetry);
      assertEquals(await (await post(proxy, ask)).json(), message);
      assertEquals(await (await post(proxy, { ...ask, stream: true })).text(), events);
      assertEquals([upstream.calls, next.calls], [2, 0]);
    }
  });

  it("gets chat's form with keys of its own dialect alone", async () => {
    await using upstream = await startUpstream(ok());
    await using proxy = await startDialectProxy({ other: { dialect: "openai", url: upstream.url } });
    const response = await post(proxy, { ...ask, odd: 12, inference_geo: "eu" }, { "anthropic-beta": "context-1m" });
    assertEquals(response.headers.get("x-mesh-dropped-params"), "odd, inference_geo");
    const { headers, json: sent } = upstream.requests[0]!;
    assertEquals([headers["anthropic-beta"], Object.keys(sent())], [undefined, ["model", "max_tokens", "messages"]]);
    await response.body?.cancel();
  });
});

describe("A system block that is a billing header", () => {
  const prompt = "You are an agent.\nBe brief.";
  const system = ["x-anthropic-billing-header: cc_version=2.1.9; cch=00000;", prompt].map((text) => ({
    type: "text",
    text,
  }));

  for (const stream of [false, true]) {
    for (const dialect of ["openai", "anthropic", "gemini"] as const) {
      it(`goes to models of its API only: ${dialect}, ${stream ? "streamed" : "whole"}`, async () => {
        await using upstream = await startUpstream(speaking[dialect].respond());
        await using proxy = await startDialectProxy({ a: { dialect, url: upstream.url } });
        const response = await post(proxy, { ...ask, system, stream });
        assertEquals([response.status, (await response.text()).includes("error")], [200, false]);
        const { json: sent, body } = upstream.requests[0]!;
        if (dialect === "anthropic") return assertEquals(sent().system, system);
        assertEquals([body.includes("billing"), body.includes(JSON.stringify(prompt))], [false, true]);
      });
    }
  }

  it("is not a message if there is no other block", async () => {
    await using upstream = await startUpstream(ok());
    await using proxy = await startDialectProxy({ other: { dialect: "openai", url: upstream.url } });
    await (await post(proxy, { ...ask, system: system.slice(0, 1) })).text();
    assertEquals(upstream.requests[0]!.json().messages, ask.messages);
  });
});

describe("POST /v1/messages/count_tokens", () => {
  it("counts by our own estimate, without a call, and needs no max_tokens", async () => {
    await using upstream = await startUpstream(ok());
    await using proxy = await startDialectProxy({ other: { dialect: "openai", url: upstream.url } });
    const count = async (content: string, model = "chat") => {
      const response = await fetch(`${proxy.url}/v1/messages/count_tokens`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model, messages: [{ role: "user", content }] }),
      });
      return { status: response.status, body: await response.json() };
    };
    const [short, long] = [await count("Hello"), await count("Hello there ".repeat(100))];
    assertEquals(Object.keys(short.body), ["input_tokens"]);
    assertEquals(long.body.input_tokens > 200 && short.body.input_tokens < 20, true);
    assertEquals(upstream.calls, 0);
    const unknown = await count("Hello", "nothing");
    assertEquals([unknown.status, unknown.body.error.type], [404, "not_found_error"]);
  });
});
