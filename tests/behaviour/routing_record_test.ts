/** What a routing record says of the end of its request. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { RoutingRecord } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { arrival, visit } from "../support/_leaving.ts";
import { becomes } from "../support/patience.ts";
import { startTestProxy, type TestProxyOptions } from "../support/proxy.ts";
import { Gate, hang, respond, type Script, startUpstream, status, stream } from "../support/upstream.ts";

const token = "token-of-the-app-0123456789";
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
const priced = { provider: "a", capabilities: ["chat-completion"], pricing: { input: 10, output: 20 } };

async function startSite(script: Script, options: Partial<TestProxyOptions> = {}) {
  const upstream = await startUpstream(script);
  const clock = fakeClock({ skipSleeps: true });
  const proxy = await startTestProxy({
    upstreams: { a: upstream.url },
    clock,
    pool: { retry: { max_attempts: 0 } },
    config: { models: { a: priced }, proxy: { auth: { tokens: [{ token, name: "app" }] } } },
    ...options,
  });
  return {
    proxy,
    clock,
    upstream,
    chat: (body: Readonly<Record<string, unknown>> = {}) => proxy.chat(body, { headers }),
    routings: () => proxy.records.filter((record): record is RoutingRecord => record.type === "routing"),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** Members about the end. */
function pickEnd({ client, status, ttft_ms, duration_ms, tokens_in, tokens_out, cost_usd, estimated }: RoutingRecord) {
  return { client, status, ttft_ms, duration_ms, tokens_in, tokens_out, cost_usd, estimated };
}

describe("A routing record", () => {
  it("has client, status, duration, tokens and cost of a non-streaming response", async () => {
    const gate = new Gate();
    await using site = await startSite({
      async play(exchange) {
        await gate.pass();
        await respond().play(exchange);
      },
    });
    const pending = site.chat();
    await gate.reached(1);
    await site.clock.advance(1234);
    gate.openAll();
    const { usage } = await (await pending).json();
    const [record, ...others] = site.routings();
    const { prompt_tokens: tokens_in, completion_tokens: tokens_out } = usage;
    const cost_usd = (tokens_in * 10 + tokens_out * 20) / 1e6;
    const facts = { client: "app", status: 200, ttft_ms: undefined, estimated: undefined };
    assertEquals(pickEnd(record!), { ...facts, duration_ms: 1234, tokens_in, tokens_out, cost_usd });
    assertEquals(others, []);
  });

  it("of a stream comes with its end, once, and says when its content began", async () => {
    const gate = new Gate();
    await using site = await startSite(stream({ pieces: ["one", "two"], gate }));
    const pending = site.chat({ stream: true });
    await gate.reached(1);
    await site.clock.advance(300);
    gate.open(2); // the role, and the first word
    const response = await pending;
    assertEquals(response.headers.get("x-mesh-model"), "a");
    assertEquals(site.routings(), []);
    await site.clock.advance(700);
    gate.openAll();
    assert((await response.text()).includes("[DONE]"));
    const [record, ...others] = site.routings();
    const { tokens_in = 0, tokens_out = 0, cost_usd = 0, ...facts } = pickEnd(record!);
    assertEquals([facts.client, facts.status, facts.ttft_ms, facts.duration_ms], ["app", 200, 300, 1000]);
    assert(tokens_in > 0 && tokens_out > 0 && cost_usd > 0, JSON.stringify(pickEnd(record!)));
    assertEquals(others, []);
  });

  it("says when tokens are estimated", async () => {
    const budget = { daily_limit: 100 };
    const auth = { tokens: [{ token, name: "app", budget }] };
    const config = { models: { a: priced }, proxy: { auth } };
    await using site = await startSite(respond({ usage: null }), { config });
    assertEquals((await (await site.chat()).json()).object, "chat.completion");
    const { estimated, tokens_out = 0 } = site.routings()[0]!;
    assertEquals([estimated, tokens_out > 0], [true, true]);
  });

  it("of a request that was not served has the status that its client got", async () => {
    const rows: readonly Script[] = [status(400), status(401), status(429), status(500), [hang(), status(500)]];
    for (const script of rows) {
      await using site = await startSite(script);
      const pending = site.chat();
      await arrival(site.upstream);
      if (Array.isArray(script)) await site.clock.advance(600_000);
      const response = await pending;
      await response.body?.cancel();
      const record = site.routings()[0]!;
      assertEquals([record.status, record.client], [response.status, "app"]);
      const later = await site.chat(); // in standby, or again the same
      await later.body?.cancel();
      assertEquals(site.routings()[1]?.status, later.status);
    }
  });

  it("of a client that left says 499", async () => {
    await using site = await startSite(hang(), { config: {}, listener: "node" });
    const visitor = visit(site.proxy.url, "FIN", {});
    await arrival(site.upstream);
    visitor.leave();
    await becomes(() => site.routings().length, 1);
    assertEquals(site.routings()[0]!.status, 499);
  });

  it("names the endpoint whose words the client used, where these are not OpenAI's chat", async () => {
    await using site = await startSite(respond());
    const bodies = {
      "chat/completions": { messages: [{ role: "user", content: "Hi" }] },
      "completions": { prompt: "Hi" },
      "messages": { max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
      "responses": { input: "Hi" },
    };
    for (const [path, body] of Object.entries(bodies)) {
      const sent = { method: "POST", headers, body: JSON.stringify({ model: "chat", ...body }) };
      const response = await fetch(`${site.proxy.url}/v1/${path}`, sent);
      assertEquals([path, response.status], [path, 200]);
      await response.text();
    }
    assertEquals(site.routings().map(({ operation, dialect }) => [operation, dialect]), [
      ["chat", undefined],
      ["chat", "completions"],
      ["chat", "messages"],
      ["chat", "responses"],
    ]);
  });
});
