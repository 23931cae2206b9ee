/**
 * What sets the generations of Gemini models apart for a caller: sampling, signatures, several answers.
 *
 * Sources, read 2026-11-21: https://ai.google.dev/gemini-api/docs/thinking, /openai (efforts and budgets),
 * /thought-signatures, /generate-content/whats-new-gemini-3.6 (sampling), and
 * https://github.com/googleapis/js-genai/issues/1609 (several answers).
 * @module
 */
import type { ParameterRules } from "../../src/contracts/provider.ts";

/** The leaf of models that speak. */
export const speech = "generation.audio.text-to-speech";
/** Their sound comes whole. */
export const speechRules: ParameterRules = { refuse: ["stream_format"] };

/** From here on a model thinks by level, and conversations carry signatures. */
export const firstWithLevels = 300;
/** From here on sampling parameters do nothing, and later generations are announced to refuse them. */
const firstWithoutSampling = 306;
const firstLiteWithoutSampling = 305;

/**
 * Whether calls of functions in a conversation have to carry a signature.
 *
 * @param model The model's id.
 */
export function demandsSignatures(model: string): boolean {
  return generationOf(model) >= firstWithLevels;
}

/**
 * Whether `temperature`, `top_p` and `top_k` do anything.
 *
 * @param model The model's id.
 */
export function takesSampling(model: string): boolean {
  return generationOf(model) < (/flash-lite/.test(model) ? firstLiteWithoutSampling : firstWithoutSampling);
}

/**
 * The rewording that a model needs beyond what all need.
 *
 * @param model The model's id.
 */
export function rulesOf(model: string): ParameterRules {
  return {
    ...(takesSampling(model) ? {} : { drop: ["temperature", "top_p", "top_k"] }),
    ...(generationOf(model) < firstWithLevels ? {} : { refuse: ["n"] }),
  };
}

/**
 * A generation as a number: 205 for `gemini-2.5-pro`; aliases without a number follow the newest models.
 *
 * @param model The model's id.
 */
export function generationOf(model: string): number {
  if (/gemini-(pro|flash|flash-lite)-latest$/.test(model)) return Infinity;
  const [, major, minor] = /gemini-(\d+)(?:\.(\d+))?/.exec(model) ?? [];
  return major === undefined ? 0 : Number(major) * 100 + Number(minor ?? 0);
}
