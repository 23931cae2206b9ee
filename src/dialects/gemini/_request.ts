/**
 * Converts a `generateContent` request to a chat request.
 * @module
 */
import type { ChatCompletionRequest, JsonObject } from "../../contracts/openai.ts";
import { bodyChecker, invalid, isNonNegativeInteger } from "../../pipeline/check_body.ts";
import { convertContents } from "./_conversation.ts";
import type { NativeOnly } from "../native_only.ts";
import type { WebSearchTool } from "../web_search.ts";
import { Position } from "./_position.ts";
import { convertSchema } from "./_schema.ts";
import { convertGeminiTools } from "./_tools.ts";
import { pickDefined } from "../../util/entries.ts";

const ownMembers: readonly string[] = [
  ...["contents", "systemInstruction", "tools", "toolConfig", "safetySettings", "generationConfig", "cachedContent"],
];

/** Members that chat supports, or that have no effect in it. */
const translated: ReadonlySet<string> = new Set([...ownMembers, "model", "models", "mesh"]);

const checkMembers = bodyChecker(ownMembers);

/**
 * Converts a request.
 *
 * @param value The parsed body, unvalidated.
 * @param target Model and method from the URL, and whether the proxy runs searches.
 * @throws {UnsupportedRequestError} If the body is malformed.
 */
export function convertGeminiRequest(
  value: unknown,
  { model, stream, searches = false }: { model: string; stream: boolean; searches?: boolean },
): {
  readonly chat: ChatCompletionRequest;
  readonly includesThoughts: boolean;
  readonly dropped: readonly string[];
  /** What only models of the API support. */
  readonly nativeOnly: NativeOnly;
  /** The search tool that the proxy runs. */
  readonly search: WebSearchTool | undefined;
} {
  const position = new Position();
  const body = position.fields(checkMembers(value));
  if (body.cachedContent !== undefined) position.member("cachedContent").addInexpressible();
  const at = position.member("generationConfig");
  const config = convertConfig(at.fields(body.generationConfig ?? {}), at);
  const messages = convertContents(body, position);
  const { chat: tooling, search, dropped } = convertGeminiTools(body, position, {
    searches: searches && (config.chat.n ?? 1) === 1, // each choice would search for itself
  });
  const chat = {
    ...(model === "" ? {} : { model }),
    models: body.models,
    mesh: body.mesh,
    messages,
    stream: stream || undefined,
    ...tooling,
    ...config.chat,
  };
  return {
    chat: pickDefined(chat) as unknown as ChatCompletionRequest,
    includesThoughts: config.includesThoughts,
    dropped: [
      ...Object.keys(body).filter((name) => !translated.has(name)),
      ...(position.list(body.safetySettings).length > 0 ? ["safetySettings"] : []),
      ...config.dropped.map((name) => `generationConfig.${name}`),
      ...dropped,
    ],
    nativeOnly: position.nativeOnly,
    search,
  };
}

/** Members that chat supports. */
const translatedOptions: ReadonlySet<string> = new Set([
  ...["candidateCount", "stopSequences", "maxOutputTokens", "temperature", "topP", "topK", "seed", "presencePenalty"],
  ...["frequencyPenalty", "responseMimeType", "responseSchema", "responseJsonSchema", "_responseJsonSchema"],
  ...["responseLogprobs", "logprobs", "thinkingConfig", "responseModalities"],
]);

/** Essential members: without them the response would not be what was requested. */
const needed: readonly string[] = ["speechConfig", "imageConfig"];

/**
 * Converts a configuration.
 *
 * @param config Its members; empty if there is none.
 * @param position Its path in the request.
 * @returns Chat parameters, and the names of members that chat cannot express and that are not essential.
 */
function convertConfig(config: JsonObject, position: Position) {
  for (const name of needed) if (config[name] !== undefined) position.member(name).addInexpressible();
  const modalities = position.member("responseModalities");
  if (modalities.list(config.responseModalities).some((modality) => modality !== "TEXT")) modalities.addInexpressible();
  const thinking = position.member("thinkingConfig").fields(config.thinkingConfig ?? {});
  const number = (name: string) => position.member(name).number(config[name]);
  return {
    chat: {
      n: readCandidateCount("candidateCount", config, position),
      stop: readStops(config.stopSequences, position.member("stopSequences")),
      max_tokens: readCandidateCount("maxOutputTokens", config, position),
      temperature: number("temperature"),
      top_p: number("topP"),
      top_k: number("topK"),
      seed: number("seed"),
      presence_penalty: number("presencePenalty"),
      frequency_penalty: number("frequencyPenalty"),
      response_format: readFormat(config, position),
      ...(config.responseLogprobs === true ? { logprobs: true, top_logprobs: number("logprobs") } : {}),
      reasoning_effort: findEffort(thinking, position.member("thinkingConfig")),
    },
    includesThoughts: thinking.includeThoughts === true,
    dropped: Object.keys(config).filter((name) => !translatedOptions.has(name) && !needed.includes(name)),
  };
}

function readCandidateCount(name: string, config: JsonObject, position: Position): number | undefined {
  const at = position.member(name);
  const value = at.number(config[name]);
  if (value === undefined || isNonNegativeInteger(value) && value > 0) return value;
  throw invalid(`"${at.path}" has to be an integer of at least 1`, at.path);
}

function readStops(value: unknown, position: Position): string[] | undefined {
  const stops = position.list(value).map((stop, index) => position.item(index).required(stop));
  return stops.length === 0 ? undefined : stops;
}

function readFormat(config: JsonObject, position: Position): ChatCompletionRequest["response_format"] {
  const type = position.member("responseMimeType").text(config.responseMimeType) ?? "text/plain";
  if (type === "text/plain") return undefined;
  if (type !== "application/json") {
    position.member("responseMimeType").addInexpressible();
    return undefined;
  }
  const { responseSchema, _responseJsonSchema, responseJsonSchema = _responseJsonSchema } = config;
  if (responseSchema === undefined && responseJsonSchema === undefined) return { type: "json_object" };
  const schema = responseJsonSchema !== undefined
    ? position.member("responseJsonSchema").object(responseJsonSchema)
    : position.member("responseSchema").object(responseSchema);
  return { type: "json_schema", json_schema: { name: "response", schema: convertSchema(schema) } };
}

/** Without thinking, no effort is set: not every model supports the parameter. */
function findEffort({ thinkingBudget, thinkingLevel }: JsonObject, position: Position): string | undefined {
  const level = position.member("thinkingLevel").text(thinkingLevel)?.toLowerCase();
  if (level !== undefined) return level === "thinking_level_unspecified" ? undefined : level;
  const budget = position.member("thinkingBudget").number(thinkingBudget);
  if (budget === undefined || budget <= 0) return undefined; // -1: dynamic thinking
  return budget <= 2_048 ? "low" : budget <= 8_192 ? "medium" : "high";
}
