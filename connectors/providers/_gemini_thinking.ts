/**
 * From OpenAI's efforts to the thinking of Gemini models.
 *
 * Sources, read 2026-11-21: https://ai.google.dev/gemini-api/docs/thinking, /openai (efforts and budgets).
 * @module
 */
import { firstWithLevels, generationOf } from "./_gemini_family.ts";
import { requestFault } from "./_gemini_fault.ts";
import type { ThinkingConfig } from "./_gemini_wire.ts";

type Level = NonNullable<ThinkingConfig["thinkingLevel"]>;

/** Before this one, a model does not think. */
const firstThinking = 205;
/** From here on only the light models can all but leave thinking out. */
const firstWithoutMinimal = 307;

const minBudgetOfPro = 128;

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
 * From OpenAI's `reasoning_effort` to the model's own setting. Thoughts come back whenever thinking is asked for.
 * The newer generations cannot stop thinking altogether: `none` is their least.
 *
 * @param model The model's id.
 * @param effort The effort.
 * @returns Undefined for a model that does not think.
 * @throws {UpstreamError} `request` for an unknown effort.
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
    return { thinkingBudget: /pro/.test(model) ? Math.max(budget, minBudgetOfPro) : budget, ...thoughts };
  }
  return { thinkingLevel: level === "MINIMAL" && !knowsMinimal(model, generation) ? "LOW" : level, ...thoughts };
}

function knowsMinimal(model: string, generation: number): boolean {
  return /flash-lite/.test(model) || (/flash/.test(model) && generation < firstWithoutMinimal);
}
