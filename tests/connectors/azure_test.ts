/** Azure OpenAI. */
import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { azureConnector } from "../../connectors/providers/_azure_provider.ts";
import { create } from "../../mod.ts";
import { ConfigError } from "../../src/errors.ts";
import { testRuntime } from "../../src/runtime/test.ts";
import {
  completeResponse,
  completion,
  embeddings,
  emptyBody,
  html200,
  json,
  ok,
  startUpstream,
  status,
  truncatedJson,
} from "../support/upstream.ts";
import { gather } from "./_anthropic.ts";
import { ask, catchFault, type CloudCall, list, stream } from "./_clouds.ts";

function call(more: Partial<CloudCall> = {}): CloudCall {
  return { connector: "azure.openai.v1", script: ok({ text: "Hello" }), model: "my chat", path: "/openai/v1", ...more };
}

/** The address that one call goes to, without a provider there. */
async function findAddress(settings: object, env: Record<string, string> = {}): Promise<string> {
  const runtime = testRuntime({ env });
  const provider = azureConnector.create({ id: "azure", ...settings }, runtime);
  const request = { model: { id: "gpt-5" }, stream: false, body: { messages: [] } };
  const send = runtime.send.bind(runtime);
  await provider.complete(request, { signal: new AbortController().signal, send }).catch(() => {});
  return runtime.requests[0]!.url;
}

Deno.test("a chat goes to the v1 API with the deployment as the model and the key in its own header", async () => {
  const { sent, body } = await ask(call());
  assertEquals(sent.path, "/openai/v1/chat/completions");
  assertEquals(sent.headers["api-key"], "key");
  assertEquals(sent.headers.authorization, undefined);
  assertEquals(sent.json().model, "my chat");
  assertEquals(body.choices[0]!.message.content, "Hello");
});

Deno.test("a dated version goes to the deployment's own address, preview to the v1 API", async () => {
  const dated = await ask(call({ config: { api_version: "2024-10-21" } }));
  assertEquals(dated.sent.path, "/openai/deployments/my%20chat/chat/completions?api-version=2024-10-21");
  const variable = await ask(call({ env: { OPENAI_API_VERSION: "2025-04-01-preview" } }));
  assertEquals(variable.sent.path, "/openai/deployments/my%20chat/chat/completions?api-version=2025-04-01-preview");
  const preview = await ask(call({ config: { api_version: "preview" } }));
  assertEquals(preview.sent.path, "/openai/v1/chat/completions?api-version=preview");
  const models = json({ data: [{ id: "gpt-5" }] });
  assertEquals((await list(call({ script: models }))).requests[0]!.path, "/openai/v1/models");
  const { requests, ids } = await list(call({ script: models, config: { api_version: "2024-10-21" } }));
  assertEquals([requests[0]!.path, ids], ["/openai/models?api-version=2024-10-21", []]);
});

Deno.test("the v1 API has the Responses API, addresses by deployment have not", async () => {
  const dialectsAt = (config: object, baseUrl?: string) => {
    const settings = {
      id: "azure",
      config: { endpoint: "acme", ...config },
      ...(baseUrl === undefined ? {} : { baseUrl }),
    };
    return azureConnector.create(settings, testRuntime()).dialects;
  };
  assertEquals([dialectsAt({}), dialectsAt({}, "https://gate.example/v1")], [["responses"], ["responses"]]);
  assertEquals(dialectsAt({ api_version: "2024-10-21" }), []);
  assertEquals(dialectsAt({ responses: false }), []);
  const runtime = testRuntime();
  const provider = azureConnector.create({ id: "azure", config: { endpoint: "acme" } }, runtime);
  const native = { dialect: "responses", text: "{}", headers: {} };
  const request = { model: { id: "gpt-5" }, stream: false, body: { messages: [] }, native };
  const send = runtime.send.bind(runtime);
  await provider.complete(request, { signal: new AbortController().signal, send }).catch(() => {});
  assertEquals(runtime.requests[0]!.url, "https://acme.openai.azure.com/openai/v1/responses");
});

Deno.test("the address is made of the resource's, or of its name", async () => {
  const expected = "https://acme.openai.azure.com/openai/v1/chat/completions";
  const endpoint = "https://acme.openai.azure.com/";
  for (const given of ["acme", endpoint, `${endpoint}openai`, `${endpoint}openai/v1/`]) {
    assertEquals(await findAddress({ config: { endpoint: given } }), expected);
  }
  assertEquals(await findAddress({}, { AZURE_OPENAI_ENDPOINT: endpoint, AZURE_RESOURCE_NAME: "other" }), expected);
  assertEquals(await findAddress({}, { AZURE_RESOURCE_NAME: "acme" }), expected);
  assertEquals(
    await findAddress({ baseUrl: "https://gate.example/v1/" }, { AZURE_RESOURCE_NAME: "acme" }),
    "https://gate.example/v1/chat/completions",
  );
});

Deno.test("settings that do not fit are named", () => {
  const create = (config: object) => azureConnector.create({ id: "azure", config }, testRuntime());
  assertThrows(() => create({}), ConfigError, "AZURE_OPENAI_ENDPOINT");
  assertThrows(() => create({ endpoint: "acme.openai.azure.com" }), ConfigError, "config.endpoint");
  assertThrows(() => create({ endpoint: "acme", api_version: "newest" }), ConfigError, "config.api_version");
});

const filtered = {
  error: {
    message: "The response was filtered due to the prompt triggering content management policy.",
    type: null,
    param: "prompt",
    code: "content_filter",
    status: 400,
    innererror: {
      code: "ResponsibleAIPolicyViolation",
      content_filter_result: { hate: { filtered: true, severity: "high" } },
    },
  },
};

Deno.test("errors are classed by Azure's codes", async () => {
  const table: [status: number, body: unknown, kind: string, code: string | null][] = [
    [400, filtered, "request", "content_filter"],
    [401, { error: { code: "401", message: "Access denied due to invalid subscription key" } }, "auth", null],
    [401, { statusCode: 401, message: "Unauthorized" }, "auth", null],
    [403, { error: { code: "403", message: "Access denied due to Virtual Network/Firewall rules." } }, "auth", null],
    [
      404,
      { error: { code: "DeploymentNotFound", message: "The API deployment for this resource does not exist." } },
      "model_not_found",
      "model_not_found",
    ],
    [404, { error: { code: "404", message: "Resource not found" } }, "misconfigured", null],
    [429, { error: { code: "429", message: "Requests have exceeded call rate limit" } }, "rate_limited", null],
    [
      429,
      { error: { code: "insufficient_quota", type: "insufficient_quota", message: "Over quota" } },
      "quota_exhausted",
      "insufficient_quota",
    ],
    [500, { error: { code: "InternalServerError", message: "Oops" } }, "server", "InternalServerError"],
    [503, "busy", "server", null],
  ];
  for (const [code, body, kind, word] of table) {
    const error = await catchFault(call({ script: status(code, { json: body }) }));
    assertEquals([code, error.kind, error.fault?.error.code], [code, kind, word]);
  }
});

Deno.test("x-ms-retry-after-ms wins over retry-after", async () => {
  const headers = { "retry-after": "9", "x-ms-retry-after-ms": "1500" };
  const error = await catchFault(call({ script: status(429, { headers }) }));
  assertEquals(error.fault?.retryAfterMs, 1500);
  const odd = await catchFault(
    call({ script: status(429, { headers: { ...headers, "x-ms-retry-after-ms": "soon" } }) }),
  );
  assertEquals(odd.fault?.retryAfterMs, 9000);
});

Deno.test("the filter's results come back with the response", async () => {
  const results = { hate: { filtered: false, severity: "safe" } };
  const answer = completion({ model: "gpt-5", text: "Hello" }) as { choices: object[] };
  answer.choices[0] = { ...answer.choices[0], content_filter_results: results };
  const { body } = await ask(call({ script: json(answer) }));
  assertEquals((body.choices[0] as unknown as Record<string, unknown>).content_filter_results, results);
});

function events(...values: readonly unknown[]) {
  const lines = values.map((value) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`);
  return completeResponse(200, lines.join(""), "text/event-stream");
}

const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "gpt-5" };
const noted = { id: "", object: "", created: 0, model: "", choices: [], prompt_filter_results: [{ prompt_index: 0 }] };

Deno.test("a stream begins with its content, whatever the filter notes of the prompt", async () => {
  const script = events(
    noted,
    { ...head, choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] },
    { ...head, choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null, content_filter_results: {} }] },
    { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    { ...head, choices: [{ index: 0, finish_reason: null, content_filter_offsets: { check_offset: 1 } }] },
    { ...head, choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
    "[DONE]",
  );
  const { sent, chunks } = await stream(call({ script }));
  assertEquals(sent.json().stream_options, { include_usage: true });
  assertEquals(gather(chunks).content, "Hi");
  assertEquals(chunks.map(({ choices }) => choices.length), [1, 1, 1, 1, 0]);
  assertEquals(chunks.at(-1)!.usage?.total_tokens, 2);
});

Deno.test("a stream that the filter ends, before its content or within it, is the request's fault", async () => {
  const begun = { ...head, choices: [{ index: 0, delta: { role: "assistant", content: "a" }, finish_reason: null }] };
  for (const before of [[noted], [noted, begun]]) {
    const error = await catchFault(call({ script: events(...before, filtered) }), true);
    assertEquals([error.kind, error.fault?.error.code], ["request", "content_filter"]);
  }
});

Deno.test("answers that are none are broken ones", async () => {
  for (const script of [truncatedJson(), html200(), emptyBody(), json([]), json({ choices: [] })]) {
    const error = await catchFault(call({ script }));
    assertEquals(error.kind, "invalid_response");
    assertMatch(error.message, /^The provider/);
  }
});

Deno.test("embeddings go to their deployment, too", async () => {
  await using upstream = await startUpstream(embeddings());
  await using client = create("text-embeddings", {
    config: {
      providers: {
        "azure.openai.v1": {
          base_url: upstream.url,
          api_key: "0123456789abcdef",
          config: { api_version: "2024-10-21" },
        },
      },
      models: { small: { provider: "azure.openai.v1", model: "my-embed", capabilities: ["text-embeddings"] } },
    },
  });
  const { data } = await client.embeddings.create({ model: "small", input: "Hi" });
  assertEquals(data.length, 1);
  const [{ path, headers }] = upstream.requests as [typeof upstream.requests[0]];
  assertEquals(path, "/deployments/my-embed/embeddings?api-version=2024-10-21");
  assertEquals(headers["api-key"], "0123456789abcdef");
});
