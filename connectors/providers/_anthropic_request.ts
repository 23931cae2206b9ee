/**
 * Converts OpenAI's chat request to a request of the Messages API. Parameters are allowlisted: others are dropped.
 *
 * Source: https://platform.claude.com/docs/en/api/messages/create
 * @module
 */
import type { ChatCompletionRequest, JsonObject } from "../../src/contracts/openai.ts";
import type { CompletionRequest } from "../../src/contracts/provider.ts";
import { pickDefined } from "../../src/util/entries.ts";
import { toText } from "../../src/util/to_text.ts";
import { findTokenLimit } from "../../src/util/token_limit.ts";
import { type Effort, effortLevels, findGeneration, type Generation } from "./anthropic.ts";
import { readCacheControl } from "./_anthropic_content.ts";
import { requestFault } from "./_anthropic_fault.ts";
import { isThinkingMissing, toConversation } from "./_anthropic_messages.ts";
import { closedSchema } from "./_anthropic_schema.ts";
import { toTooling } from "./_anthropic_tools.ts";
import { droppedParams } from "./_dropped_params.ts";

/**
 * Translates a request.
 *
 * @param request The request, already adapted to the model.
 * @param generation Features of the model; derived from its id by default.
 * @throws {UpstreamError} `request` for features that the Messages API, or this model, does not support.
 */
export function toMessagesRequest(
  { model, stream, body }: CompletionRequest,
  generation: Generation = findGeneration(model.id),
): JsonObject {
  const { system, turns } = toConversation(body.messages);
  const tooling = toTooling(body, generation, turns);
  const plan = planThinking(generation, {
    effort: body.reasoning_effort ?? undefined,
    maxTokens: findTokenLimit(body),
    ceiling: model.constraints?.max_output_tokens,
    forcedTool: tooling.forced,
    isThinkingMissing: isThinkingMissing(body.messages),
  });
  return pickDefined({
    model: model.id,
    max_tokens: plan.maxTokens,
    system: system.length === 0 ? undefined : system,
    messages: turns,
    tools: tooling.tools,
    tool_choice: tooling.choice,
    stop_sequences: typeof body.stop === "string" ? [body.stop] : body.stop ?? undefined,
    thinking: plan.thinking,
    output_config: outputConfig(body, generation, plan),
    ...(plan.sampling ? sampling(body) : {}),
    metadata: metadata(body),
    cache_control: readCacheControl(body.cache_control),
    stream: stream || undefined,
  });
}

/**
 * The names of parameters that the translation dropped.
 *
 * @param body The original request.
 * @param message The translated request.
 */
export function findDroppedParams(body: ChatCompletionRequest, message: JsonObject): string[] {
  const { thinking, output_config, metadata } = message as Readonly<Record<string, JsonObject | undefined>>;
  return droppedParams(body, {
    temperature: message.temperature !== undefined,
    top_p: message.top_p !== undefined,
    top_k: message.top_k !== undefined,
    reasoning_effort: body.reasoning_effort === "none" || (thinking ?? output_config?.effort) !== undefined,
    user: metadata?.user_id === body.user,
    safety_identifier: metadata?.user_id === body.safety_identifier,
    cache_control: message.cache_control !== undefined,
  });
}

function outputConfig(
  { response_format }: ChatCompletionRequest,
  generation: Generation,
  { effort }: ThinkingPlan,
): JsonObject | undefined {
  const format = toOutputFormat(response_format, generation);
  return format === undefined && effort === undefined ? undefined : pickDefined({ effort, format });
}

function toOutputFormat(
  wanted: ChatCompletionRequest["response_format"],
  generation: Generation,
): JsonObject | undefined {
  const type = wanted?.type ?? "text";
  if (type === "text") return undefined;
  if (type === "json_schema") return schemaFormat(wanted?.json_schema, generation);
  throw requestFault(
    `Claude has no response_format "${toText(type)}": use json_schema, or text`,
    "response_format",
  );
}

function schemaFormat(wanted: JsonObject | undefined, { schemas }: Generation): JsonObject {
  const schema = wanted?.schema;
  if (!schemas) throw requestFault("This model does not support structured output by a JSON Schema", "response_format");
  if (typeof schema !== "object" || schema === null) {
    throw requestFault("The response_format json_schema has no schema", "response_format.json_schema.schema");
  }
  return { type: "json_schema", schema: closedSchema(schema as JsonObject) };
}

function sampling({ temperature, top_p, top_k }: ChatCompletionRequest): JsonObject {
  const presence = {
    // OpenAI's temperature range is 0 to 2, Claude's 0 to 1
    temperature: typeof temperature === "number" ? Math.min(temperature, 1) : undefined,
    top_k: typeof top_k === "number" ? top_k : undefined,
  };
  // the API accepts either temperature or top_p, not both
  return presence.temperature === undefined ? { ...presence, top_p: top_p ?? undefined } : presence;
}

function metadata({ user, safety_identifier }: ChatCompletionRequest): JsonObject | undefined {
  const id = user ?? safety_identifier;
  return typeof id === "string" && id !== "" ? { user_id: id } : undefined;
}

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
interface ThinkingPlan {
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
function planThinking(generation: Generation, input: ThinkingInput): ThinkingPlan {
  const plain: ThinkingPlan = {
    maxTokens: input.maxTokens ?? Math.min(input.ceiling ?? unknownCeiling, defaultMaxTokens),
    sampling: generation.sampling,
  };
  const { effort } = input;
  if (effort === undefined || generation.thinking === "none") return plain;
  if (effort === "none") return { ...plain, ...switchedOff(generation) };
  const level = effort === "minimal" ? "low" : effortLevels.find((candidate) => candidate === effort);
  if (level === undefined) {
    throw requestFault(
      `Cannot use the reasoning_effort "${effort}": it takes none, minimal, ${effortLevels.join(", ")}`,
      "reasoning_effort",
    );
  }
  return generation.thinking === "adaptive"
    ? adaptive(generation, level, { plain, input })
    : budgeted(level, plain, input);
}

function switchedOff({ off, thinking }: Generation): Partial<ThinkingPlan> {
  if (off === "say nothing") return {};
  if (off !== undefined) return { thinking: { type: off } };
  return thinking === "adaptive" ? { effort: "low" } : {};
}

function adaptive(
  { efforts }: Generation,
  level: Effort,
  { plain, input: { forcedTool } }: { readonly plain: ThinkingPlan; readonly input: ThinkingInput },
): ThinkingPlan {
  const wanted = effortLevels.indexOf(level);
  const effort = efforts.findLast((candidate) => effortLevels.indexOf(candidate) <= wanted) ?? "low";
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
