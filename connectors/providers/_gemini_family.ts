/**
 * What sets the generations of Gemini models apart for a caller: thinking, sampling, signatures.
 *
 * Sources, read 2026-11-21: https://ai.google.dev/gemini-api/docs/thinking, /openai (efforts and budgets),
 * /thought-signatures, /generate-content/whats-new-gemini-3.6 (sampling), and
 * https://github.com/googleapis/js-genai/issues/1609 (several answers).
 * @module
 */
import type { ParameterRules } from "../../src/contracts/provider.ts";
import { requestFault } from "./_gemini_fault.ts";
import type { ThinkingConfig } from "./_gemini_wire.ts";

type Level = NonNullable<ThinkingConfig["thinkingLevel"]>;

/** Before these, a model does not think, or thinks by budget instead of by level. */
const firstThinking = 205;
const firstWithLevels = 300;
/** From here on sampling parameters do nothing, and later generations are announced to refuse them. */
const firstWithoutSampling = 306;
const firstLiteWithoutSampling = 305;
/** From here on only the light models can all but leave thinking out. */
const firstWithoutMinimal = 307;

const leastBudgetOfPro = 128;

/** The vendor's own table for OpenAI's words; `xhigh` and `max` are the most there is. */
const efforts: Readonly<Record<string, { readonly budget: number; readonly level: Level }>> = {
  none: { budget: 0, level: "MINIMAL" },
  minimal: { budget: 1_024, level: "MINIMAL" },
  low: { budget: 1_024, level: "LOW" },
  medium: { budget: 8_192, level: "MEDIUM" },
  high: { budget: 24_576, level: "HIGH" },
  xhigh: { budget: 24_576, level: "HIGH" },
  max: { budget: 24_576, level: "HIGH" },
};

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
 * From OpenAI's `reasoning_effort` to the model's own setting. Thoughts come back whenever thinking is asked for.
 * The newer generations cannot stop thinking altogether: `none` is their least.
 *
 * @param model The model's id.
 * @param effort The effort.
 * @returns Undefined for a model that does not think.
 * @throws {UpstreamError} `request` for an effort nobody knows.
 */
export function thinkingOf(model: string, effort: string): ThinkingConfig | undefined {
  if (!Object.hasOwn(efforts, effort)) {
    const known = Object.keys(efforts).join(", ");
    throw requestFault(`Cannot use the reasoning_effort "${effort}": it takes ${known}`, "reasoning_effort");
  }
  const generation = generationOf(model);
  if (generation < firstThinking) return undefined;
  const { budget, level } = efforts[effort]!;
  const thoughts = effort === "none" ? {} : { includeThoughts: true };
  if (generation < firstWithLevels) {
    return { thinkingBudget: /pro/.test(model) ? Math.max(budget, leastBudgetOfPro) : budget, ...thoughts };
  }
  return { thinkingLevel: level === "MINIMAL" && !knowsMinimal(model, generation) ? "LOW" : level, ...thoughts };
}

/** A generation as a number: 205 for `gemini-2.5-pro`; aliases without a number follow the newest models. */
function generationOf(model: string): number {
  if (/gemini-(pro|flash|flash-lite)-latest$/.test(model)) return Infinity;
  const [, major, minor] = /gemini-(\d+)(?:\.(\d+))?/.exec(model) ?? [];
  return major === undefined ? 0 : Number(major) * 100 + Number(minor ?? 0);
}

function knowsMinimal(model: string, generation: number): boolean {
  return /flash-lite/.test(model) || (/flash/.test(model) && generation < firstWithoutMinimal);
}
