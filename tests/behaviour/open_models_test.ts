/** Makers and hosts of open models: what requests to them contain, and what their refusals mean. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Json } from "../support/_dialects.ts";
import { startTestProxy, type TestProxy } from "../support/proxy.ts";
import { respond, startUpstream, status } from "../support/upstream.ts";

interface Sent {
  readonly status: number;
  readonly dropped: readonly string[];
  readonly body: Json;
}

/** A proxy over a model of a vendor's catalogue, which is the only one of the pool "chat". */
function over({ url }: { readonly url: string }, connector: string, model: string): Promise<TestProxy> {
  return startTestProxy({
    upstreams: {},
    config: {
      providers: { vendor: { connector, base_url: url, api_key: "key-of-the-vendor-0123456789" } },
      models: { one: { provider: "vendor", model } },
      pools: { chat: { models: ["one"] } },
    },
  });
}

function post(proxy: TestProxy, more: Json = {}): Promise<Response> {
  return fetch(`${proxy.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }], ...more }),
  });
}

/** Sends one chat request to a model of a vendor's catalogue. */
async function send(connector: string, model: string, more: Json): Promise<Sent> {
  await using upstream = await startUpstream(respond());
  await using proxy = await over(upstream, connector, model);
  const response = await post(proxy, more);
  const text = await response.text();
  assertEquals([response.status, upstream.calls], [200, 1], text);
  const dropped = response.headers.get("x-mesh-dropped-params")?.split(/,\s*/) ?? [];
  return { status: response.status, dropped, body: upstream.requests[0]!.json() as Json };
}

describe("Reasoning efforts of open models", () => {
  const rows: readonly [connector: string, model: string, effort: string, expected: Json][] = [
    ["moonshot.kimi.v1", "kimi-k3", "medium", { reasoning_effort: "low" }],
    ["moonshot.kimi.v1", "kimi-k2.6", "none", { thinking: { type: "disabled" } }],
    ["moonshot.kimi.v1", "kimi-k2.6", "high", { thinking: { type: "enabled" } }],
    ["zai.glm.v1", "glm-5.3", "none", { reasoning_effort: "low" }],
    ["zai.glm.v1", "glm-4.7", "none", { thinking: { type: "disabled" } }],
    ["qwen.dashscope.v1", "qwen3.8-flash", "none", { enable_thinking: false }],
    ["qwen.dashscope.v1", "qwen3.8-flash", "low", { enable_thinking: true }],
    ["minimax.api.v1", "MiniMax-M3", "minimal", { thinking: { type: "disabled" } }],
    ["minimax.api.v1", "MiniMax-M3", "max", { thinking: { type: "adaptive" } }],
    ["moonshot.kimi.v1", "kimi-k2.7-code", "high", {}],
    ["minimax.api.v1", "MiniMax-M2.7", "low", {}],
    ["deepinfra.api.v1", "openai/gpt-oss-120b", "xhigh", { reasoning_effort: "high" }],
  ];
  for (const [connector, model, effort, expected] of rows) {
    it(`${model}: ${effort} is ${JSON.stringify(expected)}`, async () => {
      const { body } = await send(connector, model, { reasoning_effort: effort });
      const { reasoning_effort, thinking, enable_thinking } = body;
      assertEquals(JSON.parse(JSON.stringify({ reasoning_effort, thinking, enable_thinking })), expected);
    });
  }
});

describe("Parameters of open models", () => {
  it("Kimi keeps its own sampling, and the dropped parameters are named", async () => {
    const { body, dropped } = await send("moonshot.kimi.v1", "kimi-k3", { temperature: 0.2, top_p: 0.5 });
    assertEquals([body.temperature, body.top_p, dropped.toSorted()], [undefined, undefined, ["temperature", "top_p"]]);
  });

  it("the token limit has the name that the vendor knows", async () => {
    const rows = [
      ["zai.glm.v1", "glm-5.3", "max_completion_tokens", "max_tokens"],
      ["qwen.dashscope.v1", "qwen3.8-max", "max_completion_tokens", "max_tokens"],
      ["nebius.api.v1", "openai/gpt-oss-120b", "max_completion_tokens", "max_tokens"],
      ["minimax.api.v1", "MiniMax-M3", "max_tokens", "max_completion_tokens"],
    ] as const;
    for (const [connector, model, asked, known] of rows) {
      const { body } = await send(connector, model, { [asked]: 50 });
      assertEquals([body[known], asked in body], [50, false], model);
    }
  });

  it("MiniMax separates reasoning from the text, unless the client decides otherwise", async () => {
    const { body } = await send("minimax.api.v1", "MiniMax-M3", {});
    assertEquals(body.reasoning_split, true);
    const other = await send("minimax.api.v1", "MiniMax-M3", { reasoning_split: false });
    assertEquals(other.body.reasoning_split, false);
  });

  it("GLM gets one stop sequence, and no request with a JSON schema", async () => {
    const { body, dropped } = await send("zai.glm.v1", "glm-5.3", { stop: ["a", "b"] });
    assertEquals([[body.stop].flat(), dropped], [["a"], ["stop"]]);
    await using upstream = await startUpstream(respond());
    await using proxy = await over(upstream, "zai.glm.v1", "glm-5.3");
    const response_format = { type: "json_schema", json_schema: { name: "a", schema: { type: "object" } } };
    const response = await post(proxy, { response_format });
    assertEquals([response.status, (await response.json()).error.code], [400, "unsupported_by_pool"]);
    assertEquals(upstream.calls, 0);
  });
});

describe("An account without a balance, reported as a rate limit", () => {
  const rows = [
    ["moonshot.kimi.v1", "kimi-k3", {
      error: { message: "Your account is suspended due to insufficient balance", type: "exceeded_current_quota_error" },
    }],
    ["zai.glm.v1", "glm-5.3", { error: { code: "1113", message: "Insufficient balance or no resource package." } }],
    ["minimax.api.v1", "MiniMax-M3", {
      error: { type: "insufficient_balance_error", message: "insufficient balance (1008)", http_code: "429" },
    }],
  ] as const;
  for (const [connector, model, json] of rows) {
    it(`${connector} is not asked again, and the client gets insufficient_quota`, async () => {
      await using upstream = await startUpstream(status(429, { json }));
      await using proxy = await over(upstream, connector, model);
      for (const _ of [1, 2]) {
        const response = await post(proxy);
        const { error } = await response.json();
        assertEquals([response.status, error.code], [429, "insufficient_quota"]);
        assert(!error.message.includes("recharge"));
      }
      assertEquals(upstream.calls, 1);
    });
  }
});
