import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { gemini } from "../../connectors/providers/gemini.ts";
import type { UpstreamRequest } from "../../src/contracts/runtime.ts";
import { catchFailure, complete, fixture, json, now, options, provider, request } from "./_gemini.ts";

Deno.test("gemini declares what the engine needs to find it", () => {
  assertEquals(gemini.id, "google.gemini.v1");
  assertEquals(gemini.vendor, "google");
  assertEquals(gemini.detection?.keys, ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"]);
  const defaults = gemini.models.filter(({ defaultFor }) => defaultFor?.includes("chat-completion"));
  assertEquals(defaults.length, 1);
  for (const { id, capabilities, pricing } of gemini.models) {
    assert(pricing!.length > 0, `${id} has no price`);
    assertEquals(/embedding|tts|image/.test(id), !capabilities!.some((path) => path.endsWith("chat-completion")), id);
  }
});

Deno.test("gemini names dropped and refused parameters by generation", () => {
  const rulesOf = (wanted: string) => gemini.models.find(({ id }) => id === wanted)?.parameters;
  assertEquals(rulesOf("gemini-2.5-flash"), { refuse_with_tools: ["response_format"] });
  assertEquals(rulesOf("gemini-3.1-pro-preview"), { refuse: ["n"] });
  assertEquals(rulesOf("gemini-3.5-flash"), { refuse: ["n"] });
  const withoutSampling = { drop: ["temperature", "top_p", "top_k"], refuse: ["n"] };
  assertEquals(rulesOf("gemini-3.5-flash-lite"), withoutSampling);
  assertEquals(rulesOf("gemini-3.6-flash"), withoutSampling);
  assert(gemini.parameters?.refuse?.includes("logprobs"));
  assert(gemini.parameters?.drop?.includes("presence_penalty"));
});

Deno.test("complete() asks generateContent with the key in a header", async () => {
  const sent: UpstreamRequest[] = [];
  const call = options([json(await fixture("text.json"))], sent);
  await provider().complete(request({ temperature: 0.5 }), call);
  const [{ url, method, headers, body }] = sent as [UpstreamRequest];
  assertEquals(url, "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:generateContent");
  assertEquals(method ?? "POST", "POST");
  assertEquals(headers, { "content-type": "application/json", "x-goog-api-key": "AIza-test" });
  assertEquals(JSON.parse(body as string), {
    contents: [{ role: "user", parts: [{ text: "Hi" }] }],
    generationConfig: { temperature: 0.5 },
  });
});

Deno.test("complete() keeps to a configured address and to tuned models' own path", async () => {
  const sent: UpstreamRequest[] = [];
  const own = provider({ baseUrl: "https://gateway.example/gemini/v1beta//" });
  await own.complete(request({}, "tunedModels/my model"), options([json(await fixture("text.json"))], sent));
  assertEquals(sent[0]!.url, "https://gateway.example/gemini/v1beta/tunedModels/my%20model:generateContent");
});

Deno.test("complete() answers with every member that OpenAI's schema requires", async () => {
  const { created, ...answer } = await complete(json(await fixture("text.json")));
  assertEquals(created, Math.floor(now / 1000));
  assertEquals(answer, {
    id: "m91NaoKoNe2_vr0P3vX0iAY",
    object: "chat.completion",
    model: "gemini-2.5-flash",
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: "The sky is blue because of Rayleigh scattering.",
        refusal: null,
      },
      finish_reason: "stop",
      logprobs: null,
    }],
    usage: {
      prompt_tokens: 2061,
      completion_tokens: 332,
      total_tokens: 2393,
      prompt_tokens_details: { cached_tokens: 1024, audio_tokens: 32 },
      completion_tokens_details: { reasoning_tokens: 320 },
    },
  });
});

Deno.test("complete() brings thoughts, calls and their signatures", async () => {
  const { choices: [choice] } = await complete(json(await fixture("calls.json")));
  assertEquals(choice, {
    index: 0,
    message: {
      role: "assistant",
      content: null,
      refusal: null,
      reasoning_content: "**Comparing the weather**\n\nTwo cities, two calls.",
      tool_calls: [
        {
          id: "nqh2j2zy",
          type: "function",
          function: { name: "get_weather", arguments: '{"city":"Zürich","days":2}' },
          extra_content: {
            google: { thought_signature: "EuIOCt8OAXLI2nyUmA16xmPM/6gOhK7zEIpfhQDSpcMQWtIfmBc0" },
          },
        },
        { id: "call_Hi97aunyEZGBqfkP0ITXkQQ_0", type: "function", function: { name: "get_time", arguments: "{}" } },
      ],
    },
    finish_reason: "tool_calls",
    logprobs: null,
  });
});

Deno.test("complete() keeps several answers apart", async () => {
  const { choices } = await complete(json(await fixture("several.json")));
  assertEquals(choices.map(({ index, finish_reason, message }) => [index, finish_reason, message.content]), [
    [0, "stop", "Waves"],
    [1, "length", "Tides and"],
  ]);
});

Deno.test("complete() takes a blocked prompt for a filtered response, not for a failure", async () => {
  const { choices, usage } = await complete(json(await fixture("blocked.json")));
  assertEquals(choices, [{
    index: 0,
    message: { role: "assistant", content: "", refusal: null },
    finish_reason: "content_filter",
    logprobs: null,
  }]);
  assertEquals(usage?.prompt_tokens, 7);
});

Deno.test("complete() makes up what a response lacks", async () => {
  const bare = await complete(json('{"candidates":[{"content":{"parts":[{"functionCall":{"name":"now"}}]}}]}'));
  assert(/^chatcmpl-[a-z0-9]+$/.test(bare.id));
  assertEquals(bare.model, "gemini-2.5-flash");
  assertEquals(bare.choices[0]?.finish_reason, "tool_calls");
  assertEquals(bare.choices[0]?.message.tool_calls?.[0]?.id, `call_${bare.id}_0`);
  assertFalse("usage" in bare);
});

Deno.test("complete() names every finish reason in OpenAI's words", async () => {
  const reasons: Record<string, string> = {
    STOP: "stop",
    MAX_TOKENS: "length",
    CONTINUATION: "length",
    SAFETY: "content_filter",
    RECITATION: "content_filter",
    BLOCKLIST: "content_filter",
    PROHIBITED_CONTENT: "content_filter",
    SPII: "content_filter",
    IMAGE_SAFETY: "content_filter",
    OTHER: "stop",
    LANGUAGE: "stop",
    A_WORD_OF_TOMORROW: "stop",
  };
  for (const [finishReason, wanted] of Object.entries(reasons)) {
    const { choices } = await complete(json(JSON.stringify({ candidates: [{ finishReason }] })));
    assertEquals(choices[0]?.finish_reason, wanted, finishReason);
    assertEquals(choices[0]?.message.content, "");
  }
});

Deno.test("complete() does not let a call that broke off pass for a response", async () => {
  for (const finishReason of ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"]) {
    const candidates = [{ content: { parts: [{ text: "Let me see." }] }, finishReason }];
    const failure = await catchFailure(() => complete(json(JSON.stringify({ candidates }))));
    assertEquals(failure.kind, "invalid_response");
    assertStringIncludes(failure.message, finishReason);
  }
});

Deno.test("complete() refuses what is not a response", async () => {
  const bodies = [
    "",
    "{}",
    "[]",
    "null",
    '{"candidates":[]}',
    '{"candidates":[{"content":{"parts":[{"te',
    "<!doctype html><title>Welcome</title>",
    '{"candidates":[{"content":{"parts":[{"functionCall":{"args":{}}}]}}]}',
  ];
  for (const body of bodies) {
    assertEquals((await catchFailure(() => complete(json(body)))).kind, "invalid_response", body);
  }
});

Deno.test("listModels() follows the pages and says what each model is for", async () => {
  const sent: UpstreamRequest[] = [];
  const pages = [json(await fixture("models_1.json")), json(await fixture("models_2.json"))];
  const models = await provider().listModels(options(pages, sent));
  assertEquals(sent.map(({ url, method }) => [method, url]), [
    ["GET", "https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000"],
    [
      "GET",
      "https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000&pageToken=Ch9tb2RlbHMvZ2VtaW5p%2B%2F%3D",
    ],
  ]);
  assertEquals(models[0], gemini.models.find(({ id }) => id === "gemini-2.5-flash"));
  assertEquals(models[1]?.constraints, { context_window: 2097152, max_output_tokens: 131072 });
  assertEquals(models[1]?.parameters, { drop: ["temperature", "top_p", "top_k"], refuse: ["n"] });
  assertEquals(models[1]?.features?.tool_calling, true);
  assertEquals(models.map(({ id, capabilities }) => [id, capabilities?.[0]?.split(".").at(-1)]), [
    ["gemini-2.5-flash", "chat-completion"],
    ["gemini-3.9-flash-preview", "chat-completion"],
    ["gemini-embedding-2", "text-embeddings"],
    ["gemini-3-pro-image", "text-to-image"],
    ["gemini-3.1-flash-tts-preview", "text-to-speech"],
    ["veo-3.1-generate-preview", undefined],
    ["gemma-4-31b-it", "chat-completion"],
  ]);
});

Deno.test("listModels() refuses a list without models and ends one without an end", async () => {
  const failure = await catchFailure(() => provider().listModels(options([json('{"data":[]}')])));
  assertEquals(failure.kind, "invalid_response");
  const sent: UpstreamRequest[] = [];
  const endless = Array.from({ length: 50 }, () => json('{"models":[],"nextPageToken":"again"}'));
  assertEquals(await provider().listModels(options(endless, sent)), []);
  assertEquals(sent.length, 20);
});

Deno.test("the catalogue answers without a call", async () => {
  const own = provider();
  assertEquals((await own.getModelInfo("gemini-2.5-pro"))?.constraints?.context_window, 1_048_576);
  assertEquals(await own.getModelInfo("gemini-99"), undefined);
  assertEquals(own.getPricing("gemini-2.5-pro")?.find(({ tier, above_tokens }) => !tier && above_tokens), {
    above_tokens: 200_000,
    input: 2.5,
    output: 15,
    cached_input: 0.25,
    audio_input: 2.5,
    per_search: 0.035,
  });
  assert(own.supports("gemini-2.5-pro", "generation.text-generation.chat-completion", "stream"));
  assert(own.supports("gemini-embedding-001", "text-embeddings", "sync"));
  assertFalse(own.supports("gemini-2.5-pro", "chat-completion", "batch"));
  assertFalse(own.supports("gemini-3.8-flash-tts", "chat-completion", "sync"));
  assertEquals(await own.checkQuota(options([])), undefined);
  assertEquals(own.getRateLimits("gemini-2.5-pro"), undefined);
});
