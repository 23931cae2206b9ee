import { assert, assertEquals, assertRejects } from "@std/assert";
import { anthropic } from "../../connectors/providers/anthropic.ts";
import type { FailureKind } from "../../src/contracts/provider.ts";
import type { UpstreamRequest } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { complete, type FakeResponse, fixture, haiku, now, options, provider, request, respond } from "./_anthropic.ts";

async function failure(given: FakeResponse): Promise<UpstreamError> {
  return await assertRejects(() => complete(given), UpstreamError);
}

Deno.test("complete() asks the Messages API with key and version", async () => {
  const sent: UpstreamRequest[] = [];
  await provider().complete(request(), options([respond(await fixture("text.json"))], sent));
  const [{ url, headers, body }] = sent as [UpstreamRequest];
  assertEquals(url, "https://api.anthropic.com/v1/messages");
  assertEquals(headers, {
    "content-type": "application/json",
    "anthropic-version": "2023-06-01",
    "x-api-key": "sk-ant-test",
  });
  assertEquals(JSON.parse(body as string), {
    model: "claude-haiku-4-5",
    max_tokens: 16384,
    messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
  });
});

Deno.test("create() takes an address with and without the version", async () => {
  for (const baseUrl of ["http://localhost:9/anthropic", "http://localhost:9/anthropic/v1/"]) {
    const sent: UpstreamRequest[] = [];
    await provider({ baseUrl }).complete(request(), options([respond(await fixture("text.json"))], sent));
    assertEquals(sent[0]?.url, "http://localhost:9/anthropic/v1/messages");
  }
});

Deno.test("complete() answers with every member OpenAI's schema requires", async () => {
  assertEquals(await complete(respond(await fixture("text.json"))), {
    id: "msg_01QXbP4Jk7nVwN3rGmT8sYzD",
    object: "chat.completion",
    created: now / 1000,
    model: "claude-haiku-4-5-20251001",
    choices: [{
      index: 0,
      message: { role: "assistant", content: "The capital of France is Paris.", refusal: null },
      finish_reason: "stop",
      logprobs: null,
    }],
    usage: {
      prompt_tokens: 4214,
      completion_tokens: 10,
      total_tokens: 4224,
      prompt_tokens_details: { cached_tokens: 3000, cache_write_tokens: 1200 },
    },
  });
});

Deno.test("complete() carries thoughts on the call they led to", async () => {
  const { choices, usage } = await complete(respond(await fixture("thinking_tools.json")));
  assertEquals(choices[0]?.finish_reason, "tool_calls");
  assertEquals(choices[0]?.message, {
    role: "assistant",
    content: "Let me look both up.",
    refusal: null,
    reasoning_content: "Two cities are asked for.\n\nParis first.",
    tool_calls: [{
      id: "toolu_01Aq9w938a90dw8q",
      type: "function",
      function: { name: "get_weather", arguments: '{"city":"Paris","days":2}' },
      extra_content: {
        anthropic: {
          thinking_blocks: [
            { type: "thinking", thinking: "Two cities are asked for.", signature: "RXhhbXBsZVNpZ25hdHVyZU9uZQ==" },
            { type: "redacted_thinking", data: "RXhhbXBsZVJlZGFjdGVkRGF0YQ==" },
            { type: "thinking", thinking: "Paris first.", signature: "RXhhbXBsZVNpZ25hdHVyZVR3bw==" },
          ],
          text_before: [0, 20, 20],
        },
      },
    }, {
      id: "toolu_01Bc7x112b33ef4g",
      type: "function",
      function: { name: "get_time", arguments: "{}" },
    }],
  });
  assertEquals(usage?.completion_tokens_details, { reasoning_tokens: 40 });
});

Deno.test("complete() maps every stop reason", async () => {
  const text = JSON.parse(await fixture("text.json"));
  for (
    const [stop_reason, expected] of [
      ["end_turn", "stop"],
      ["stop_sequence", "stop"],
      ["pause_turn", "stop"],
      ["max_tokens", "length"],
      ["model_context_window_exceeded", "length"],
      ["tool_use", "tool_calls"],
      ["refusal", "content_filter"],
      ["something_new", "stop"],
    ]
  ) {
    const { choices } = await complete(respond(JSON.stringify({ ...text, stop_reason })));
    assertEquals(choices[0]?.finish_reason, expected, stop_reason);
  }
});

Deno.test("complete() reports why a response was refused", async () => {
  const { choices } = await complete(respond(await fixture("refusal.json")));
  assertEquals(choices[0]?.finish_reason, "content_filter");
  assertEquals(choices[0]?.message.content, null);
  assertEquals(choices[0]?.message.refusal, "This request could enable cyber harm.");
});

Deno.test("complete() refuses answers that are none", async () => {
  const whole = await fixture("text.json");
  for (const text of ["", "<html>Bad gateway</html>", whole.slice(0, 200), "{}", '{"content":"Paris"}', "[]"]) {
    assertEquals((await failure(respond(text))).kind, "invalid_response", text);
  }
});

Deno.test("errors are reported in OpenAI's terms and classed", async () => {
  const table: readonly (readonly [number, string, string, FailureKind, string | null])[] = [
    [400, "invalid_request_error", "messages: at least one message is required", "request", null],
    [
      400,
      "invalid_request_error",
      "prompt is too long: 210000 tokens > 200000 maximum",
      "request",
      "context_length_exceeded",
    ],
    [
      400,
      "invalid_request_error",
      "Your credit balance is too low to access the Anthropic API.",
      "quota_exhausted",
      "insufficient_quota",
    ],
    [401, "authentication_error", "invalid x-api-key", "auth", "invalid_api_key"],
    [402, "billing_error", "Payment is due", "quota_exhausted", "insufficient_quota"],
    [403, "permission_error", "Your key may not use this resource", "auth", null],
    [404, "not_found_error", "model: claude-opus-9", "model_not_found", "model_not_found"],
    [404, "not_found_error", "Not found", "misconfigured", null],
    [413, "request_too_large", "Request exceeds the maximum size", "request", "request_too_large"],
    [429, "rate_limit_error", "This would exceed your rate limit", "rate_limited", "rate_limit_exceeded"],
    [500, "api_error", "Internal server error", "server", null],
    [504, "timeout_error", "Request timeout", "server", "timeout"],
    [529, "overloaded_error", "Overloaded", "server", "overloaded"],
  ];
  for (const [status, type, message, kind, code] of table) {
    const body = JSON.stringify({ type: "error", error: { type, message }, request_id: "req_1" });
    const error = await failure(respond(body, status));
    assertEquals([error.kind, error.fault?.error.code, error.fault?.error.message], [kind, code, message]);
    assertEquals(error.fault?.status, status);
    if (type === "api_error" || (status < 500 && status !== 404)) {
      assertEquals((await failure(respond(body))).kind, kind, `${type} under 200`);
    }
  }
});

Deno.test("errors name the wait, be it a header or a spend limit's date", async () => {
  const limited = respond('{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}', 429, {
    "retry-after": "7",
  });
  assertEquals((await failure(limited)).fault?.retryAfterMs, 7000);
  const message =
    "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.";
  const spent = await failure(
    respond(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } }), 400),
  );
  assertEquals(spent.kind, "quota_exhausted");
  assertEquals(spent.fault?.retryAfterMs, Date.UTC(2026, 11, 1) - now);
});

Deno.test("errors of a gateway in OpenAI's dialect, or in none, are understood", async () => {
  const dialect = await failure(
    respond('{"error":{"message":"No such key","type":"invalid_request_error","code":"invalid_api_key"}}', 401),
  );
  assertEquals([dialect.kind, dialect.fault?.error.code], ["auth", "invalid_api_key"]);
  assertEquals((await failure(respond("<html>", 502))).fault?.error.message, "HTTP status 502");
});

Deno.test("listModels() pages through and keeps what the catalogue knows", async () => {
  const sent: UpstreamRequest[] = [];
  const pages = [respond(await fixture("models_page_1.json")), respond(await fixture("models_page_2.json"))];
  const models = await provider().listModels(options(pages, sent));
  assertEquals(models.map(({ id }) => id), ["claude-sonnet-5-5", "claude-haiku-4-5-20251001", "claude-opus-6"]);
  assertEquals(models[1]?.pricing, haiku.pricing);
  assertEquals(models[2]?.constraints, { context_window: 2_000_000, max_output_tokens: 256_000 });
  assertEquals(models[2]?.features?.structured_output, false);
  assertEquals(sent.map(({ method, url }) => `${method} ${url}`), [
    "GET https://api.anthropic.com/v1/models?limit=1000",
    "GET https://api.anthropic.com/v1/models?limit=1000&after_id=claude-haiku-4-5-20251001",
  ]);
  assertEquals(sent[0]?.headers["x-api-key"], "sk-ant-test");
});

Deno.test("getRateLimits() returns what the last response said", async () => {
  const claude = provider();
  assertEquals(claude.getRateLimits("claude-haiku-4-5"), undefined);
  const headers = { "anthropic-ratelimit-requests-limit": "4000", "anthropic-ratelimit-tokens-limit": "500000" };
  await claude.complete(request(), options([respond(await fixture("text.json"), 200, headers)]));
  assertEquals(claude.getRateLimits("claude-haiku-4-5"), { rpm: 4000, tpm: 500_000 });
});

Deno.test("the catalogue has one default, dated prices and no sampling where it is refused", () => {
  const claude = provider();
  assertEquals(
    anthropic.models.filter(({ defaultFor }) => defaultFor?.includes("chat-completion")).map(({ id }) => id),
    [
      "claude-sonnet-5-5",
    ],
  );
  for (const { id, pricing, features, source } of anthropic.models) {
    assert(
      pricing!.every(({ input, output, cached_input, cache_write }) => input && output && cached_input && cache_write),
    );
    assertEquals([features?.json_mode, features?.structured_output], [false, true], id);
    assert(source);
    assert(claude.supports(id, "interaction.tool-calling", "stream"));
    assert(!claude.supports(id, "interaction.tool-calling", "batch"));
  }
  assertEquals(haiku.parameters, undefined);
  assertEquals(claude.getPricing("claude-sonnet-5-5")?.at(-1)?.from, "2026-10-07");
  assertEquals(claude.getPricing("unknown"), undefined);
});
