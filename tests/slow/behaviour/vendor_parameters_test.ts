/** What each vendor takes: no parameter reaches one that rejects it, in any dialect, streaming or not. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Json } from "../../support/_dialects.ts";
import { startTestProxy, type TestProxy } from "../../support/proxy.ts";
import {
  groqMembers,
  mistralMembers,
  openAiMembers,
  openAiReasoning,
  rejecting,
  upTo,
  type VendorBody,
  vllmEfforts,
  withoutReasoning,
} from "../../support/_strict_vendors.ts";
import { json, type Script, startUpstream } from "../../support/upstream.ts";

/** A model of a vendor. */
interface VendorModel {
  readonly connector: string;
  readonly id: string;
  readonly settings?: Json;
}

/** What a client receives: its status, and the names of dropped parameters. */
interface Received {
  readonly status: number;
  readonly dropped: readonly string[];
  readonly text: string;
}

/** A proxy over one model of a vendor. */
function over({ url }: { readonly url: string }, { connector, id, settings }: VendorModel): Promise<TestProxy> {
  return startTestProxy({
    upstreams: {},
    config: {
      providers: { vendor: { connector, base_url: url, api_key: "key-of-the-vendor-0123456789" } },
      models: { one: { provider: "vendor", model: id, capabilities: ["chat-completion"], ...settings } },
      pools: { chat: { models: ["one"] } },
    },
  });
}

async function post(proxy: TestProxy, path: string, body: Json): Promise<Received> {
  const response = await fetch(`${proxy.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const dropped = response.headers.get("x-mesh-dropped-params")?.split(/,\s*/) ?? [];
  return { status: response.status, dropped, text: await response.text() };
}

const user = { role: "user", content: "Hi" };
const contents = [{ role: "user", parts: [{ text: "Hi" }] }];

/** A request in each dialect, with a limit of output tokens and an effort. */
const asked: Readonly<Record<string, (limit: number, stream: boolean) => readonly [path: string, body: Json]>> = {
  chat: (max_tokens, stream) => ["/v1/chat/completions", {
    model: "chat",
    messages: [user],
    max_tokens,
    reasoning_effort: "high",
    stream,
  }],
  messages: (max_tokens, stream) => ["/v1/messages", {
    model: "chat",
    messages: [user],
    max_tokens,
    thinking: { type: "adaptive" },
    output_config: { effort: "high" },
    stream,
  }],
  responses: (max_output_tokens, stream) => ["/v1/responses", {
    model: "chat",
    input: "Hi",
    max_output_tokens,
    reasoning: { effort: "high" },
    stream,
  }],
  gemini: (maxOutputTokens, stream) => [
    `/v1beta/models/chat:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    { contents, generationConfig: { maxOutputTokens, thinkingConfig: { thinkingLevel: "high" } } },
  ],
};

async function ask(
  model: VendorModel,
  script: Script,
  path: string,
  body: Json,
): Promise<Received & { readonly sent: VendorBody }> {
  await using upstream = await startUpstream(script);
  await using proxy = await over(upstream, model);
  const received = await post(proxy, path, body);
  assertEquals([upstream.calls, received.status], [1, 200], received.text);
  return { ...received, sent: upstream.requests[0]!.json() as VendorBody };
}

describe("What Gemini CLI always sends reaches no vendor that does not know it", () => {
  const rows: readonly [connector: string, id: string, script: Script][] = [
    ["openai.llm.v1", "gpt-4o", rejecting(openAiMembers)],
    ["azure.openai.v1", "gpt-4o", rejecting(openAiMembers)],
    ["groq.api.v1", "llama-3.3-70b-versatile", rejecting(groqMembers)],
    ["mistral.api.v1", "mistral-large-latest", rejecting(mistralMembers)],
    ["cerebras.api.v1", "llama3.1-8b", rejecting(openAiMembers)],
  ];
  for (const [connector, id, script] of rows) {
    for (const stream of [false, true]) {
      it(`${connector}: top_k and a fifth stop sequence, ${stream ? "streamed" : "whole"}`, async () => {
        const [path] = asked.gemini!(1, stream);
        const stops = ["a", "b", "c", "d", "e"];
        const generationConfig = { temperature: 1, topP: 0.95, topK: 64, stopSequences: stops };
        const { sent, dropped } = await ask({ connector, id }, script, path, { contents, generationConfig });
        assertEquals([sent.stop, sent.temperature, "top_k" in sent], [["a", "b", "c", "d"], 1, false]);
        assertEquals([...dropped].sort(), ["stop", "top_k"]);
      });
    }
  }

  it("four stop sequences stay as they are, and are not named", async () => {
    const body = { model: "chat", messages: [user], stop: ["a", "b", "c", "d"] };
    const model = { connector: "openai.llm.v1", id: "gpt-4o" };
    const { sent, dropped } = await ask(model, rejecting(openAiMembers), "/v1/chat/completions", body);
    assertEquals([sent.stop, dropped], [body.stop, []]);
  });
});

describe("Reasoning models that the catalogue does not know", () => {
  const body = { model: "chat", messages: [user], max_tokens: 50, temperature: 0.2 };
  const models: readonly VendorModel[] = [
    { connector: "openai.llm.v1", id: "gpt-9.5-nova" },
    { connector: "openai.llm.v1", id: "o5-mini" },
    { connector: "openai.llm.v1", id: "ft:gpt-9:acme::1" },
    { connector: "azure.openai.v1", id: "our-gpt-9" },
    { connector: "azure.openai.v1", id: "production" },
  ];
  for (const model of models) {
    it(`${model.connector} ${model.id} gets max_completion_tokens and no temperature`, async () => {
      for (const stream of [false, true]) {
        const script = rejecting(openAiMembers, openAiReasoning);
        const { sent, dropped } = await ask(model, script, "/v1/chat/completions", { ...body, stream });
        assertEquals([sent.max_completion_tokens, dropped], [50, ["temperature"]]);
      }
    });
  }

  for (
    const id of [
      "gpt-4o-2031-01-01",
      "gpt-4.1-nova",
      "chatgpt-4o-latest",
      "gpt-3.5-turbo-1106",
      "ft:gpt-4o-mini:acme::1",
    ]
  ) {
    it(`are not those of an earlier generation: ${id}`, async () => {
      const model = { connector: "azure.openai.v1", id };
      const { sent } = await ask(model, rejecting(openAiMembers), "/v1/chat/completions", body);
      assertEquals([sent.max_tokens, sent.temperature], [50, 0.2]);
    });
  }

  it("nor those that the configuration says cannot reason", async () => {
    const model = { connector: "azure.openai.v1", id: "production", settings: { features: { reasoning: false } } };
    const script = rejecting(openAiMembers, withoutReasoning);
    const { sent, dropped } = await ask(model, script, "/v1/chat/completions", {
      ...body,
      reasoning_effort: "low",
    });
    assertEquals([sent.max_tokens, sent.temperature, dropped], [50, 0.2, ["reasoning_effort"]]);
  });
});

describe("A reasoning effort", () => {
  for (const [dialect, request] of Object.entries(asked)) {
    it(`goes to no model that cannot reason, by ${dialect}`, async () => {
      const model = { connector: "openai.compatible.v1", id: "m", settings: { features: { reasoning: false } } };
      for (const stream of [false, true]) {
        const { dropped } = await ask(model, rejecting(withoutReasoning), ...request(50, stream));
        assert(dropped.includes("reasoning_effort"));
      }
    });
  }

  it("goes as high as the vendor goes", async () => {
    for (const [wanted, expected] of [["max", "high"], ["xhigh", "high"], ["medium", "medium"]]) {
      const body = { model: "chat", messages: [user], reasoning_effort: wanted };
      const rows = [["vllm.local.v1", "qwen3"], ["ollama.local.v1", "gpt-oss"], ["groq.api.v1", "openai/gpt-oss-20b"]];
      for (const [connector = "", id = ""] of rows) {
        const { sent } = await ask({ connector, id }, rejecting(vllmEfforts), "/v1/chat/completions", body);
        assertEquals(sent.reasoning_effort, expected, connector);
      }
    }
  });
});

describe("A limit above the model's own is lowered and named", () => {
  const facts = { constraints: { max_output_tokens: 16_384, context_window: 128_000 } };

  for (const [dialect, request] of Object.entries(asked)) {
    it(`by ${dialect}`, async () => {
      for (const stream of [false, true]) {
        const model = { connector: "openai.compatible.v1", id: "m", settings: facts };
        const { sent, dropped } = await ask(model, rejecting(upTo(16_384)), ...request(32_000, stream));
        assertEquals(sent.max_completion_tokens ?? sent.max_tokens, 16_384);
        assert(dropped.includes("max_tokens"), `${dropped}`);
      }
    });
  }

  it("to that of the catalogue", async () => {
    const model = { connector: "openai.llm.v1", id: "gpt-4o" };
    const { sent, dropped } = await ask(model, rejecting(upTo(16_384)), ...asked.chat!(32_000, false));
    assertEquals([sent.max_tokens, dropped], [16_384, ["max_tokens", "reasoning_effort"]]);
  });

  it("to what the input leaves of the window, where the window is all there is", async () => {
    const settings = { constraints: { max_output_tokens: 8_192, context_window: 8_192 } };
    const model = { connector: "openai.llm.v1", id: "gpt-4", settings };
    const body = { model: "chat", messages: [{ role: "user", content: "word ".repeat(300) }], max_tokens: 32_000 };
    const { sent, dropped } = await ask(model, rejecting(upTo(7_800)), "/v1/chat/completions", body);
    assert(Number(sent.max_tokens) > 7_000);
    assertEquals(dropped, ["max_tokens"]);
  });

  it("in the native request too", async () => {
    const whole = {
      ...{ id: "msg_1", type: "message", role: "assistant", model: "c", stop_reason: "end_turn", stop_sequence: null },
      content: [{ type: "text", text: "Hi" }],
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    const claude = { connector: "anthropic.claude.v1", id: "claude-haiku-4-5" };
    const [path, body] = asked.messages!(999_000, false);
    const { thinking: _, output_config: __, ...plain } = body;
    const { sent, dropped } = await ask(claude, json(whole), path, plain);
    assertEquals([sent.max_tokens, dropped], [64_000, ["max_tokens"]]);

    const gemini = { connector: "google.gemini.v1", id: "gemini-2.5-flash" };
    const answer = { candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }] };
    const config = { maxOutputTokens: 999_000, topK: 64 };
    const request = { contents, generationConfig: config };
    const native = await ask(gemini, json(answer), "/v1beta/models/chat:generateContent", request);
    assertEquals(native.sent.generationConfig, { topK: 64, maxOutputTokens: 65_536 });
    assertEquals(native.dropped, ["max_tokens"]);
  });
});

describe("Gemini models that the catalogue does not know", () => {
  const answer = { candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP" }] };
  for (const id of ["gemini-9-flash", "gemini-nova", "gemini-3.9-pro-preview"]) {
    it(`${id} is skipped for several choices`, async () => {
      await using upstream = await startUpstream(json(answer));
      await using proxy = await over(upstream, { connector: "google.gemini.v1", id });
      const { status, text } = await post(proxy, "/v1/chat/completions", { model: "chat", messages: [user], n: 2 });
      assertEquals([status, JSON.parse(text).error.code, upstream.calls], [400, "unsupported_by_pool", 0]);
    });
  }
});
