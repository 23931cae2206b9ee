/**
 * Converts OpenAI's chat request to the body of `generateContent`. Parameters are allowlisted: others are dropped.
 *
 * Source: https://ai.google.dev/api/generate-content, read 2026-11-21.
 * @module
 */
import type { ChatCompletionRequest } from "../../src/contracts/openai.ts";
import { findTokenLimit } from "../../src/util/token_limit.ts";
import { demandsSignatures, takesSampling } from "./gemini.ts";
import { createRequestFault } from "./_gemini_fault.ts";
import { toGeminiContents } from "./_gemini_messages.ts";
import { cleanSchema } from "./_gemini_schema.ts";
import { droppedParams } from "./_dropped_params.ts";
import { findThinking } from "./_gemini_thinking.ts";
import { toGeminiTools } from "./_gemini_tools.ts";
import { asObject, type GenerateContentRequest, type GenerationConfig, omitUnset } from "./_gemini_wire.ts";
import { toText } from "../../src/util/to_text.ts";

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
