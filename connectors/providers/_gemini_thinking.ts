/**
 * Maps OpenAI's reasoning efforts to the thinking settings of Gemini models.
 *
 * Sources, read 2026-11-21: https://ai.google.dev/gemini-api/docs/thinking, /openai (efforts and budgets).
 * @module
 */
import { firstWithLevels, parseGeneration } from "./gemini.ts";
import { createRequestFault } from "./_gemini_fault.ts";
import type { ThinkingConfig } from "./_gemini_wire.ts";

type Level = NonNullable<ThinkingConfig["thinkingLevel"]>;

/** First generation with thinking. */
const firstThinking = 205;
/** First generation in which only the light models support the minimal level. */
const firstWithoutMinimal = 307;

const minBudgetOfPro = 128;

/** The vendor's mapping of OpenAI's efforts; `xhigh` and `max` map to the maximum. */
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
 * Maps `reasoning_effort` to the model's setting. Thoughts are included whenever thinking is requested. Newer
 * generations cannot disable thinking: `none` maps to their minimum.
 *
 * @param model The model id.
 * @returns Undefined for a model without thinking.
 * @throws {UpstreamError} `request` for an unknown effort.
 */
export function findThinking(model: string, effort: string): ThinkingConfig | undefined {
  if (!Object.hasOwn(efforts, effort)) {
    const known = Object.keys(efforts).join(", ");
    throw createRequestFault(
      `Cannot use the reasoning_effort "${effort}": the API accepts ${known}`,
      "reasoning_effort",
    );
  }
  const generation = parseGeneration(model);
  if (generation < firstThinking) return undefined;
  const { budget, level } = efforts[effort]!;
  const thoughts = effort === "none" ? {} : { includeThoughts: true };
  if (generation < firstWithLevels) {
    return { thinkingBudget: /pro/.test(model) ? Math.max(budget, minBudgetOfPro) : budget, ...thoughts };
  }
  return { thinkingLevel: level === "MINIMAL" && !supportsMinimal(model, generation) ? "LOW" : level, ...thoughts };
}

function supportsMinimal(model: string, generation: number): boolean {
  return /flash-lite/.test(model) || (/flash/.test(model) && generation < firstWithoutMinimal);
}
