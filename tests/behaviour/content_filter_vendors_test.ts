/** Refused content, as each vendor says it, of each operation: one try, and the provider's reason for the caller. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { stage, type StageOptions } from "../support/_failover.ts";
import { operationStage } from "../support/_operations.ts";
import { b, policy, reason, refusal, refuse } from "../support/_refusals.ts";
import { type Behaviour, completeResponse, errorIn200, json } from "../support/upstream.ts";

const strict: StageOptions = { pool: { deactivation: { retry_limit: 1 } } };

describe("refused content", () => {
  /** What vendors say, by connector. */
  const said:
    readonly (readonly [vendor: string, connector: string, answer: Behaviour, status: number, words: string])[] = [
      ["OpenAI", "openai.llm.v1", refusal, 400, reason],
      [
        "OpenAI, of a prompt",
        "openai.llm.v1",
        refuse(400, {
          error: {
            message: "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
            type: "invalid_request_error",
            param: null,
            code: "invalid_prompt",
          },
        }),
        400,
        "was flagged",
      ],
      [
        "Azure",
        "azure.openai.v1",
        refuse(400, {
          error: {
            message: "The response was filtered due to the prompt triggering the content management policy.",
            type: null,
            param: "prompt",
            code: "content_filter",
            status: 400,
            innererror: { code: "ResponsibleAIPolicyViolation", content_filter_result: { hate: { filtered: true } } },
          },
        }),
        400,
        "content management policy",
      ],
      [
        "Azure, by the inner error alone",
        "azure.openai.v1",
        refuse(400, {
          error: { message: "Filtered", code: "400", innererror: { code: "ResponsibleAIPolicyViolation" } },
        }),
        400,
        "Filtered",
      ],
      [
        "Claude",
        "anthropic.claude.v1",
        refuse(400, {
          type: "error",
          error: { type: "invalid_request_error", message: "Output blocked by content filtering policy" },
        }),
        400,
        "Output blocked",
      ],
      [
        "Gemini",
        "google.gemini.v1",
        refuse(400, {
          error: {
            code: 400,
            status: "INVALID_ARGUMENT",
            message: "The prompt contains words that violate Google's Responsible AI practices.",
          },
        }),
        400,
        "Responsible AI",
      ],
      [
        "xAI",
        "xai.grok.v1",
        refuse(403, {
          code: "The caller does not have permission to execute the specified operation",
          error: "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO",
        }),
        400,
        "SAFETY_CHECK_TYPE_BIO",
      ],
      [
        "OpenRouter",
        "openrouter.gateway.v1",
        refuse(403, {
          error: {
            code: 403,
            message: "The model needs moderation",
            metadata: { reasons: ["violence"], flagged_input: "…" },
          },
        }),
        400,
        "needs moderation",
      ],
      [
        "OpenRouter, of a vendor",
        "openrouter.gateway.v1",
        refuse(400, {
          error: {
            code: 400,
            message: "Provider returned error",
            metadata: { raw: JSON.stringify({ error: policy }) },
          },
        }),
        400,
        reason,
      ],
      [
        "DeepSeek",
        "deepseek.api.v1",
        refuse(400, {
          error: { message: "Content Exists Risk", type: "invalid_request_error", code: "invalid_request_error" },
        }),
        400,
        "Content Exists Risk",
      ],
      [
        "Mistral",
        "mistral.api.v1",
        refuse(400, { object: "error", message: "Input blocked by a guardrail", type: "invalid_request", code: 3051 }),
        400,
        "guardrail",
      ],
      ["Groq", "groq.api.v1", refuse(400, { error: { ...policy, code: "content_filter" } }), 400, reason],
      [
        "a server that says so under 200",
        "openai.compatible.v1",
        errorIn200({ message: "No", type: "content_filter", code: null }),
        400,
        "No",
      ],
      [
        "a server with a status of its own",
        "openai.compatible.v1",
        refuse(451, { error: { message: "No", type: "x", code: "content_moderation" } }),
        451,
        "No",
      ],
    ];
  for (const [vendor, connector, answer, code, words] of said) {
    it(`is not carried on: ${vendor}`, async () => {
      await using scene = await stage({ a: answer, b }, {
        ...strict,
        provider: (id) => id === "a" ? { connector, api_key: "key-one-0123456789" } : {},
      });
      const seen = await scene.ask();
      assertEquals([seen.status, scene.calls, scene.states().a], [code, { a: 1, b: 0 }, "active"]);
      assertStringIncludes(seen.error!.message, words);
      assertEquals(seen.headers.get("x-should-retry"), "false");
      assertEquals(scene.routing.fallback_chain.map(({ outcome }) => outcome), ["content_filter"]);
    });
  }
});

describe("a refusal of another operation", () => {
  const blocked = { message: "Rejected", type: "image_generation_user_error", param: null, code: "moderation_blocked" };
  const sound = completeResponse(200, new Uint8Array([255, 251, 0, 13]), "audio/mpeg");
  const gemini = { connector: "google.gemini.v1" };
  const cases: readonly (readonly [
    what: string,
    path: string,
    body: object,
    a: Behaviour,
    capability: string,
    words: string,
    provider: Record<string, unknown>,
  ])[] = [
    [
      "images",
      "images/generations",
      { prompt: "Hi" },
      refuse(400, { error: blocked }),
      "text-to-image",
      "Rejected",
      {},
    ],
    [
      "images of Gemini, whose prompt is blocked",
      "images/generations",
      { prompt: "Hi" },
      json({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }),
      "text-to-image",
      "The content was blocked (PROHIBITED_CONTENT)",
      gemini,
    ],
    ["speech", "audio/speech", { input: "Hi", voice: "alloy" }, refusal, "text-to-speech", reason, {}],
    [
      "speech of Gemini",
      "audio/speech",
      { input: "Hi", voice: "alloy" },
      json({ promptFeedback: { blockReason: "SAFETY" } }),
      "text-to-speech",
      "(SAFETY)",
      gemini,
    ],
    ["embeddings", "embeddings", { input: "Hi" }, refusal, "text-embeddings", reason, {}],
  ];
  for (const [what, path, body, a, capability, words, provider] of cases) {
    it(`is not carried on: ${what}`, async () => {
      await using scene = await operationStage({ a, b: sound }, {
        capability,
        provider: (id) => id === "a" ? provider : {},
      });
      const { status: code, json: { error } } = await scene.post(path, body);
      assertEquals([code, scene.calls], [400, { a: 1, b: 0 }]);
      assertStringIncludes(error.message, words);
    });
  }

  it("is not carried on, but returned as it came: images of Gemini that were stopped", async () => {
    const stopped = json({ candidates: [{ finishReason: "IMAGE_SAFETY" }] });
    for (const [pool, calls] of [[{}, { a: 1, b: 0 }], [{ on_content_filter: "rotate" }, { a: 1, b: 1 }]] as const) {
      await using scene = await operationStage({
        a: stopped,
        b: json({ created: 1, data: [{ url: "https://b.example" }] }),
      }, {
        capability: "text-to-image",
        pool,
        provider: (id) => id === "a" ? gemini : {},
      });
      const { status: code, json: { data } } = await scene.post("images/generations", { prompt: "Hi" });
      assertEquals([code, data.length, scene.calls], [200, calls.b, calls]);
    }
  });
});
