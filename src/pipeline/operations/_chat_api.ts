/**
 * Selects the API through which a chat request is sent to a model: chat completions, or Responses. The connector
 * translates the request.
 * @module
 */
import type { ChatCompletionRequest } from "../../contracts/openai.ts";
import type { ChatApi, ModelInfo, ParameterRules } from "../../contracts/provider.ts";
import type { ModelEntry } from "../../registry/registry.ts";
import { findOwn } from "../../util/entries.ts";
import { isNeutral, refusedBy } from "./_chat_lacks.ts";

/** What the Responses API does not support of a chat request, of all models. */
const responsesRules = {
  drop: ["seed", "frequency_penalty", "presence_penalty", "prediction"],
  refuse: ["n", "stop", "logit_bias", "audio", "functions", "function_call", "web_search_options"],
} as const satisfies ParameterRules;

/**
 * Selects the API for a request. Chat is used unless the request would lose something there.
 *
 * @returns Undefined for models that declare no API.
 */
export function selectChatApi(
  body: ChatCompletionRequest,
  { info }: Pick<ModelEntry, "info">,
): ChatApi | undefined {
  const { api, parameters } = info;
  if (api === undefined && parameters === undefined) return undefined;
  const { apis, tools_via } = parameters ?? {};
  const only = api ?? (apis?.length === 1 ? apis[0] : undefined);
  if (only !== undefined || apis === undefined && tools_via === undefined) return only;
  return tools_via !== undefined && hasTools(body) && mayReason(body, info) ? tools_via : "chat";
}

function hasTools({ tools, functions }: ChatCompletionRequest): boolean {
  return !isNeutral("tools", tools) || !isNeutral("functions", functions);
}

function mayReason(
  { reasoning_effort }: ChatCompletionRequest,
  { parameters: { efforts = {}, default_effort, fill } = {}, features }: ModelInfo,
): boolean {
  if (features?.reasoning === false) return false;
  const effort = reasoning_effort ?? fill?.reasoning_effort ?? default_effort;
  return (findOwn(efforts, effort)?.reasoning_effort ?? effort) !== "none";
}

/**
 * Determines what the API lacks through which a request would be sent to a model; undefined if it is eligible.
 *
 * @param body The request, in chat's form.
 */
export function findApiLack(body: ChatCompletionRequest, model: ModelEntry): string | undefined {
  if (selectChatApi(body, model) !== "responses") return undefined;
  if (model.instance.provider?.apis?.includes("responses") !== true) return "Responses API";
  const name = refusedBy(responsesRules, body) ?? findAudio(body);
  return name === undefined ? undefined : `${name} in the Responses API`;
}

function findAudio({ modalities, messages }: ChatCompletionRequest): string | undefined {
  if (Array.isArray(modalities) && modalities.includes("audio")) return "audio";
  const hasSound = messages.some(({ content }) =>
    Array.isArray(content) && content.some((part) => part?.type === "input_audio")
  );
  return hasSound ? "audio_input" : undefined;
}

/** Returns the rules for a request through an API: those of the model and of the API. */
export function withApiRules(
  rules: ParameterRules | undefined,
  { store }: ChatCompletionRequest,
): ParameterRules {
  const { drop = [], refuse = [] } = rules ?? {};
  const unsupported = store === true ? [...responsesRules.drop, "store"] : responsesRules.drop;
  return { ...rules, drop: [...drop, ...unsupported], refuse: [...refuse, ...responsesRules.refuse, "modalities"] };
}
