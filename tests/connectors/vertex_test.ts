/** Google Vertex AI. */
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { vertexConnector } from "../../connectors/providers/_vertex_provider.ts";
import { create } from "../../mod.ts";
import type { ChatMessage, Tool } from "../../src/contracts/openai.ts";
import { ConfigError } from "../../src/errors.ts";
import { testRuntime } from "../../src/runtime/test.ts";
import { createForm, makeAccount, readAssertion } from "../support/_token_endpoint.ts";
import {
  completeResponse,
  emptyBody,
  html200,
  json,
  startUpstream,
  status,
  truncatedJson,
} from "../support/upstream.ts";
import { gather } from "./_anthropic.ts";
import { ask, catchFault, type CloudCall, list, stream } from "./_clouds.ts";

const config = { project: "my-project", location: "europe-west1" };
const flash = "gemini-3.5-flash";
const haiku = "claude-haiku-4-5@20251001";
const place = "/projects/my-project/locations/europe-west1";

const geminiText = {
  candidates: [{ content: { role: "model", parts: [{ text: "Hello" }] }, finishReason: "STOP", index: 0 }],
  usageMetadata: {
    promptTokenCount: 8,
    candidatesTokenCount: 3,
    totalTokenCount: 11,
    trafficType: "ON_DEMAND",
    promptTokensDetails: [{ modality: "TEXT", tokenCount: 8 }],
  },
  modelVersion: flash,
  createTime: "2026-11-22T12:00:00.000000Z",
  responseId: "abc",
};

const claudeText = {
  id: "msg_vrtx_1",
  type: "message",
  role: "assistant",
  model: "claude-haiku-4-5-20251001",
  content: [{ type: "text", text: "Hello" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 8, cache_creation_input_tokens: 4, cache_read_input_tokens: 2, output_tokens: 3 },
};

function toGemini(more: Partial<CloudCall> = {}): CloudCall {
  const base = { connector: "google.vertex.v1", script: json(geminiText), model: flash, credential: null };
  return { ...base, config, ...more };
}

function toClaude(more: Partial<CloudCall> = {}): CloudCall {
  return toGemini({ script: json(claudeText), model: haiku, ...more });
}

function events(...values: readonly object[]) {
  const lines = values.map((value) => {
    const { type } = value as { type?: string };
    return `${type === undefined ? "" : `event: ${type}\n`}data: ${JSON.stringify(value)}\n\n`;
  });
  return completeResponse(200, lines.join(""), "text/event-stream");
}

Deno.test("Gemini is asked at the project's address in the version that knows ids of calls", async () => {
  const { sent, body } = await ask(toGemini());
  assertEquals(sent.path, `/v1beta1${place}/publishers/google/models/gemini-3.5-flash:generateContent`);
  assertEquals(sent.json(), { contents: [{ role: "user", parts: [{ text: "Hello" }] }] });
  assertEquals(sent.headers["x-goog-api-key"], undefined);
  assertEquals([body.choices[0]!.message.content, body.choices[0]!.finish_reason], ["Hello", "stop"]);
  assertEquals([body.id, body.model, body.usage?.total_tokens], ["abc", flash, 11]);
  const tuned = await ask(toGemini({ model: "endpoints/123" }));
  assertEquals(tuned.sent.path, `/v1beta1${place}/endpoints/123:generateContent`);
});

Deno.test("Gemini's streams are those of its family", async () => {
  const part = (text: string, more: object = {}) => ({
    ...geminiText,
    candidates: [{ content: { role: "model", parts: [{ text }] }, index: 0, ...more }],
  });
  const script = events(part("Hel"), part("lo", { finishReason: "STOP" }));
  const { sent, chunks } = await stream(toGemini({ script }));
  assertEquals(sent.path, `/v1beta1${place}/publishers/google/models/gemini-3.5-flash:streamGenerateContent?alt=sse`);
  assertEquals(gather(chunks).content, "Hello");
  assertEquals(chunks.at(-1)!.usage?.total_tokens, 11);
});

Deno.test("Claude is asked by rawPredict: the model in the address, the version in the body", async () => {
  const messages: ChatMessage[] = [{
    role: "user",
    content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }],
  }];
  const { sent, body } = await ask(toClaude({ body: { messages, max_tokens: 9 } }));
  assertEquals(sent.path, `/v1${place}/publishers/anthropic/models/claude-haiku-4-5@20251001:rawPredict`);
  assertEquals(sent.headers["anthropic-version"], undefined);
  assertEquals(sent.json(), {
    anthropic_version: "vertex-2023-10-16",
    max_tokens: 9,
    messages: [{ role: "user", content: [{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }] }],
  });
  assertEquals(body.choices[0]!.message.content, "Hello");
  assertEquals(body.usage?.prompt_tokens_details, { cached_tokens: 2, cache_write_tokens: 4 });
});

Deno.test("Claude's prompts are marked for the cache, Gemini's are not", async () => {
  const long = "All of this is known. ".repeat(700);
  const body = { messages: [{ role: "user", content: long }] as ChatMessage[], max_tokens: 9 };
  const promptCache = { ttl: "1h" } as const;
  const { messages, anthropic_version } = (await ask(toClaude({ body, promptCache }))).sent.json();
  const mark = { type: "ephemeral", ttl: "1h" };
  assertEquals(messages, [{ role: "user", content: [{ type: "text", text: long, cache_control: mark }] }]);
  assertEquals(anthropic_version, "vertex-2023-10-16");
  const { contents } = (await ask(toGemini({ body, promptCache }))).sent.json();
  assertEquals(contents, [{ role: "user", parts: [{ text: long }] }]);
});

Deno.test("each family gets a request in its own dialect as its client wrote it, but for what Google's address changes", async () => {
  const headers = { "anthropic-beta": "context-1m" };
  const own = { max_tokens: 9, odd: 1, messages: [{ role: "user", content: "Hi" }] };
  const text = JSON.stringify({ model: haiku, ...own });
  const claude = await ask(toClaude({ native: { dialect: "messages", text, headers } }));
  assertEquals(claude.sent.path, `/v1${place}/publishers/anthropic/models/claude-haiku-4-5@20251001:rawPredict`);
  assertEquals(claude.sent.json(), { ...own, anthropic_version: "vertex-2023-10-16" });
  assertEquals(claude.sent.headers["anthropic-beta"], "context-1m");
  assertEquals(claude.body.choices[0]!.message.content, "Hello");

  const contents = { contents: [{ role: "user", parts: [{ text: "Hi" }] }], odd: 1 };
  const native = { dialect: "generateContent", text: JSON.stringify(contents), headers: {} };
  const gemini = await ask(toGemini({ native }));
  assertEquals(gemini.sent.path, `/v1beta1${place}/publishers/google/models/gemini-3.5-flash:generateContent`);
  assertEquals(gemini.sent.json(), contents);

  const { dialects } = vertexConnector.create({ id: "vertex", config }, testRuntime());
  assertEquals(typeof dialects === "function" && [dialects(haiku), dialects(flash)], [["messages"], [
    "generateContent",
  ]]);
});

Deno.test("Claude's streams are those of its family", async () => {
  const script = events(
    { type: "vertex_event" },
    { type: "message_start", message: { ...claudeText, content: [], usage: { input_tokens: 8, output_tokens: 1 } } },
    { type: "ping" },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 3 } },
    { type: "message_stop" },
  );
  const { sent, chunks } = await stream(toClaude({ script }));
  assertEquals(sent.path, `/v1${place}/publishers/anthropic/models/claude-haiku-4-5@20251001:streamRawPredict`);
  assertEquals(sent.json().stream, true);
  assertEquals(gather(chunks).content, "Hello");
  assertEquals(chunks.at(-1)!.usage?.total_tokens, 11);
});

Deno.test("reasoning_effort is each family's own, and thoughts go back to the family that had them", async () => {
  const effort = { reasoning_effort: "low" };
  const thinking = (await ask(toClaude({ body: effort }))).sent.json().thinking;
  assertEquals(thinking, { type: "enabled", budget_tokens: 2048 });
  const level = (await ask(toGemini({ body: effort }))).sent.json().generationConfig.thinkingConfig;
  assertEquals(level.thinkingLevel, "LOW");
  const call = (id: string, extra_content: Record<string, unknown>) => ({
    id,
    type: "function" as const,
    function: { name: "f", arguments: "{}" },
    extra_content,
  });
  const block = { type: "thinking", thinking: "Hm", signature: "sig" };
  const messages: ChatMessage[] = [
    { role: "user", content: "Hi" },
    {
      role: "assistant",
      content: null,
      tool_calls: [
        call("1", { anthropic: { thinking_blocks: [block] } }),
        call("2", { google: { thought_signature: "c2ln" } }),
      ],
    },
    { role: "tool", tool_call_id: "1", content: "1" },
    { role: "tool", tool_call_id: "2", content: "2" },
  ];
  const tools: Tool[] = [{ type: "function", function: { name: "f" } }];
  const claude = await ask(toClaude({ body: { messages, tools } }));
  assertEquals(claude.sent.json().messages[1].content.map(({ type }: { type: string }) => type), [
    "thinking",
    "tool_use",
    "tool_use",
  ]);
  assertEquals(claude.sent.body.includes("c2ln"), false);
  const gemini = await ask(toGemini({ body: { messages, tools } }));
  assertStringIncludes(gemini.sent.body, "c2ln");
  assertEquals(gemini.sent.body.includes('"sig"'), false);
});

Deno.test("addresses are those of the location", async () => {
  const addressOf = async (settings: object, model = haiku, env: Record<string, string> = {}) => {
    const runtime = testRuntime({ env });
    const provider = vertexConnector.create({ id: "vertex", ...settings }, runtime);
    const request = { model: { id: model }, stream: false, body: { messages: [] } };
    const send = runtime.send.bind(runtime);
    await provider.complete(request, { signal: new AbortController().signal, send }).catch(() => {});
    return runtime.requests[0]!.url.replace(/\/projects\/.*$/, "");
  };
  const at = (location: string) => addressOf({ config: { ...config, location } });
  assertEquals(await at("europe-west1"), "https://europe-west1-aiplatform.googleapis.com/v1");
  assertEquals(await at("global"), "https://aiplatform.googleapis.com/v1");
  assertEquals(await at("eu"), "https://aiplatform.eu.rep.googleapis.com/v1");
  const env = { GOOGLE_VERTEX_PROJECT: "p", GOOGLE_VERTEX_LOCATION: "us-east5" };
  assertEquals(await addressOf({}, flash, env), "https://us-east5-aiplatform.googleapis.com/v1beta1");
  for (const baseUrl of ["https://gate.example", "https://gate.example/v1/", "https://gate.example/v1beta1"]) {
    assertEquals(await addressOf({ baseUrl, config }), "https://gate.example/v1");
    assertEquals(await addressOf({ baseUrl, config }, flash), "https://gate.example/v1beta1");
  }
});

Deno.test("settings that do not fit are named", () => {
  const made = (given: object) => vertexConnector.create({ id: "vertex", config: given }, testRuntime());
  assertThrows(() => made({ location: "global" }), ConfigError, "config.project");
  assertThrows(() => made({ project: "p" }), ConfigError, "config.location");
  assertThrows(() => made({ project: "p", location: "evil.example/" }), ConfigError, "config.location");
});

Deno.test("errors are read in Google's words and in those of the Messages API", async () => {
  const google = (code: number, word: string, message: string) => ({ error: { code, status: word, message } });
  const quota = "Quota exceeded for aiplatform.googleapis.com/online_prediction_requests_per_base_model";
  const table: [status: number, body: unknown, kind: string, code: string | null][] = [
    [429, google(429, "RESOURCE_EXHAUSTED", quota), "rate_limited", "rate_limit_exceeded"],
    [403, [google(403, "PERMISSION_DENIED", "Permission denied on resource project")], "auth", "permission_denied"],
    [401, google(401, "UNAUTHENTICATED", "Invalid credentials"), "auth", "unauthenticated"],
    [404, google(404, "NOT_FOUND", "Publisher Model `x` was not found"), "model_not_found", "model_not_found"],
    [503, google(503, "UNAVAILABLE", "Overloaded"), "server", "unavailable"],
    [400, google(400, "INVALID_ARGUMENT", "Bad"), "request", "invalid_argument"],
  ];
  for (const [code, body, kind, word] of table) {
    for (const call of [toGemini, toClaude]) {
      const error = await catchFault(call({ script: status(code, { json: body }) }));
      assertEquals([code, error.kind, error.fault?.error.code], [code, kind, word]);
    }
  }
  const own = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  assertEquals((await catchFault(toClaude({ script: status(529, { json: own }) }))).fault?.error.code, "overloaded");
  const hinted = google(429, "RESOURCE_EXHAUSTED", "Later");
  const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "7s" }];
  const script = status(429, { json: { error: { ...hinted.error, details } } });
  for (const call of [toGemini, toClaude]) assertEquals((await catchFault(call({ script }))).fault?.retryAfterMs, 7000);
});

Deno.test("answers that are none are broken ones", async () => {
  for (const script of [truncatedJson(), html200(), emptyBody(), json([]), json({})]) {
    for (const call of [toGemini, toClaude]) {
      assertEquals((await catchFault(call({ script }))).kind, "invalid_response");
      assertEquals((await catchFault(call({ script }), true)).kind, "invalid_response");
    }
  }
  const usage = { input_tokens: "8", output_tokens: null };
  assertEquals((await ask(toClaude({ script: json({ ...claudeText, usage }) }))).body.usage, undefined);
});

Deno.test("the list has the models of both publishers that chat, and those that embed", async () => {
  const names = (publisher: string, ...ids: string[]) =>
    ids.map((id) => ({ name: `publishers/${publisher}/models/${id}` }));
  const script = [
    json({ publisherModels: names("google", flash, "imagen-4.0"), nextPageToken: "2" }),
    json({ publisherModels: names("google", "gemini-9-pro", "gemini-embedding-001", "text-embedding-9") }),
    json({ publisherModels: names("anthropic", "claude-opus-9") }),
  ];
  const { ids, requests } = await list(toGemini({ script }));
  assertEquals(ids, [flash, "gemini-9-pro", "claude-opus-9", "gemini-embedding-001", "text-embedding-9"]);
  assertEquals(requests.map(({ path }) => path), [
    "/v1beta1/publishers/google/models?pageSize=100",
    "/v1beta1/publishers/google/models?pageSize=100&pageToken=2",
    "/v1beta1/publishers/anthropic/models?pageSize=100",
  ]);
});

Deno.test("a service account's token goes along, asked for the cloud's scope", async () => {
  await using tokens = await startUpstream(json({ access_token: "ya29.token", expires_in: 3600 }));
  await using upstream = await startUpstream(json(claudeText));
  const { credentials, publicKey } = makeAccount(tokens.url);
  await using client = create("chat-completion", {
    config: {
      providers: {
        "google.vertex.v1": {
          base_url: upstream.url,
          auth: { method: "service_account", credentials },
          config,
        },
      },
    },
  });
  const answer = await client.chat.completions.create({
    model: "vertex/claude-haiku-5-5@default",
    messages: [{ role: "user", content: "Hi" }],
  });
  assertEquals(answer.choices[0]!.message.content, "Hello");
  assertEquals(upstream.requests[0]!.headers.authorization, "Bearer ya29.token");
  const { assertion = "", grant_type } = createForm(tokens.requests[0]!);
  assertEquals(grant_type, "urn:ietf:params:oauth:grant-type:jwt-bearer");
  const { claims, isGenuine } = readAssertion(assertion, publicKey);
  assertEquals([isGenuine, claims.scope, claims.aud], [
    true,
    "https://www.googleapis.com/auth/cloud-platform",
    tokens.url,
  ]);
});
