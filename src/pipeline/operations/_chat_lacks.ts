/**
 * Determines what a model lacks for a chat request. `fine_tunable` does not concern requests, and models without
 * reasoning serve requests with a reasoning effort, which is only a preference and is dropped.
 * @module
 */
import type { ChatCompletionRequest, RequestBody } from "../../contracts/openai.ts";
import type { ModelConstraints, ModelFeatures, ModelInfo, ParameterRules } from "../../contracts/provider.ts";
import { estimateTokens, minTokens, outputLimit } from "../estimate.ts";
import type { RequestNeeds } from "../operation.ts";
import { measureRequest, type RequestSize } from "../request_size.ts";

type Feature = keyof ModelFeatures;

/** BCP 47 language tags. Values such as `auto`, `multi` or "English" are ignored. */
const languageTag = /^[a-z]{2,3}([-_][a-z0-9]{1,8})*$/i;
/** ISO 639-2: undetermined, multiple. */
const noLanguage: ReadonlySet<string> = new Set(["und", "mul"]);

/**
 * Determines what a model lacks for a chat request; undefined if it is eligible. What the request needs is determined with
 * the first model that declares anything about it.
 *
 * @param size The result of `measureRequest`.
 */
export function chatLacks(body: ChatCompletionRequest, size: RequestSize): RequestNeeds["findLack"] {
  let needs: readonly Feature[] | undefined;
  return ({ features, parameters, constraints }) => {
    if (features !== undefined) {
      needs ??= neededFeatures(body, size);
      for (const feature of needs) if (features[feature] === false) return feature;
    }
    const refused = parameters && findRefused(parameters, body);
    return refused ?? (constraints && findExcess(constraints, body, size));
  };
}

function findRefused(parameters: ParameterRules, body: ChatCompletionRequest): string | undefined {
  const refused = refusedBy(parameters, body);
  const { refuse_with_tools: refuse } = parameters;
  if (refused !== undefined || refuse === undefined || isNeutral("tools", body.tools)) return refused;
  const withTools = refusedBy({ refuse }, body);
  return withTools && `${withTools} with tools`;
}

/** The significant parameter of a body that a model rejects; undefined if there is none. */
export function refusedBy(parameters: ParameterRules | undefined, body: RequestBody): string | undefined {
  return parameters?.refuse?.find((name) => !isNeutral(name, body[name]));
}

/**
 * Compares with the input estimated low, so that no model is excluded wrongly. A limit above the maximum output does not
 * exclude a model: it is lowered.
 */
function findExcess(constraints: ModelConstraints, body: ChatCompletionRequest, size: RequestSize): string | undefined {
  const { images, largestFileBytes } = size;
  const { context_window, max_images, max_file_size } = constraints;
  const output = outputLimit(body) ?? 0;
  const needed = minTokens(size) + (output > maxOutput(constraints) ? 0 : output);
  if (needed > (context_window ?? Infinity)) return `room for about ${needed} tokens`;
  if (images > (max_images ?? Infinity)) return `room for ${images} images`;
  if (largestFileBytes > (max_file_size ?? Infinity)) return `room for a file of ${largestFileBytes} bytes`;
  return body.language === undefined ? undefined : languageLack(constraints, body.language);
}

/**
 * Determines whether a model lacks a language; undefined if it has it, or if that is unknown.
 *
 * @param language Any value.
 */
export function languageLack(constraints: ModelConstraints | undefined, language: unknown): string | undefined {
  const tag = parseLanguageTag(language);
  if (tag === undefined || supportsLanguage(constraints?.supported_languages, tag)) return undefined;
  return `support for the language "${tag}"`;
}

/**
 * Whether a list of languages contains a tag. `pt` matches `pt-BR` and the reverse, but `pt-PT` does not match `pt-BR`.
 */
function supportsLanguage(languages: readonly string[] | undefined, language: string): boolean {
  if (languages === undefined || languages.length === 0) return true;
  return languages.some((candidate) => {
    const tag = normalTag(candidate);
    return tag === language || tag.startsWith(`${language}-`) || language.startsWith(`${tag}-`);
  });
}

function parseLanguageTag(language: unknown): string | undefined {
  if (typeof language !== "string" || language.length > 35 || !languageTag.test(language)) return undefined;
  const tag = normalTag(language);
  return noLanguage.has(tag) ? undefined : tag;
}

function normalTag(tag: string): string {
  return tag.toLowerCase().replaceAll("_", "-");
}

/** Whether a parameter has no effect, and therefore excludes no model. */
export function isNeutral(name: string, value: unknown): boolean {
  if (value === null || value === undefined || value === false) return true;
  if (name === "n") return value === 1;
  if (name === "tool_choice" || name === "function_call") return value === "auto" || value === "none";
  if (name === "response_format") return (value as { type?: unknown }).type === "text";
  return name === "logit_bias" ? Object.keys(value).length === 0 : Array.isArray(value) && value.length === 0;
}

function neededFeatures(body: ChatCompletionRequest, size: RequestSize): Feature[] {
  const { tools, functions, response_format: form } = body;
  const needs: Feature[] = [];
  const isHosted = Array.isArray(tools) && tools.every(isSearchTool);
  if (!isHosted && !isNeutral("tools", tools) || !isNeutral("functions", functions)) needs.push("tool_calling");
  if (!isNeutral("web_search_options", body.web_search_options)) needs.push("grounding");
  else if (Array.isArray(tools) && tools.some(isSearchTool)) needs.push("grounding");
  if (!isNeutral("logprobs", body.logprobs)) needs.push("logprobs");
  if (form?.type === "json_schema") needs.push("structured_output");
  if (form?.type === "json_object") needs.push("json_mode");
  if (size.hasSystemPrompt) needs.push("system_prompt");
  if (size.images > 0) needs.push("vision");
  if (size.sounds > 0) needs.push("audio_input");
  return needs;
}

/** A hosted search tool: `web_search`, `google_search`, `browser_search`, `file_search`, with or without a version. */
function isSearchTool(tool: unknown): boolean {
  const type = (tool as { type?: unknown } | null)?.type;
  return typeof type === "string" && /(^|_)search(_|$)/.test(type);
}

/** Returns the most output tokens that a model may be asked for, whatever the input; `Infinity` if that is unknown. */
function maxOutput({ max_output_tokens, context_window }: ModelConstraints = {}): number {
  return Math.min(max_output_tokens ?? Infinity, context_window ?? Infinity);
}

/** The result of {@linkcode lowerToBounds} for a request within the bounds. */
export const unbounded: Readonly<Record<string, unknown>> = {};

/** Returns the members of a request that exceed a bound of the model, lowered to it. */
export function lowerToBounds(
  body: ChatCompletionRequest,
  { constraints, parameters }: ModelInfo,
): Readonly<Record<string, unknown>> {
  const { max_tokens = 0, max_completion_tokens = 0, stop: stops } = body;
  const most = maxOutput(constraints);
  const stop = stops === undefined ? undefined : lowerStops(stops, parameters);
  // a limit of another type is compared as false
  if (stop === stops && !(max_tokens! > most) && !(max_completion_tokens! > most)) return unbounded;
  const edits: Record<string, unknown> = {};
  for (const name of ["max_tokens", "max_completion_tokens"] as const) {
    const limit = body[name];
    if (typeof limit === "number" && limit > most) edits[name] = Math.min(most, roomFor(body, constraints));
  }
  if (stop !== stops) edits.stop = stop;
  return edits;
}

function lowerStops(
  stop: unknown,
  { max_stop_sequences: most, blank_stop_sequences: mayBeBlank }: ParameterRules = {},
) {
  const isSent = (sequence: unknown) => mayBeBlank !== false || typeof sequence !== "string" || sequence.trim() !== "";
  if (!Array.isArray(stop)) return isSent(stop) ? stop : undefined;
  const sent = stop.filter(isSent).slice(0, most);
  return sent.length === stop.length ? stop : sent.length === 0 ? undefined : sent;
}

/** What the input leaves of the context window: estimated low if possible, since a vendor rejects what exceeds it. */
function roomFor(body: ChatCompletionRequest, { context_window: window }: ModelConstraints = {}): number {
  if (window === undefined) return Infinity;
  const size = measureRequest(body);
  const certain = window - estimateTokens(body, size).input;
  return certain > 0 ? certain : Math.max(1, window - minTokens(size));
}
