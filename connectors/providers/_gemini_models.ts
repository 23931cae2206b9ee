/**
 * The known Gemini models.
 * @module
 */
import type { ModelFeatures, ModelInfo } from "../../src/contracts/provider.ts";
import { once } from "../../src/util/once.ts";
import { knownModels } from "./_catalogue.ts";
import { findFamilyRules, speech, speechRules } from "./_gemini_family.ts";
import { entries } from "./catalogue/gemini.ts";

/** The capability leaves of chat models. */
export const chatLeaves: readonly string[] = [
  "chat-completion",
  "code-generation",
  "tool-calling",
  "json-generation",
  "image-captioning",
];

/** The features of all chat models. The Gemini API has disabled log probabilities for all current models. */
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

/** Known models, newest first. */
export const geminiModels: () => readonly ModelInfo[] = /* @__PURE__ */ once(() =>
  knownModels(entries, {
    features: chatFeatures,
    findRules: ({ id, serves }) =>
      serves === undefined ? findFamilyRules(id) : serves.includes(speech) ? speechRules : undefined,
  })
);

/** Facts shared by all text-to-speech models. */
export function speechFacts(): Partial<ModelInfo> {
  const { voices, response_formats, parameters } = geminiModels().find(({ capabilities }) =>
    capabilities?.includes(speech)
  )!;
  return { voices: voices!, response_formats: response_formats!, parameters: parameters! };
}
