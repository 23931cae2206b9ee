/**
 * Converts OpenAI's chat request to the body of `generateContent`. Parameters are allowlisted: others are dropped.
 *
 * Sources, read 2026-11-21: https://ai.google.dev/api/generate-content; https://ai.google.dev/gemini-api/docs:
 * /function-calling, /thinking, /openai (efforts and budgets).
 * @module
 */
import type { ChatCompletionRequest, JsonObject, Tool } from "../../src/contracts/openai.ts";
import { toText } from "../../src/util/to_text.ts";
import { findTokenLimit } from "../../src/util/token_limit.ts";
import { droppedParams } from "./_dropped_params.ts";
import { demandsSignatures, firstWithLevels, parseGeneration, takesSampling } from "./gemini.ts";
import { createRequestFault } from "./_gemini_fault.ts";
import { toGeminiContents } from "./_gemini_messages.ts";
import { cleanSchema } from "./_gemini_schema.ts";
import {
  asObject,
  asObjects,
  asText,
  type FunctionCallingConfig,
  type FunctionDeclaration,
  type GenerateContentRequest,
  type GenerationConfig,
  omitUnset,
  type ThinkingConfig,
} from "./_gemini_wire.ts";

/**
 * Translates a request.
 *
 * @param model The model id; its generation determines the supported features.
 * @param body The request; not modified.
 * @throws {UpstreamError} `request` for features that the Gemini API does not support.
 *
 * @example
 * ```ts
 * toGenerateContent("gemini-2.5-flash", { messages: [{ role: "user", content: "Hi" }], max_tokens: 9 });
 * // { contents: [{ role: "user", parts: [{ text: "Hi" }] }], generationConfig: { maxOutputTokens: 9 } }
 * ```
 */
export function toGenerateContent(model: string, body: ChatCompletionRequest): GenerateContentRequest {
  const generationConfig = toGenerationConfig(model, body);
  return {
    ...toGeminiContents(body.messages, demandsSignatures(model)),
    ...toGeminiTools(body),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
  };
}

/**
 * The names of parameters that the translation dropped.
 *
 * @param body The original request.
 * @param content The translated request.
 */
export function findDroppedGeminiParams(body: ChatCompletionRequest, content: GenerateContentRequest): string[] {
  const config = content.generationConfig ?? {};
  return droppedParams(body, {
    temperature: config.temperature !== undefined,
    top_p: config.topP !== undefined,
    top_k: config.topK !== undefined,
    seed: config.seed !== undefined,
    modalities: config.responseModalities !== undefined,
    image_config: config.imageConfig !== undefined,
    presence_penalty: true,
    frequency_penalty: true,
    reasoning_effort: body.reasoning_effort === "none" || config.thinkingConfig !== undefined,
  });
}

function toGenerationConfig(model: string, body: ChatCompletionRequest): GenerationConfig {
  const { n, stop, seed, reasoning_effort: effort } = body;
  return omitUnset({
    maxOutputTokens: findTokenLimit(body),
    candidateCount: n === 1 ? undefined : n,
    stopSequences: typeof stop === "string" ? [stop] : stop?.length === 0 ? undefined : stop,
    // seeds are arbitrary: truncation to the API's 32 bits keeps equal seeds equal
    seed: typeof seed === "number" ? seed | 0 : undefined,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    ...(takesSampling(model) ? { temperature: body.temperature, topP: body.top_p, topK: body.top_k } : {}),
    ...toGeminiFormat(body.response_format),
    responseModalities: toModalities(body.modalities),
    imageConfig: toImageConfig(body.image_config),
    thinkingConfig: typeof effort === "string" ? findThinking(model, effort) : undefined,
  }) as GenerationConfig;
}

/** Only images have to be requested. */
function toModalities(modalities: unknown): string[] | undefined {
  if (!Array.isArray(modalities) || !modalities.includes("image")) return undefined;
  return modalities.map((name) => toText(name).toUpperCase());
}

function toImageConfig(config: unknown): GenerationConfig["imageConfig"] {
  const { aspect_ratio, image_size } = asObject(config) ?? {};
  const members = omitUnset({ aspectRatio: aspect_ratio, imageSize: image_size });
  return Object.keys(members).length === 0 ? undefined : members;
}

function toGeminiFormat(
  format: ChatCompletionRequest["response_format"],
): Pick<GenerationConfig, "responseMimeType" | "responseJsonSchema"> {
  switch (format?.type) {
    case undefined:
    case "text":
      return {};
    case "json_object":
      return { responseMimeType: "application/json" };
    case "json_schema": {
      const schema = asObject(format.json_schema?.schema);
      return {
        responseMimeType: "application/json",
        ...(schema === undefined
          ? {}
          : { responseJsonSchema: cleanSchema(schema, "response_format.json_schema.schema") }),
      };
    }
    default:
      throw createRequestFault(
        `Cannot use the response_format "${toText(format?.type)}": the API accepts text, json_object and json_schema`,
        "response_format",
      );
  }
}

/** First generation with thinking. */
const firstThinking = 205;
/** First generation in which only the light models support the minimal level. */
const firstWithoutMinimal = 307;

const minBudgetOfPro = 128;

/** The vendor's mapping of OpenAI's efforts; `xhigh` and `max` map to the maximum. */
const efforts: Readonly<
  Record<string, { readonly budget: number; readonly level: NonNullable<ThinkingConfig["thinkingLevel"]> }>
> = {
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
function findThinking(model: string, effort: string): ThinkingConfig | undefined {
  if (!Object.hasOwn(efforts, effort)) {
    const supported = Object.keys(efforts).join(", ");
    throw createRequestFault(
      `Cannot use the reasoning_effort "${effort}": the API accepts ${supported}`,
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

const modes: Readonly<Record<string, FunctionCallingConfig["mode"]>> = { none: "NONE", auto: "AUTO", required: "ANY" };

/**
 * Translates `tools` and `tool_choice`.
 *
 * @returns An empty object if it has no tools.
 * @throws {UpstreamError} `request` for tools other than functions, and for an unknown choice.
 */
function toGeminiTools(
  { tools, tool_choice: choice }: ChatCompletionRequest,
): Pick<GenerateContentRequest, "tools" | "toolConfig"> {
  if (!Array.isArray(tools) || tools.length === 0) return {};
  const declarations = tools.map((tool, index) => toFunctionDeclaration(tool, `tools[${index}]`));
  const allowed = allowedNames(choice);
  const offered = allowed === undefined ? declarations : declarations.filter(({ name }) => allowed.has(name));
  const config = toCallingConfig(choice);
  return {
    tools: [{ functionDeclarations: offered }],
    ...(config === undefined ? {} : { toolConfig: { functionCallingConfig: config } }),
  };
}

function toFunctionDeclaration({ type, function: described }: Tool, param: string): FunctionDeclaration {
  const name = asText(described?.name);
  if (type !== "function" || name === undefined) {
    throw createRequestFault(`Cannot use a tool of the type "${toText(type)}": the API accepts named functions`, param);
  }
  const description = asText(described?.description);
  const parameters = asObject(described?.parameters);
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(hasNoParameters(parameters)
      ? {}
      : { parametersJsonSchema: { type: "object", ...cleanSchema(parameters!, `${param}.function.parameters`) } }),
  };
}

/** The API rejects an object schema without properties, and accepts omitted parameters instead. */
function hasNoParameters(schema: JsonObject | undefined): boolean {
  if (schema === undefined) return true;
  const properties = asObject(schema.properties);
  const others = ["$ref", "allOf", "anyOf", "oneOf", "additionalProperties"].filter((name) =>
    schema[name] !== undefined && schema[name] !== false
  );
  return others.length === 0 && (properties === undefined || Object.keys(properties).length === 0);
}

function toCallingConfig(choice: ChatCompletionRequest["tool_choice"]): FunctionCallingConfig | undefined {
  if (choice === undefined || choice === null) return undefined;
  const named = asText(asObject(asObject(choice)?.function)?.name);
  if (named !== undefined) return { mode: "ANY", allowedFunctionNames: [named] };
  const word = typeof choice === "string" ? choice : asText(asObject(asObject(choice)?.allowed_tools)?.mode) ?? "";
  if (Object.hasOwn(modes, word)) return { mode: modes[word]! };
  throw createRequestFault(
    "Cannot read the tool_choice: it must be none, auto, required, one function, or allowed_tools",
    "tool_choice",
  );
}

/** The names in `allowed_tools`. Only those are declared, which is equivalent in every mode. */
function allowedNames(choice: ChatCompletionRequest["tool_choice"]): ReadonlySet<string> | undefined {
  const allowed = asObject(asObject(choice)?.allowed_tools);
  return allowed === undefined
    ? undefined
    : new Set(asObjects(allowed.tools).flatMap((tool) => asText(asObject(tool.function)?.name) ?? []));
}
