/**
 * Google Gemini through its native API; its models, and the differences between their generations: sampling
 * parameters, thought signatures, multiple candidates.
 *
 * Sources, read 2026-11-21: https://ai.google.dev/api/generate-content, /gemini-api/docs/thinking, /openai (efforts and
 * budgets), /thought-signatures, /generate-content/whats-new-gemini-3.6 (sampling), and
 * https://github.com/googleapis/js-genai/issues/1609 (multiple candidates); names: ccs#25; schemas: probe#569; JSON mode
 * with tools: symfony/ai#1777.
 * @module
 */
import type { ProviderDeclaration } from "../../src/contracts/connector.ts";
import type { ModelFeatures, ModelInfo, ParameterRules } from "../../src/contracts/provider.ts";
import { once } from "../../src/util/once.ts";
import { knownModels } from "./_catalogue.ts";
import { entries } from "./catalogue/gemini.ts";

/** The capability leaf of text-to-speech models. */
export const speech = "generation.audio.text-to-speech";
/** Speech responses cannot be streamed. */
export const speechRules: ParameterRules = { refuse: ["stream_format"] };

/** Rules of all chat models. */
export const geminiRules: ParameterRules = {
  max_stop_sequences: 5,
  tool_names: { characters: "dotted", starts_with_letter: true, max_length: 64 },
  incomplete_schemas: false,
};

/** First generation with thinking levels and mandatory thought signatures. */
export const firstWithLevels = 300;
/** First generation that ignores sampling parameters; later ones are announced to reject them. */
const firstWithoutSampling = 306;
const firstLiteWithoutSampling = 305;

/**
 * Whether function calls in a conversation must carry a thought signature.
 *
 * @param model The model id.
 */
export function demandsSignatures(model: string): boolean {
  return parseGeneration(model) >= firstWithLevels;
}

/**
 * Whether `temperature`, `top_p` and `top_k` have an effect.
 *
 * @param model The model id.
 */
export function takesSampling(model: string): boolean {
  return parseGeneration(model) < (/flash-lite/.test(model) ? firstLiteWithoutSampling : firstWithoutSampling);
}

/**
 * The model's parameter rules, in addition to those of all models.
 *
 * @param model The model id.
 */
export function findGeminiRules(model: string): ParameterRules {
  return {
    ...(takesSampling(model) ? {} : { drop: ["temperature", "top_p", "top_k"] }),
    ...(parseGeneration(model) < firstWithLevels ? { refuse_with_tools: ["response_format"] } : { refuse: ["n"] }),
  };
}

/**
 * The parameter rules of a model that the catalogue does not know. An id without a version counts as the newest.
 *
 * @param model The model id.
 */
export function findUnknownRules(model: string): ParameterRules {
  return findGeminiRules(/^gemini-(?!\d)/.test(model) ? "gemini-flash-latest" : model);
}

/**
 * The generation as a number: 205 for `gemini-2.5-pro`. Aliases without a version count as the newest generation.
 *
 * @param model The model id.
 */
export function parseGeneration(model: string): number {
  if (/gemini-(pro|flash|flash-lite)-latest$/.test(model)) return Infinity;
  const [, major, minor] = /gemini-(\d+)(?:\.(\d+))?/.exec(model) ?? [];
  return major === undefined ? 0 : Number(major) * 100 + Number(minor ?? 0);
}

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
      serves === undefined ? findGeminiRules(id) : serves.includes(speech) ? speechRules : undefined,
  })
);

/** Facts shared by all text-to-speech models. */
export function speechFacts(): Partial<ModelInfo> {
  const { voices, response_formats, parameters } = geminiModels().find(({ capabilities }) =>
    capabilities?.includes(speech)
  )!;
  return { voices: voices!, response_formats: response_formats!, parameters: parameters! };
}

/** Google Gemini. */
export const gemini: ProviderDeclaration = {
  kind: "provider",
  queries: [],
  id: "google.gemini.v1",
  vendor: "google",
  telemetryName: "gcp.gemini",
  credentialHeader: "x-goog-api-key",
  detection: {
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    baseUrl: ["GEMINI_BASE_URL"],
  },
  get models() {
    return geminiModels();
  },
  attributes: {},
  findRules: ({ id }) => findUnknownRules(id),
  parameters: {
    ...geminiRules,
    // the API rejects the penalties for all models since 2.5, and does not support the other parameters
    drop: ["presence_penalty", "frequency_penalty", "logit_bias", "parallel_tool_calls"],
    refuse: ["logprobs", "audio", "functions", "function_call", "web_search_options"],
  },
};
