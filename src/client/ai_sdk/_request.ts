/**
 * Converts the call options of the `ai` package to a chat request.
 * @module
 */
import type { ChatCompletionRequest, JsonObject, Tool } from "../../contracts/openai.ts";
import { toChatMessages } from "./_prompt.ts";
import { given, ownOptions } from "./_settings.ts";
import type { LanguageCallOptions, LanguageTool, Warning } from "./spec.ts";

/** A chat request, and warnings about options that it cannot express. */
interface ChatForm {
  readonly request: ChatCompletionRequest & { stream?: false };
  readonly warnings: Warning[];
}

/**
 * Converts call options.
 *
 * @param options Call options of a language model.
 * @param model The name of a pool, alias, capability or model.
 * @throws {UnsupportedRequestError} When the prompt cannot be expressed in a chat request.
 */
export function toChatRequest(options: LanguageCallOptions, model: string): ChatForm {
  const { tools = [], reasoning, stopSequences: stops = [] } = options;
  const functions = tools.filter(({ type }) => type === "function").map(toChatTool);
  const request = given({
    model,
    messages: toChatMessages(options.prompt),
    max_tokens: options.maxOutputTokens,
    temperature: options.temperature,
    top_p: options.topP,
    top_k: options.topK,
    presence_penalty: options.presencePenalty,
    frequency_penalty: options.frequencyPenalty,
    seed: options.seed,
    stop: stops.length === 0 ? undefined : [...stops],
    response_format: toResponseFormat(options.responseFormat),
    ...(functions.length === 0 ? {} : { tools: functions, tool_choice: toToolChoice(options.toolChoice) }),
    reasoning_effort: reasoning === "provider-default" ? undefined : reasoning,
    ...ownOptions(options),
  });
  const warnings = tools.filter(({ type }) => type !== "function").map(({ id, name }): Warning => ({
    type: "unsupported",
    feature: `the provider's tool ${id ?? name}`,
  }));
  return { request: request as unknown as ChatForm["request"], warnings };
}

function toChatTool({ name, description, inputSchema, strict }: LanguageTool): Tool {
  return {
    type: "function",
    function: {
      name,
      ...(description === undefined ? {} : { description }),
      parameters: inputSchema as JsonObject,
      ...(strict === undefined ? {} : { strict }),
    },
  };
}

function toToolChoice(choice: LanguageCallOptions["toolChoice"]): ChatCompletionRequest["tool_choice"] {
  return choice?.type === "tool" ? { type: "function", function: { name: choice.toolName } } : choice?.type;
}

function toResponseFormat(format: LanguageCallOptions["responseFormat"]): ChatCompletionRequest["response_format"] {
  if (format?.type !== "json") return undefined;
  const { schema, name = "response", description } = format;
  if (schema === undefined) return { type: "json_object" };
  return { type: "json_schema", json_schema: { name, ...(description === undefined ? {} : { description }), schema } };
}
