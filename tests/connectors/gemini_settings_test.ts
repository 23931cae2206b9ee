import { assertEquals, assertStringIncludes } from "@std/assert";
import type { ChatCompletionRequest } from "../../src/contracts/openai.ts";
import { fault, sent } from "./_gemini.ts";

/** The settings a request becomes. */
function config(body: Partial<ChatCompletionRequest>, model?: string): unknown {
  return sent(body, model).generationConfig;
}

Deno.test("settings are reworded, and nothing else is sent", () => {
  const settings: [Partial<ChatCompletionRequest>, unknown][] = [
    [{ max_tokens: 5 }, { maxOutputTokens: 5 }],
    [{ max_tokens: 5, max_completion_tokens: 9 }, { maxOutputTokens: 9 }],
    [{ temperature: 0, top_p: 0.5, top_k: 4 }, { temperature: 0, topP: 0.5, topK: 4 }],
    [{ presence_penalty: 1, frequency_penalty: -1 }, { presencePenalty: 1, frequencyPenalty: -1 }],
    [{ stop: "END" }, { stopSequences: ["END"] }],
    [{ stop: ["a", "b"] }, { stopSequences: ["a", "b"] }],
    [{ seed: 7 }, { seed: 7 }],
    [{ seed: 4_294_967_303 }, { seed: 7 }],
    [{ n: 2 }, { candidateCount: 2 }],
    [{ n: 1, stop: null, seed: null, temperature: null, max_tokens: null, stream: true }, undefined],
    [{ stop: [], user: "me", metadata: { a: "b" }, store: true, logit_bias: { 1: 2 }, made_up: 1 }, undefined],
    [{ response_format: { type: "text" } }, undefined],
    [{ response_format: { type: "json_object" } }, { responseMimeType: "application/json" }],
  ];
  for (const [body, wanted] of settings) assertEquals(config(body), wanted, JSON.stringify(body));
  assertEquals(config({ temperature: 0, top_p: 1, top_k: 1, seed: 1 }, "gemini-3.6-flash"), { seed: 1 });
});

Deno.test("response_format brings its schema, cleaned", async () => {
  const schema = { $schema: "x", type: "object", properties: { a: { const: 1 } }, additionalProperties: false };
  assertEquals(config({ response_format: { type: "json_schema", json_schema: { name: "a", schema } } }), {
    responseMimeType: "application/json",
    responseJsonSchema: { type: "object", properties: { a: { enum: [1] } }, additionalProperties: false },
  });
  assertEquals((await fault({ response_format: { type: "grammar" } }))[0], "response_format");
});

Deno.test("reasoning_effort becomes a budget or a level, as the model takes it", async () => {
  const efforts: [string, string, unknown][] = [
    ["gemini-2.5-flash", "none", { thinkingBudget: 0 }],
    ["gemini-2.5-flash", "minimal", { thinkingBudget: 1_024, includeThoughts: true }],
    ["gemini-2.5-flash", "low", { thinkingBudget: 1_024, includeThoughts: true }],
    ["gemini-2.5-flash", "medium", { thinkingBudget: 8_192, includeThoughts: true }],
    ["gemini-2.5-flash", "high", { thinkingBudget: 24_576, includeThoughts: true }],
    ["gemini-2.5-pro", "none", { thinkingBudget: 128 }],
    ["gemini-3.5-flash", "none", { thinkingLevel: "MINIMAL" }],
    ["gemini-3.5-flash", "xhigh", { thinkingLevel: "HIGH", includeThoughts: true }],
    ["gemini-3.1-pro-preview", "minimal", { thinkingLevel: "LOW", includeThoughts: true }],
    ["gemini-3.8-flash", "none", { thinkingLevel: "LOW" }],
    ["gemini-3.8-flash", "medium", { thinkingLevel: "MEDIUM", includeThoughts: true }],
    ["gemini-flash-lite-latest", "minimal", { thinkingLevel: "MINIMAL", includeThoughts: true }],
    ["gemini-4-argon", "low", { thinkingLevel: "LOW", includeThoughts: true }],
    ["gemini-2.0-flash", "high", undefined],
    ["gemma-4-31b-it", "high", undefined],
  ];
  for (const [model, effort, thinkingConfig] of efforts) {
    const wanted = thinkingConfig === undefined ? undefined : { thinkingConfig };
    assertEquals(config({ reasoning_effort: effort }, model), wanted, `${model} ${effort}`);
  }
  assertEquals(config({ reasoning_effort: null }), undefined);
  const [param, message] = await fault({ reasoning_effort: "toString" });
  assertEquals(param, "reasoning_effort");
  assertStringIncludes(message, "none, minimal, low");
});
