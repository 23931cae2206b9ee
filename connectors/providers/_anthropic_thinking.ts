/**
 * Maps OpenAI's `reasoning_effort` and output token limit to Claude's thinking settings.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import { requestFault } from "./_anthropic_fault.ts";
import { type Effort, effortLevels, type Generation } from "./anthropic.ts";

/** Inputs that determine the thinking settings. */
interface ThinkingInput {
  /** The request's `reasoning_effort`. */
  readonly effort?: string;
  /** The request's output token limit, which includes thinking. */
  readonly maxTokens?: number;
  /** The model's maximum output tokens, if known. */
  readonly ceiling?: number;
  /** Whether a tool call is forced, which excludes thinking. */
  readonly forcedTool: boolean;
  /** Whether a tool result follows a tool call whose thinking blocks are missing. */
  readonly isThinkingMissing: boolean;
}

/** The thinking settings of a request. */
export interface ThinkingPlan {
  /** The `thinking` parameter, if needed. */
  readonly thinking?: JsonObject;
  /** `output_config.effort`, if needed. */
  readonly effort?: Effort;
  /** `max_tokens`, which the Messages API requires. */
  readonly maxTokens: number;
  /** Whether sampling parameters may be sent as well. */
  readonly sampling: boolean;
}

const defaultMaxTokens = 16_384;
const unknownCeiling = 8_192;
/** Minimum thinking budget of the API, tokens. */
const minBudget = 1_024;

const budgets: Readonly<Record<Effort, number>> = {
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
};

/**
 * Determines the thinking settings.
 *
 * @param generation Features of the model.
 * @param input The request's settings.
 * @throws {UpstreamError} `request` for an unknown effort.
 */
export function planThinking(generation: Generation, input: ThinkingInput): ThinkingPlan {
  const plain: ThinkingPlan = {
    maxTokens: input.maxTokens ?? Math.min(input.ceiling ?? unknownCeiling, defaultMaxTokens),
    sampling: generation.sampling,
  };
  const { effort } = input;
  if (effort === undefined || generation.thinking === "none") return plain;
  if (effort === "none") return { ...plain, ...switchedOff(generation) };
  const level = effort === "minimal" ? "low" : effortLevels.find((known) => known === effort);
  if (level === undefined) {
    throw requestFault(
      `Cannot use the reasoning_effort "${effort}": it takes none, minimal, ${effortLevels.join(", ")}`,
      "reasoning_effort",
    );
  }
  return generation.thinking === "adaptive" ? adaptive(generation, level, plain, input) : budgeted(level, plain, input);
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
  { forcedTool }: ThinkingInput,
): ThinkingPlan {
  const wanted = effortLevels.indexOf(level);
  const effort = efforts.findLast((known) => effortLevels.indexOf(known) <= wanted) ?? "low";
  if (forcedTool) return { ...plain, effort };
  // current models omit the thinking text unless it is requested
  return { ...plain, effort, thinking: { type: "adaptive", display: "summarized" }, sampling: false };
}

function budgeted(level: Effort, plain: ThinkingPlan, input: ThinkingInput): ThinkingPlan {
  // the API rejects a thinking budget with a forced tool, and in a tool loop that does not start with signed thinking
  if (input.forcedTool || input.isThinkingMissing) return plain;
  const maxTokens = input.maxTokens ??
    Math.min(input.ceiling ?? Infinity, budgets[level] + plain.maxTokens);
  const budget = Math.min(budgets[level], Math.floor(maxTokens / 2));
  if (budget < minBudget) return plain;
  return { maxTokens, thinking: { type: "enabled", budget_tokens: budget }, sampling: false };
}
