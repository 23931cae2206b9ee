/**
 * OpenAI, whose dialect the others speak.
 *
 * Sources: models.dev; developers.openai.com, models and deprecations, read 2026-11-21 (prices since 2026-07-30, the
 * dearer tier, cache writes, tools); which sampling reasoning models refuse: models.dev and the `ai` package's table
 * of model capabilities; `stop`: smolagents#1662; tools beside reasoning: litellm#34569 and livekit/agents#7169.
 * The price of gpt-5.6-sol is a promotion that OpenAI promised until 2026-11-21 at least.
 * @module
 */
import type { ModelInfo, ParameterRules } from "../../src/contracts/provider.ts";
import { chatModel, genaiPrices, singleModel } from "./_catalogue.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

const openAiPages = "developers.openai.com 2026-11-21";

const reasoningRules: ParameterRules = {
  rename: { max_tokens: "max_completion_tokens" },
  drop: ["temperature", "top_p", "presence_penalty", "frequency_penalty", "logit_bias"],
};
const earlyReasoningRules = (): ParameterRules => ({ ...reasoningRules, refuse: ["stop", "logprobs", "top_logprobs"] });
/** In chat these take tools only with this effort, and take another one for granted; a caller's own goes first. */
const toolRules = (): ParameterRules => ({ ...reasoningRules, fill_with_tools: { reasoning_effort: "none" } });

const reasoning = { can: "TSRV", maxOutput: 128_000, parameters: reasoningRules };
const long = () => ({ ...reasoning, window: 1_050_000 });
const longWithTools = () => ({ ...long(), parameters: toolRules() });
const above = 272_000;
const longSource = () => `${genaiPrices}; ${openAiPages}`;

const chatModels = (): readonly ModelInfo[] => [
  chatModel("gpt-5.4-mini", {
    ...reasoning,
    window: 400_000,
    pricing: [{ input: 0.75, output: 4.5, cached_input: 0.075 }],
    isDefault: true,
  }),
  chatModel("gpt-6.1-terra", {
    ...long(),
    can: "SRV",
    pricing: [
      { input: 1, output: 5, cached_input: 0.05, cache_write: 1.25 },
      { input: 2, output: 7.5, cached_input: 0.1, cache_write: 2.5, above_tokens: above },
    ],
    isDefault: true,
    source: openAiPages,
  }),
  chatModel("gpt-6-luna", {
    ...longWithTools(),
    pricing: [
      { input: 0.1, output: 0.5, cached_input: 0.01, cache_write: 0.125 },
      { input: 0.2, output: 0.75, cached_input: 0.02, cache_write: 0.25, above_tokens: above },
    ],
    source: openAiPages,
  }),
  chatModel("gpt-5.6-sol", {
    ...longWithTools(),
    pricing: [
      { input: 5, output: 30, cached_input: 0.5, cache_write: 6.25 },
      { input: 10, output: 45, cached_input: 1, cache_write: 12.5, above_tokens: above },
      { input: 4, output: 20, cached_input: 0.4, cache_write: 5, from: "2026-08-21" },
      { input: 8, output: 30, cached_input: 0.8, cache_write: 10, from: "2026-08-21", above_tokens: above },
    ],
    source: longSource(),
  }),
  chatModel("gpt-5.6-terra", {
    ...longWithTools(),
    pricing: [
      { input: 2.5, output: 15, cached_input: 0.25, cache_write: 3.125 },
      { input: 5, output: 22.5, cached_input: 0.5, cache_write: 6.25, above_tokens: above },
      { input: 2, output: 12, cached_input: 0.2, cache_write: 2.5, from: "2026-07-30" },
      { input: 4, output: 18, cached_input: 0.4, cache_write: 5, from: "2026-07-30", above_tokens: above },
    ],
    source: longSource(),
  }),
  chatModel("gpt-5.6-luna", {
    ...longWithTools(),
    pricing: [
      { input: 1, output: 6, cached_input: 0.1, cache_write: 1.25 },
      { input: 2, output: 9, cached_input: 0.2, cache_write: 2.5, above_tokens: above },
      { input: 0.2, output: 1.2, cached_input: 0.02, cache_write: 0.25, from: "2026-07-30" },
      { input: 0.4, output: 1.8, cached_input: 0.04, cache_write: 0.5, from: "2026-07-30", above_tokens: above },
    ],
    source: longSource(),
  }),
  chatModel("gpt-5.5", {
    ...long(),
    pricing: [
      { input: 5, output: 30, cached_input: 0.5 },
      { input: 10, output: 45, cached_input: 1, above_tokens: above },
    ],
  }),
  chatModel("gpt-5.4", {
    ...long(),
    pricing: [
      { input: 2.5, output: 15, cached_input: 0.25 },
      { input: 5, output: 22.5, cached_input: 0.5, above_tokens: above },
    ],
  }),
  chatModel("gpt-5.4-nano", {
    ...reasoning,
    window: 400_000,
    pricing: [{ input: 0.2, output: 1.25, cached_input: 0.02 }],
  }),
  chatModel("gpt-5-mini", {
    ...reasoning,
    window: 400_000,
    pricing: [{ input: 0.25, output: 2, cached_input: 0.025 }],
    parameters: earlyReasoningRules(),
  }),
  chatModel("gpt-5-nano", {
    ...reasoning,
    window: 400_000,
    pricing: [{ input: 0.05, output: 0.4, cached_input: 0.005 }],
    parameters: earlyReasoningRules(),
  }),
  chatModel("gpt-4.1", {
    can: "TSV",
    window: 1_047_576,
    maxOutput: 32_768,
    pricing: [{ input: 2, output: 8, cached_input: 0.5 }],
  }),
  chatModel("gpt-4.1-mini", {
    can: "TSV",
    window: 1_047_576,
    maxOutput: 32_768,
    pricing: [{ input: 0.4, output: 1.6, cached_input: 0.1 }],
  }),
  chatModel("gpt-4o", {
    can: "TSV",
    window: 128_000,
    maxOutput: 16_384,
    pricing: [{ input: 2.5, output: 10, cached_input: 1.25 }],
  }),
  chatModel("gpt-4o-mini", {
    can: "TSV",
    window: 128_000,
    maxOutput: 16_384,
    pricing: [{ input: 0.15, output: 0.6, cached_input: 0.075 }],
  }),
  chatModel("o3", {
    ...reasoning,
    window: 200_000,
    maxOutput: 100_000,
    pricing: [{ input: 2, output: 8, cached_input: 0.5 }],
    parameters: earlyReasoningRules(),
  }),
];

const otherModels = (): readonly ModelInfo[] => [
  singleModel("text-embedding-3-small", "representation.embeddings.text-embeddings", {
    window: 8_192,
    pricing: [{ input: 0.02 }],
    isDefault: true,
  }),
  singleModel("text-embedding-3-large", "representation.embeddings.text-embeddings", {
    window: 8_192,
    pricing: [{ input: 0.13 }],
  }),
  singleModel("gpt-4o-mini-tts", "generation.audio.text-to-speech", {
    pricing: [{ input: 0.6, audio_output: 12 }],
    isDefault: true,
    source: genaiPrices,
  }),
  singleModel("tts-1", "generation.audio.text-to-speech", { pricing: [{ per_million_characters: 15 }] }),
  singleModel("gpt-transcribe", "understanding.audio.speech-to-text", {
    pricing: [{ per_minute: 0.0045 }],
    isDefault: true,
    source: openAiPages,
  }),
  singleModel("gpt-4o-mini-transcribe", "understanding.audio.speech-to-text", {
    pricing: [{ input: 1.25, output: 5, audio_input: 3 }],
    source: genaiPrices,
  }),
  singleModel("gpt-4o-transcribe", "understanding.audio.speech-to-text", {
    pricing: [{ input: 2.5, output: 10, audio_input: 6 }],
    source: genaiPrices,
  }),
  singleModel("whisper-1", "understanding.audio.speech-to-text", { pricing: [{ per_minute: 0.006 }] }),
  singleModel("gpt-image-2", "generation.image.text-to-image", {
    pricing: [{ input: 5, output: 30 }],
    isDefault: true,
  }),
  singleModel("omni-moderation-latest", "evaluation.content-moderation", {
    pricing: [{ input: 0, output: 0 }],
    isDefault: true,
    source: "OpenAI REST API reference, document version 2.3.0",
  }),
];

/** OpenAI. */
export const openai: OpenAiCompatible = {
  id: "openai.llm.v1",
  vendor: "openai",
  baseUrl: "https://api.openai.com/v1",
  detection: { keys: ["OPENAI_API_KEY"], baseUrl: ["OPENAI_BASE_URL"] },
  models: () => [...chatModels(), ...otherModels()],
};
