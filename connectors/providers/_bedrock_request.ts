/**
 * Converts OpenAI's chat request to one of Converse. The conversation is first converted to blocks of the Messages API,
 * which are similar to those of Converse. Model-specific parameters are sent in `additionalModelRequestFields`.
 *
 * Sources, read 2026-11-22: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html,
 * https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html and /prompt-caching.html.
 * @module
 */
import type { ChatCompletionRequest, JsonObject } from "../../src/contracts/openai.ts";
import type { CompletionRequest } from "../../src/contracts/provider.ts";
import { findTokenLimit } from "../../src/util/token_limit.ts";
import { requestFault } from "./_anthropic_fault.ts";
import { findGeneration, type Generation, isClaude } from "./anthropic.ts";
import type { AnthropicTurn } from "./_anthropic_messages.ts";
import { toMessagesRequest } from "./_anthropic_request.ts";
import type { Block } from "./_anthropic_thoughts.ts";
import { toCachePoint, toConverseBlocks } from "./_bedrock_blocks.ts";
import { droppedParams } from "./_dropped_params.ts";
import { findOwn } from "../../src/util/entries.ts";

/** Models other than Claude: their reasoning parameters differ from the Messages API. */
const others: Generation = {
  thinking: "none",
  efforts: [],
  sampling: true,
  forcedTools: true,
  schemas: true,
};

/** Nova and gpt-oss have three effort levels. */
const efforts: Readonly<Record<string, string>> = {
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
};

/**
 * Translates a request. The model id becomes part of the URL.
 *
 * @param request The request, already adapted to the model.
 * @param mark Marks the prompt for the cache, in the form of the Messages API.
 * @default no marks
 * @throws {UpstreamError} `request` for features that Converse, or this model, does not support.
 */
export function toConverseRequest(
  request: CompletionRequest,
  mark: (message: JsonObject) => JsonObject = (message) => message,
): JsonObject {
  const { model, body } = request;
  const claude = isClaude(model.id);
  const written = toMessagesRequest(request, claude ? findGeneration(model.id) : others);
  const caches = claude || /\bnova\b/.test(model.id);
  const message = caches ? mark(written) : written;
  const turns = message.messages as AnthropicTurn[];
  const system = (message.system ?? []) as Block[];
  const fields = { ...(claude ? claudeFields(message) : effortFields(model.id, body)) };
  return withoutEmpty({
    messages: withLastMark(turns, message.cache_control).map(({ role, content }) => ({
      role,
      content: toConverseBlocks(content, { thoughts: claude, caches }),
    })),
    system: toConverseBlocks(system, { thoughts: false, caches }),
    inferenceConfig: withoutEmpty({
      maxTokens: findTokenLimit(body) === undefined && message.thinking === undefined ? undefined : message.max_tokens,
      stopSequences: message.stop_sequences,
      ...(claude ? { temperature: message.temperature, topP: message.top_p } : toSampling(body)),
    }),
    toolConfig: toolConfig(message, { caches: claude, body }),
    outputConfig: toOutputConfig(message, body),
    additionalModelRequestFields: fields,
  });
}

/**
 * The names of parameters that the translation dropped.
 *
 * @param body The original request.
 * @param sent The translated request.
 */
export function listDroppedParams(body: ChatCompletionRequest, sent: JsonObject): string[] {
  const { inferenceConfig = {}, additionalModelRequestFields: fields = {} } = sent as Record<string, JsonObject>;
  return droppedParams(body, {
    temperature: inferenceConfig.temperature !== undefined,
    top_p: inferenceConfig.topP !== undefined,
    top_k: fields.top_k !== undefined,
    reasoning_effort: body.reasoning_effort === "none" ||
      (fields.thinking ?? fields.output_config ?? fields.reasoningConfig ?? fields.reasoning_effort) !== undefined,
    cache_control: JSON.stringify(sent.messages).includes('"cachePoint"'),
  });
}

/** Converse's temperature range is 0 to 1. */
function toSampling({ temperature, top_p }: ChatCompletionRequest): JsonObject {
  return {
    temperature: typeof temperature === "number" ? Math.min(temperature, 1) : undefined,
    topP: typeof top_p === "number" ? top_p : undefined,
  };
}

function claudeFields({ thinking, output_config, top_k }: JsonObject): JsonObject {
  const { effort } = (output_config ?? {}) as { effort?: unknown };
  return withoutEmpty({ thinking, output_config: effort === undefined ? undefined : { effort }, top_k });
}

function effortFields(model: string, { reasoning_effort: wanted }: ChatCompletionRequest): JsonObject {
  const effort = findOwn(efforts, wanted);
  if (effort === undefined) return {};
  if (/\bnova-2/.test(model)) return { reasoningConfig: { type: "enabled", maxReasoningEffort: effort } };
  return /gpt-oss/.test(model) ? { reasoning_effort: effort } : {};
}

/** A cache breakpoint on the whole request applies to its last block. */
function withLastMark(turns: readonly AnthropicTurn[], mark: unknown): readonly AnthropicTurn[] {
  const last = turns.at(-1);
  const block = last?.content.at(-1);
  if (mark === undefined || last === undefined || block === undefined) return turns;
  const content = [...last.content.slice(0, -1), { ...block, cache_control: mark }];
  return [...turns.slice(0, -1), { ...last, content }];
}

function toolConfig(
  { tools, tool_choice: choice, messages }: JsonObject,
  { caches, body }: { caches: boolean; body: ChatCompletionRequest },
): JsonObject | undefined {
  if (tools === undefined) return undefined;
  const { type, name } = (choice ?? {}) as { type?: string; name?: string };
  if (type === "none" && body.tools?.length) {
    const hasCalls = (messages as AnthropicTurn[]).some(({ content }) =>
      content.some((block) => block.type === "tool_use")
    );
    if (!hasCalls) return undefined;
    throw requestFault(
      "Converse does not support the tool_choice none in a conversation with tool calls: use auto",
      "tool_choice",
    );
  }
  return withoutEmpty({
    tools: (tools as JsonObject[]).flatMap((tool) => [
      { toolSpec: toolSpec(tool) },
      ...(caches ? toCachePoint(tool.cache_control) : []),
    ]),
    toolChoice: type === "any" ? { any: {} } : type === "tool" ? { tool: { name } } : undefined,
  });
}

function toolSpec({ name, description, input_schema, strict }: JsonObject): JsonObject {
  return {
    name,
    ...(description === undefined || description === "" ? {} : { description }),
    inputSchema: { json: input_schema },
    ...(strict === undefined ? {} : { strict }),
  };
}

function toOutputConfig({ output_config }: JsonObject, { response_format }: ChatCompletionRequest): JsonObject {
  const { format } = (output_config ?? {}) as { format?: { schema?: unknown } };
  if (format === undefined) return {};
  const { name, description } = response_format?.json_schema ?? {};
  const jsonSchema = { schema: JSON.stringify(format.schema), ...toStrings({ name, description }) };
  return { textFormat: { type: "json_schema", structure: { jsonSchema } } };
}

function toStrings(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === "string"));
}

/** Removes empty members. */
function withoutEmpty(object: JsonObject): JsonObject {
  const isPresent = (value: unknown) =>
    value !== undefined && !(Array.isArray(value) && value.length === 0) &&
    !(typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(object).filter(([, value]) => isPresent(value)));
}
