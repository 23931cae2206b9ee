/** Amazon Bedrock: what is sent, and non-streaming responses. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { signRequest } from "../../connectors/_aws_signature.ts";
import type { ChatMessage, Tool } from "../../src/contracts/openai.ts";
import { emptyBody, html200, json, status, truncatedJson } from "../support/upstream.ts";
import { ask, catchFault, type CloudCall, list, now } from "./_clouds.ts";

const haiku = "global.anthropic.claude-haiku-4-5-20251001-v1:0";
const nova = "amazon.nova-lite-v1:0";
const png = "data:image/png;base64,iVBORw0KGgo=";

const text = json({
  output: { message: { role: "assistant", content: [{ text: "Hello " }, { text: "there" }] } },
  stopReason: "end_turn",
  usage: { inputTokens: 12, outputTokens: 5, totalTokens: 17 },
  metrics: { latencyMs: 551 },
}, { "x-amzn-requestid": "d1e2f3" });

function call(more: Partial<CloudCall> = {}): CloudCall {
  return { connector: "aws.bedrock.v1", script: text, model: haiku, config: { region: "eu-central-1" }, ...more };
}

const weather: Tool = {
  type: "function",
  function: { name: "weather", description: "Tells it", parameters: { type: "object", properties: {} } },
};

Deno.test("a chat goes to the model's address with a key of Bedrock's, and comes back in OpenAI's shape", async () => {
  const { sent, body } = await ask(call());
  assertEquals(sent.path, "/model/global.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse");
  assertEquals(sent.headers.authorization, "Bearer key");
  assertEquals(sent.json(), { messages: [{ role: "user", content: [{ text: "Hello" }] }] });
  assertEquals(body, {
    id: "d1e2f3",
    object: "chat.completion",
    created: now / 1000,
    model: haiku,
    choices: [{
      index: 0,
      message: { role: "assistant", content: "Hello there", refusal: null },
      finish_reason: "stop",
      logprobs: null,
    }],
    usage: {
      prompt_tokens: 12,
      completion_tokens: 5,
      total_tokens: 17,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    },
  });
});

Deno.test("without a key of Bedrock's a call is signed with AWS's, from the configuration or the environment", async () => {
  const keys = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret", sessionToken: "token" };
  const config = { region: "eu-central-1", access_key_id: "AKIDEXAMPLE", secret_access_key: "secret" };
  const env = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret", AWS_SESSION_TOKEN: "token" };
  for (
    const more of [{ config: { ...config, session_token: "token" } }, {
      env: { ...env, AWS_REGION: "eu-central-1" },
      config: {},
    }]
  ) {
    const { sent } = await ask(call({ ...more, credential: null }));
    const { host, "content-type": type } = sent.headers;
    const url = `http://${host}${sent.path}`;
    const unsigned = { method: "POST", url, headers: { "content-type": type! }, body: sent.body };
    const expected = await signRequest(unsigned, { keys, region: "eu-central-1", service: "bedrock", now });
    assertEquals(sent.headers.authorization, expected.authorization);
    assertEquals(sent.headers["x-amz-date"], "20261122T120000Z");
    assertEquals(sent.headers["x-amz-security-token"], "token");
  }
  const own = await ask(call({ config, env, credential: null }));
  assertEquals(own.sent.headers["x-amz-security-token"], undefined, "a token belongs to the keys it came with");
});

Deno.test("without any key nothing is sent", async () => {
  const error = await catchFault(call({ credential: null }));
  assertEquals(error.kind, "auth");
  assertStringIncludes(error.message, "AWS_ACCESS_KEY_ID");
});

Deno.test("a conversation is translated: system, images, files, calls and their results", async () => {
  const messages: ChatMessage[] = [
    { role: "system", content: "Be brief" },
    {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url: png } },
        { type: "file", file: { filename: "a_b.c.pdf", file_data: "data:application/pdf;base64,JVBERg==" } },
      ],
    },
    {
      role: "assistant",
      content: "I look",
      tool_calls: [{ id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Bern"}' } }],
    },
    { role: "tool", tool_call_id: "call_1", content: "sunny" },
  ];
  const { sent } = await ask(call({ body: { messages, tools: [weather], tool_choice: "required" } }));
  assertEquals(sent.json(), {
    messages: [
      {
        role: "user",
        content: [
          { text: "What is this?" },
          { image: { format: "png", source: { bytes: "iVBORw0KGgo=" } } },
          { document: { format: "pdf", name: "a-b-c", source: { bytes: "JVBERg==" } } },
        ],
      },
      {
        role: "assistant",
        content: [{ text: "I look" }, { toolUse: { toolUseId: "call_1", name: "weather", input: { city: "Bern" } } }],
      },
      { role: "user", content: [{ toolResult: { toolUseId: "call_1", content: [{ text: "sunny" }] } }] },
    ],
    system: [{ text: "Be brief" }],
    toolConfig: {
      tools: [{
        toolSpec: {
          name: "weather",
          description: "Tells it",
          inputSchema: { json: { type: "object", properties: {} } },
        },
      }],
      toolChoice: { any: {} },
    },
  });
});

Deno.test("parameters go where Converse has them, and the model's own beside", async () => {
  const body = { max_completion_tokens: 99, temperature: 1.7, top_k: 3, stop: "END", user: "u" };
  const claude = await ask(call({ body }));
  assertEquals(claude.sent.json().inferenceConfig, { maxTokens: 99, stopSequences: ["END"], temperature: 1 });
  assertEquals(claude.sent.json().additionalModelRequestFields, { top_k: 3 });
  assertEquals(claude.dropped, ["user"]);
  const other = await ask(call({ model: nova, body: { ...body, top_p: 0.5 } }));
  assertEquals(other.sent.json().inferenceConfig, { maxTokens: 99, stopSequences: ["END"], temperature: 1, topP: 0.5 });
  assertEquals(other.sent.json().additionalModelRequestFields, undefined);
  assertEquals(other.dropped, ["top_k", "user"]);
});

Deno.test("reasoning_effort becomes each family's own setting", async () => {
  const sent = async (model: string) => {
    const { sent, dropped } = await ask(call({ model, body: { reasoning_effort: "medium", temperature: 0.5 } }));
    return [sent.json().inferenceConfig, sent.json().additionalModelRequestFields, dropped];
  };
  const budgeted = { maxTokens: 16_384 };
  assertEquals(await sent(haiku), [budgeted, { thinking: { type: "enabled", budget_tokens: 8_192 } }, ["temperature"]]);
  assertEquals((await sent("eu.anthropic.claude-opus-4-8"))[1], {
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: "medium" },
  });
  const warm = { temperature: 0.5 };
  assertEquals(await sent("amazon.nova-2-lite-v1:0"), [
    warm,
    { reasoningConfig: { type: "enabled", maxReasoningEffort: "medium" } },
    [],
  ]);
  assertEquals(await sent("openai.gpt-oss-120b-1:0"), [warm, { reasoning_effort: "medium" }, []]);
  assertEquals(await sent("meta.llama3-3-70b-instruct-v1:0"), [warm, undefined, ["reasoning_effort"]]);
});

Deno.test("a JSON Schema goes along as text; json_object is the request's fault", async () => {
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const json_schema = { name: "thing", schema };
  const { sent } = await ask(call({ body: { response_format: { type: "json_schema", json_schema } } }));
  const { type, structure } = sent.json().outputConfig.textFormat;
  assertEquals([type, structure.jsonSchema.name], ["json_schema", "thing"]);
  assertEquals(JSON.parse(structure.jsonSchema.schema), { ...schema, additionalProperties: false });
  const error = await catchFault(call({ body: { response_format: { type: "json_object" } } }));
  assertEquals([error.kind, error.fault?.error.param], ["request", "response_format"]);
});

Deno.test("marks of prompt caches become cache points, where the model knows them", async () => {
  const mark = { type: "ephemeral", ttl: "1h" };
  const body = {
    messages: [
      { role: "system", content: [{ type: "text", text: "Long", cache_control: mark }] },
      { role: "user", content: "Hi" },
    ] as ChatMessage[],
    tools: [{ ...weather, cache_control: { type: "ephemeral" } } as Tool],
    cache_control: { type: "ephemeral" },
  };
  const [cached, short] = [{ cachePoint: { type: "default", ttl: "1h" } }, { cachePoint: { type: "default" } }];
  const toClaude = (await ask(call({ body }))).sent.json();
  assertEquals(toClaude.system, [{ text: "Long" }, cached]);
  assertEquals(toClaude.messages[0].content, [{ text: "Hi" }, short]);
  assertEquals(toClaude.toolConfig.tools[1], short);
  const toNova = await ask(call({ model: nova, body }));
  assertEquals(toNova.sent.json().system, [{ text: "Long" }, cached]);
  assertEquals(toNova.sent.json().toolConfig.tools.length, 1);
  const asked = { id: "t1", type: "function" as const, function: { name: "weather", arguments: "{}" } };
  const results = await ask(call({
    body: {
      messages: [
        ...["One", "Two", "Three"].map((text) => ({
          role: "system" as const,
          content: [{ type: "text", text, cache_control: { type: "ephemeral" } }],
        })),
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Well", tool_calls: [{ ...asked, cache_control: mark }] },
        { role: "tool", tool_call_id: "t1", content: [{ type: "text", text: "Fine", cache_control: mark }] },
      ],
      tools: [weather],
    },
  }));
  const { system, messages } = results.sent.json();
  assertEquals(system, ["One", "Two", "Three"].flatMap((text) => [{ text }, short]));
  assertEquals(messages.slice(1).map(({ content }: { content: unknown[] }) => content), [
    [{ text: "Well" }, { toolUse: { toolUseId: "t1", name: "weather", input: {} } }, cached],
    [{ toolResult: { toolUseId: "t1", content: [{ text: "Fine" }] } }, cached],
  ]);
  const toLlama = await ask(call({ model: "meta.llama3-3-70b-instruct-v1:0", body }));
  assert(!toLlama.sent.body.includes("cachePoint"));
  assertEquals(toLlama.dropped, ["cache_control"]);
});

Deno.test("what Converse does not support is the request's fault", async () => {
  const called: ChatMessage[] = [
    { role: "user", content: "Hi" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "1", type: "function", function: { name: "weather", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "1", content: "" },
  ];
  const image = { type: "image_url" as const, image_url: { url: "https://example.com/a.png" } };
  for (
    const body of [
      { messages: [{ role: "user" as const, content: [image] }] },
      { messages: called, tools: [weather], tool_choice: "none" as const },
      { messages: [{ role: "user" as const, content: [{ type: "input_audio" }] }] as ChatMessage[] },
    ]
  ) {
    const error = await catchFault(call({ body }));
    assertEquals([error.kind, error.fault?.status], ["request", 400], error.message);
  }
  const { sent } = await ask(call({ body: { tools: [weather], tool_choice: "none" } }));
  assertEquals(sent.json().toolConfig, undefined, "no tools, no calls");
  const bygone = await ask(call({ body: { messages: called } }));
  assertEquals(bygone.sent.json().toolConfig.tools[0].toolSpec.name, "weather", "calls want their tools declared");
});

Deno.test("calls, thoughts, and why a response ended come back", async () => {
  const content = [
    { reasoningContent: { reasoningText: { text: "Hmm", signature: "sig" } } },
    { reasoningContent: { redactedContent: "c2VjcmV0" } },
    { toolUse: { toolUseId: "tooluse_1", name: "weather", input: { city: "Bern" } } },
  ];
  const usage = {
    inputTokens: 10,
    outputTokens: 4,
    totalTokens: 44,
    cacheReadInputTokens: 20,
    cacheWriteInputTokens: 10,
  };
  const script = json({ output: { message: { role: "assistant", content } }, stopReason: "tool_use", usage });
  const { body } = await ask(call({ script }));
  const [{ message, finish_reason }] = body.choices as [typeof body.choices[0]];
  const thinking_blocks = [
    { type: "thinking", thinking: "Hmm", signature: "sig" },
    { type: "redacted_thinking", data: "c2VjcmV0" },
  ];
  assertEquals(finish_reason, "tool_calls");
  assertEquals(message.reasoning_content, "Hmm");
  assertEquals(message.tool_calls, [{
    id: "tooluse_1",
    type: "function",
    function: { name: "weather", arguments: '{"city":"Bern"}' },
    extra_content: { anthropic: { thinking_blocks } },
  }]);
  assertEquals(body.usage?.prompt_tokens, 40);
  assertEquals(body.usage?.prompt_tokens_details, { cached_tokens: 20, cache_write_tokens: 10 });

  const messages: ChatMessage[] = [{ role: "user", content: "Hi" }, message, {
    role: "tool",
    tool_call_id: "tooluse_1",
    content: "sunny",
  }];
  const back = await ask(call({ body: { messages, tools: [weather] } }));
  assertEquals(back.sent.json().messages[1].content, content, "as they came");
  const toNova = await ask(call({ model: nova, body: { messages, tools: [weather] } }));
  assertEquals(toNova.sent.json().messages[1].content, content.slice(2), "another model's thoughts stay behind");
});

Deno.test("every stop reason has its finish reason", async () => {
  const reasons: Record<string, string> = {
    end_turn: "stop",
    stop_sequence: "stop",
    max_tokens: "length",
    model_context_window_exceeded: "length",
    guardrail_intervened: "content_filter",
    content_filtered: "content_filter",
    something_new: "stop",
  };
  const answerOf = (stopReason: string) => json({ output: { message: { content: [{ text: "a" }] } }, stopReason });
  for (const [reason, expected] of Object.entries(reasons)) {
    const { body } = await ask(call({ script: answerOf(reason) }));
    assertEquals([reason, body.choices[0]!.finish_reason, body.usage], [reason, expected, undefined]);
  }
  for (const reason of ["malformed_model_output", "malformed_tool_use"]) {
    assertEquals((await catchFault(call({ script: answerOf(reason) }))).kind, "invalid_response");
  }
});

Deno.test("errors are classed by their names where the status says something else", async () => {
  const table: [name: string, status: number, message: string, kind: string, code: string | null][] = [
    ["ThrottlingException", 429, "Too many requests", "rate_limited", "rate_limit_exceeded"],
    ["ServiceQuotaExceededException", 400, "Over your quota", "rate_limited", "rate_limit_exceeded"],
    ["ModelNotReadyException", 429, "Not ready", "server", null],
    ["ModelTimeoutException", 408, "Took too long", "server", null],
    ["ModelErrorException", 424, "It failed", "server", null],
    ["ServiceUnavailableException", 503, "Try later", "server", null],
    ["InternalServerException", 500, "Oops", "server", null],
    ["AccessDeniedException", 403, "You are not authorized to perform this", "auth", null],
    [
      "AccessDeniedException",
      403,
      "You don't have access to the model with the specified model ID.",
      "model_not_found",
      "model_not_found",
    ],
    ["ResourceNotFoundException", 404, "Could not resolve the foundation model", "model_not_found", "model_not_found"],
    ["ValidationException", 400, "The provided model identifier is invalid.", "model_not_found", "model_not_found"],
    ["ValidationException", 400, "Input is too long for requested model.", "request", "context_length_exceeded"],
    ["ValidationException:http://internal.amazon.com/coral/", 400, "Malformed input", "request", null],
    ["UnrecognizedClientException", 403, "The security token is invalid", "auth", "invalid_api_key"],
    ["IncompleteSignature", 400, "Bad signature", "auth", "invalid_api_key"],
    ["FTUFormNotFilled", 404, "Fill the form", "model_not_found", "model_not_found"],
    ["SomethingNewException", 500, "New", "server", null],
  ];
  for (const [name, code, message, kind, word] of table) {
    const script = status(code, { json: { message }, headers: { "x-amzn-errortype": name } });
    const error = await catchFault(call({ script }));
    assertEquals([name, error.kind, error.fault?.error.code, error.fault?.status], [name, kind, word, code]);
    assertStringIncludes(error.message, message);
  }
});

Deno.test("answers that are none are broken ones", async () => {
  const scripts = [truncatedJson(), html200(), emptyBody(), json([]), json({}), json({ output: { message: "no" } })];
  for (const script of scripts) assertEquals((await catchFault(call({ script }))).kind, "invalid_response");
  for (
    const usage of [{ inputTokens: "many", outputTokens: -1 }, "none", null, { inputTokens: 1.5, outputTokens: 1 }]
  ) {
    const script = json({ output: { message: { content: [{ text: "a" }, null, 7] } }, stopReason: "end_turn", usage });
    assertEquals((await ask(call({ script }))).body.usage, undefined, "what is no count is none");
  }
});

Deno.test("the list has the region's models of text, and of embeddings that are understood, called by their ids, and the profiles", async () => {
  const script = [
    json({
      modelSummaries: [
        { modelId: nova, inferenceTypesSupported: ["ON_DEMAND"] },
        { modelId: "a.profile-only", inferenceTypesSupported: ["INFERENCE_PROFILE"] },
        { modelId: "a.new", outputModalities: ["TEXT"] },
        { modelId: "a.image", outputModalities: ["IMAGE"] },
        { modelId: "amazon.titan-embed-text-v9:0", outputModalities: ["EMBEDDING"] },
        { modelId: "amazon.nova-9-embeddings", outputModalities: ["EMBEDDING"] },
        7,
      ],
    }),
    json({ inferenceProfileSummaries: [{ inferenceProfileId: haiku }], nextToken: "a b" }),
    json({ inferenceProfileSummaries: [{ inferenceProfileId: "eu.a.b" }] }),
  ];
  const { ids, requests } = await list(call({ script }));
  assertEquals(ids, [nova, "a.new", "amazon.titan-embed-text-v9:0", haiku, "eu.a.b"]);
  assertEquals(requests.map(({ method, path }) => `${method} ${path}`), [
    "GET /foundation-models",
    "GET /inference-profiles?maxResults=1000",
    "GET /inference-profiles?maxResults=1000&nextToken=a%20b",
  ]);
});
