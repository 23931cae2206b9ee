/**
 * From OpenAI's `reasoning_effort` and token limit to Claude's thinking settings.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import { requestFault } from "./_anthropic_fault.ts";
import { type Effort, effortLevels, type Generation } from "./_anthropic_generations.ts";

/** What bears on how much a model thinks. */
interface ThinkingWish {
  /** The request's `reasoning_effort`. */
  readonly effort?: string;
  /** The request's token limit; thinking counts towards it. */
  readonly maxTokens?: number;
  /** The most tokens the model writes, where known. */
  readonly ceiling?: number;
  /** A tool call is forced, which rules thinking ahead of it out. */
  readonly forcedTool: boolean;
  /** A tool's result is being answered, and the thoughts that led to the call did not come back. */
  readonly thoughtsLost: boolean;
}

/** How thinking is put to the model. */
export interface ThinkingPlan {
  /** The `thinking` field, when there is anything to say. */
  readonly thinking?: JsonObject;
  /** `output_config.effort`, when there is anything to say. */
  readonly effort?: Effort;
  /** `max_tokens`, which the Messages API demands. */
  readonly maxTokens: number;
  /** Whether sampling parameters go with it. */
  readonly sampling: boolean;
}

const defaultMaxTokens = 16_384;
const unknownCeiling = 8_192;
/** The least the API takes. */
const minBudget = 1_024;

const budgets: Readonly<Record<Effort, number>> = {
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
};

/**
 * Decides how much a model is to think.
 *
 * @param generation Which ways it knows.
 * @param wish What the request asks for.
 * @throws {UpstreamError} `request` for an unknown effort.
 */
export function planThinking(generation: Generation, wish: ThinkingWish): ThinkingPlan {
  const plain: ThinkingPlan = {
    maxTokens: wish.maxTokens ?? Math.min(wish.ceiling ?? unknownCeiling, defaultMaxTokens),
    sampling: generation.sampling,
  };
  const { effort } = wish;
  if (effort === undefined || generation.thinking === "none") return plain;
  if (effort === "none") return { ...plain, ...switchedOff(generation) };
  const level = effort === "minimal" ? "low" : effortLevels.find((known) => known === effort);
  if (level === undefined) {
    throw requestFault(
      `Cannot use the reasoning_effort "${effort}": it takes none, minimal, ${effortLevels.join(", ")}`,
      "reasoning_effort",
    );
  }
  return generation.thinking === "adaptive" ? adaptive(generation, level, plain, wish) : budgeted(level, plain, wish);
}

function switchedOff({ off, thinking }: Generation): Partial<ThinkingPlan> {
  if (off === "say nothing") return {};
  if (off !== undefined) return { thinking: { type: off } };
  return thinking === "adaptive" ? { effort: "low" } : {};
}

function adaptive(
  { efforts }: Generation,
  level: Effort,
  plain: ThinkingPlan,
  { forcedTool }: ThinkingWish,
): ThinkingPlan {
  const wanted = effortLevels.indexOf(level);
  const effort = efforts.findLast((known) => effortLevels.indexOf(known) <= wanted) ?? "low";
  if (forcedTool) return { ...plain, effort };
  // current models leave the thoughts' text out unless asked for it
  return { ...plain, effort, thinking: { type: "adaptive", display: "summarized" }, sampling: false };
}

function budgeted(level: Effort, plain: ThinkingPlan, wish: ThinkingWish): ThinkingPlan {
  // the API refuses a budget with a forced tool, and a tool loop that does not begin with signed thoughts
  if (wish.forcedTool || wish.thoughtsLost) return plain;
  const maxTokens = wish.maxTokens ??
    Math.min(wish.ceiling ?? Infinity, budgets[level] + plain.maxTokens);
  const budget = Math.min(budgets[level], Math.floor(maxTokens / 2));
  if (budget < minBudget) return plain;
  return { maxTokens, thinking: { type: "enabled", budget_tokens: budget }, sampling: false };
}
