/**
 * The known Gemini models.
 * @module
 */
import type { ModelFeatures, ModelInfo } from "../../src/contracts/provider.ts";
import { once } from "../../src/util/once.ts";
import { knownModels } from "./_catalogue.ts";
import { rulesOf, speech, speechRules } from "./_gemini_family.ts";
import { entries } from "./catalogue/gemini.ts";

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

/** Known models, the newest first. */
export const geminiModels: () => readonly ModelInfo[] = /* @__PURE__ */ once(() =>
  knownModels(entries, {
    features: chatFeatures,
    rulesOf: ({ id, serves }) => serves === undefined ? rulesOf(id) : serves.includes(speech) ? speechRules : undefined,
  })
);

/** What all models that speak have in common. */
export function speechFacts(): Partial<ModelInfo> {
  const { voices, response_formats, parameters } = geminiModels().find(({ capabilities }) =>
    capabilities?.includes(speech)
  )!;
  return { voices: voices!, response_formats: response_formats!, parameters: parameters! };
}
