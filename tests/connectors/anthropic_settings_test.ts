import { assertEquals } from "@std/assert";
import { closedSchema } from "../../connectors/providers/_anthropic_schema.ts";
import type { ChatCompletionRequest, ChatMessage, JsonObject } from "../../src/contracts/openai.ts";
import { calling, catchFault, hello, translate, weather } from "./_anthropic_request.ts";

Deno.test("only fields that the Messages API knows are sent", () => {
  const body = { n: 1, logprobs: false, seed: 7, frequency_penalty: 1, store: true, metadata: { a: "b" }, acme: 1 };
  assertEquals(Object.keys(translate({ ...body, stream_options: { include_usage: true } })), [
    "model",
    "max_tokens",
    "messages",
  ]);
});

Deno.test("limits, stops, sampling and the user are translated", () => {
  for (
    const [body, expected] of [
      [{}, { max_tokens: 16_384 }],
      [{ max_tokens: 5 }, { max_tokens: 5 }],
      [{ max_tokens: 5, max_completion_tokens: 9 }, { max_tokens: 9 }],
      [{ max_tokens: -1 }, { max_tokens: 16_384 }],
      [{ stop: "END" }, { stop_sequences: ["END"] }],
      [{ stop: ["A", "B"] }, { stop_sequences: ["A", "B"] }],
      [{ stop: null }, { stop_sequences: undefined }],
      [{ temperature: 0 }, { temperature: 0 }],
      [{ temperature: 1.7 }, { temperature: 1 }],
      [{ temperature: null, top_p: 0.9, top_k: 5 }, { temperature: undefined, top_p: 0.9, top_k: 5 }],
      [{ temperature: 0.5, top_p: 0.9 }, { temperature: 0.5, top_p: undefined }],
      [{ user: "u-1" }, { metadata: { user_id: "u-1" } }],
      [{ safety_identifier: "s-1" }, { metadata: { user_id: "s-1" } }],
      [{ cache_control: { type: "ephemeral", other: 1 } }, { cache_control: { type: "ephemeral" } }],
    ] as const
  ) {
    const translated = translate(body as Partial<ChatCompletionRequest>);
    for (const [name, value] of Object.entries(expected)) assertEquals(translated[name], value, JSON.stringify(body));
  }
  assertEquals(translate({}, "claude-haiku-4-5", {}).max_tokens, 8192);
  assertEquals(translate({ temperature: 0.5, top_p: 0.5 }, "claude-opus-4-8").temperature, undefined);
});

Deno.test("reasoning_effort becomes what the model's generation understands", () => {
  const summarized = { type: "adaptive", display: "summarized" };
  for (
    const [id, effort, thinking, level] of [
      ["claude-sonnet-5-5", undefined, undefined, undefined],
      ["claude-sonnet-5-5", "none", { type: "between_tools" }, undefined],
      ["claude-sonnet-5-5", "minimal", summarized, "low"],
      ["claude-opus-5-5", "none", undefined, "low"],
      ["claude-opus-5-5", "xhigh", summarized, "xhigh"],
      ["claude-haiku-5-5", "none", { type: "disabled" }, undefined],
      ["claude-opus-5", "none", { type: "disabled" }, undefined],
      ["claude-opus-4-8", "none", undefined, undefined],
      ["claude-sonnet-4-6", "xhigh", summarized, "high"],
      ["claude-sonnet-4-6", "max", summarized, "max"],
      ["claude-haiku-4-5-20251001", "none", undefined, undefined],
      ["claude-haiku-4-5-20251001", "low", { type: "enabled", budget_tokens: 2048 }, undefined],
      ["claude-3-7-sonnet-20250219", "high", { type: "enabled", budget_tokens: 16_384 }, undefined],
      ["claude-3-haiku-20240307", "high", undefined, undefined],
      ["claude-opus-7", "medium", summarized, "medium"],
    ] as const
  ) {
    const translated = translate({ reasoning_effort: effort, temperature: 0.2 }, id);
    assertEquals(translated.thinking, thinking, `${id} ${effort}`);
    assertEquals((translated.output_config as JsonObject | undefined)?.effort, level, `${id} ${effort}`);
    if (thinking !== undefined && thinking.type !== "disabled") assertEquals(translated.temperature, undefined);
  }
  assertEquals(catchFault({ reasoning_effort: "enormous" })[1], "reasoning_effort");
});

Deno.test("a thinking budget stays below the token limit, or is left out", () => {
  const budget = (body: Partial<ChatCompletionRequest>) => {
    const { thinking, max_tokens } = translate({ reasoning_effort: "high", ...body });
    return [(thinking as JsonObject | undefined)?.budget_tokens, max_tokens];
  };
  assertEquals(budget({}), [16_384, 32_768]);
  assertEquals(budget({ max_tokens: 4096 }), [2048, 4096]);
  assertEquals(budget({ max_completion_tokens: 1500 }), [undefined, 1500]);
  assertEquals(budget({ tools: [weather], tool_choice: "required" }), [undefined, 16_384]);
  const asked = (extra?: JsonObject) => ({ role: "assistant", tool_calls: [calling("a", "b", "{}", extra)] });
  const loop = (extra?: JsonObject) => ({
    messages: [hello, asked(extra) as unknown as ChatMessage, {
      role: "tool" as const,
      tool_call_id: "a",
      content: "1",
    }],
    tools: [weather],
  });
  assertEquals(budget(loop()), [undefined, 16_384]);
  const signed = { anthropic: { thinking_blocks: [{ type: "thinking", thinking: "", signature: "s" }] } };
  assertEquals(budget(loop(signed)), [16_384, 32_768]);
});

Deno.test("response_format becomes a structured output", () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const response_format = { type: "json_schema", json_schema: { name: "answer", strict: true, schema } };
  assertEquals(translate({ response_format, reasoning_effort: "low" }, "claude-sonnet-5-5").output_config, {
    effort: "low",
    format: { type: "json_schema", schema: { ...schema, additionalProperties: false } },
  });
  assertEquals(translate({ response_format: { type: "text" } }).output_config, undefined);
  assertEquals(catchFault({ response_format: { type: "json_object" } })[1], "response_format");
  assertEquals(catchFault({ response_format }, "claude-sonnet-4-20250514")[1], "response_format");
  assertEquals(
    catchFault({ response_format: { type: "json_schema", json_schema: {} } })[1],
    "response_format.json_schema.schema",
  );
});

Deno.test("closedSchema() closes objects and turns other constraints into advice", () => {
  assertEquals(
    closedSchema({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      description: "A person",
      properties: {
        age: { type: "integer", maximum: 150 },
        mail: { type: "string", format: "email", pattern: "@" },
        tags: { type: "array", items: { $ref: "#/$defs/tag" }, minItems: 1, maxItems: 3 },
        kind: { oneOf: [{ const: "a" }, { type: "object", properties: {} }] },
        open: { type: "object", additionalProperties: { type: "string" } },
      },
      $defs: { tag: { type: "string", maxLength: 9 } },
    }),
    {
      type: "object",
      description: "A person",
      properties: {
        age: { type: "integer", description: "maximum: 150" },
        mail: { type: "string", format: "email", description: 'pattern: "@"' },
        tags: { type: "array", items: { $ref: "#/$defs/tag" }, minItems: 1, description: "maxItems: 3" },
        kind: { anyOf: [{ const: "a" }, { type: "object", properties: {}, additionalProperties: false }] },
        open: { type: "object", additionalProperties: { type: "string" } },
      },
      $defs: { tag: { type: "string", description: "maxLength: 9" } },
      additionalProperties: false,
    },
  );
});
