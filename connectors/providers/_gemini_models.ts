/**
 * The known Gemini models.
 *
 * Sources: https://models.dev, read 2026-07-02; https://ai.google.dev/gemini-api/docs/pricing by
 * https://github.com/pydantic/genai-prices, read 2026-08-21, and by https://github.com/anomalyco/models.dev (commits
 * 3f2765a and 91a1983), read 2026-11-21.
 * @module
 */
import type { DatedPricing, ModelFeatures, ModelInfo } from "../../src/contracts/provider.ts";
import { rulesOf } from "./_gemini_family.ts";

const summer = "models.dev, 2026-07-02";
const autumn = "ai.google.dev/gemini-api/docs/pricing by models.dev, 2026-11-21";

/** The leaves of the models that chat. */
export const chatLeaves: readonly string[] = [
  "chat-completion",
  "code-generation",
  "tool-calling",
  "json-generation",
  "image-captioning",
];

/** What all models that chat can do; the Gemini API has switched log probabilities off for every current one. */
export const chatFeatures: ModelFeatures = {
  tool_calling: true,
  structured_output: true,
  json_mode: true,
  system_prompt: true,
  logprobs: false,
  vision: true,
  audio_input: true,
  reasoning: true,
};

/** 3.6 came at its full price; with 3.7 the Flash models went to half of it until the end of 2026. */
const fullFlashPrice: DatedPricing = { input: 1.5, output: 7.5, cached_input: 0.15, audio_input: 1.5 };
const halfFlashPrice: DatedPricing = { input: 0.75, output: 3.75, cached_input: 0.075, audio_input: 0.75 };
const flashPriceOf2027 = (): DatedPricing => ({ from: "2027-01-01", ...fullFlashPrice });

/** Known models, the newest first. */
export const geminiModels: readonly ModelInfo[] = /* @__PURE__ */ makeModels();

function makeModels(): readonly ModelInfo[] {
  return [
    chat("gemini-3.8-flash", [halfFlashPrice, flashPriceOf2027()], autumn, { defaultFor: ["chat-completion"] }),
    chat("gemini-3.7-flash", [halfFlashPrice, flashPriceOf2027()], autumn),
    chat("gemini-3.6-flash", [fullFlashPrice, { from: "2026-08-19", ...halfFlashPrice }, flashPriceOf2027()], autumn),
    chat("gemini-3.5-flash", [{ input: 1.5, output: 9, cached_input: 0.15, audio_input: 1.5 }], summer),
    chat("gemini-3.5-flash-lite", [{ input: 0.3, output: 2.5, cached_input: 0.03 }], autumn),
    chat("gemini-3.1-pro-preview", [
      { input: 2, output: 12, cached_input: 0.2 },
      { above_tokens: 200_000, input: 4, output: 18, cached_input: 0.4 },
    ], summer),
    chat("gemini-3.1-flash-lite", [{ input: 0.25, output: 1.5, cached_input: 0.025 }], summer),
    chat("gemini-2.5-pro", [
      { input: 1.25, output: 10, cached_input: 0.125 },
      { above_tokens: 200_000, input: 2.5, output: 15, cached_input: 0.25 },
    ], summer),
    chat("gemini-2.5-flash", [{ input: 0.3, output: 2.5, cached_input: 0.03, audio_input: 1 }], summer),
    chat("gemini-2.5-flash-lite", [{ input: 0.1, output: 0.4, cached_input: 0.01, audio_input: 0.3 }], summer),
    {
      id: "gemini-embedding-001",
      capabilities: ["text-embeddings"],
      constraints: { context_window: 2_048 },
      pricing: [{ input: 0.15 }],
      source: summer,
    },
    {
      id: "gemini-2.5-flash-preview-tts",
      capabilities: ["text-to-speech"],
      constraints: { context_window: 8_192 },
      pricing: [{ input: 0.5, audio_output: 10 }],
      source: summer,
    },
  ];
}

function chat(id: string, pricing: DatedPricing[], source: string, more: Partial<ModelInfo> = {}): ModelInfo {
  return {
    id,
    capabilities: chatLeaves,
    features: chatFeatures,
    constraints: { context_window: 1_048_576, max_output_tokens: 65_536 },
    pricing,
    parameters: rulesOf(id),
    source,
    ...more,
  };
}
