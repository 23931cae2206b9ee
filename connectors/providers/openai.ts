/**
 * OpenAI, and the parameter rules of its chat models, by generation, for all clouds that serve them.
 *
 * Sources: sampling parameters that reasoning models reject: models.dev and the `ai` package's table of model
 * capabilities; efforts: models.dev, LiteLLM and developers.openai.com; `stop`: smolagents#1662; tools with reasoning:
 * litellm#34569 and livekit/agents#7169; four stop sequences: continue#2461, langchain#20234.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { ModelInfo, ParameterRules } from "../../src/contracts/provider.ts";
import type { BilledUsage } from "../../src/contracts/usage.ts";
import { effortsFor, knownModels } from "./_catalogue.ts";
import {
  openAiAudioTranslation,
  openAiEmbeddings,
  openAiImageEdits,
  openAiImages,
  openAiModeration,
  openAiSpeech,
  openAiTranscription,
} from "./_openai_operations.ts";
import { type OpenAiCompatible, openAiTools } from "./_openai_vendor.ts";
import { entries } from "./catalogue/openai.ts";
import { openai as others } from "./catalogue/speech_and_images.ts";

/** Rules of all models. The API rejects parameters that it does not know, such as `top_k`. */
export const familyRules: ParameterRules = {
  thoughts: "none",
  drop: ["top_k"],
  max_stop_sequences: 4,
  developer_role: true,
  invalid_arguments: true,
  ...openAiTools,
};

/** Parameter rules of reasoning models that support these efforts, ascending. */
function reasoning(...efforts: readonly string[]): ParameterRules {
  return {
    rename: { max_tokens: "max_completion_tokens" },
    drop: ["temperature", "top_p", "presence_penalty", "frequency_penalty", "logit_bias"],
    efforts: effortsFor(efforts),
  };
}

/** Rules of a generation, by the names that catalogue entries use. */
const generationRules = (): Readonly<Record<string, ParameterRules>> => {
  const refuse = ["stop", "logprobs", "top_logprobs"];
  return {
    first: { ...reasoning("low", "medium", "high"), refuse },
    early: { ...reasoning("minimal", "low", "medium", "high"), refuse },
    // these reason on request only
    reasoning: { ...reasoning("none", "low", "medium", "high", "xhigh"), default_effort: "none" },
    latest: reasoning("none", "low", "medium", "high", "xhigh", "max"),
  };
};

/** Models without chat completions. */
const responsesOnly = /codex|computer-use|(?:gpt-|o)\d[\w.-]{0,64}-(?:pro|deep-research)\b/;

/** Models that support tools together with reasoning in Responses alone. */
const toolsInResponses = /gpt-(5\.|[6-9]|\d\d)/;

/** The APIs of a model that the catalogue does not know. */
function findApis(id: string): Pick<ParameterRules, "apis" | "tools_via"> {
  if (responsesOnly.test(id)) return { apis: ["responses"] };
  return toolsInResponses.test(id) ? { apis: ["chat", "responses"], tools_via: "responses" } : {};
}

/** The first pattern that matches a model id applies; models before the reasoning models have no rules. */
const generations: readonly (readonly [RegExp, string | undefined])[] = [
  [/gpt-(3|4)|chatgpt-4|davinci|babbage|gpt-5-chat/, undefined],
  [/(^|[^a-z0-9])o\d/, "first"],
  [/gpt-5(?![.\d])/, "early"],
  [/gpt-5\.[0-5]/, "reasoning"],
];

/**
 * The rules of a model that the catalogue does not know: those of its generation, or of the newest one.
 *
 * @param model Its id, and whether it is configured as a model that cannot reason.
 */
export function findOpenAiRules({ id, features }: ModelInfo): ParameterRules | undefined {
  const model = id.toLowerCase();
  const apis = findApis(model);
  const generation = generations.find(([pattern]) => pattern.test(model));
  const name = features?.reasoning === false ? undefined : generation === undefined ? "latest" : generation[1];
  if (name === undefined) return apis.apis === undefined ? undefined : apis;
  return { ...generationRules()[name], ...apis };
}

// only later models support speech as events (OpenAI's API reference, `stream_format`)
const plainSpeech: ParameterRules = { refuse: ["stream_format"], drop: ["instructions"] };

/** Models that search once for every chat completion, for a fee (the pricing page, "Web search"). */
const searchModels = /-search-(api|preview)/;

function readSearches({ object, model }: JsonObject): BilledUsage | undefined {
  const isChat = typeof object === "string" && object.startsWith("chat.completion");
  return isChat && typeof model === "string" && searchModels.test(model) ? { searches: 1 } : undefined;
}

/** Regions with processing of their own have an address of their own (developers.openai.com, "Data residency"). */
const regionalAddress = /^https:\/\/([a-z]{2})\.api\.openai\.com(?:[:/]|$)/;

/** OpenAI. */
export const openai: OpenAiCompatible = {
  id: "openai.llm.v1",
  vendor: "openai",
  promptCache: { keyApis: ["chat", "responses"] }, // developers.openai.com/docs/guides/prompt-caching
  baseUrl: "https://api.openai.com/v1",
  findRegion: (baseUrl) => regionalAddress.exec(baseUrl)?.[1],
  detection: { keys: ["OPENAI_API_KEY"], baseUrl: ["OPENAI_BASE_URL"] },
  parameters: familyRules,
  ownState: ["annotations"],
  findRules: findOpenAiRules,
  models: () =>
    knownModels([...entries, ...others], {
      findRules: ({ rules: name = "" }) => name === "plain_speech" ? plainSpeech : generationRules()[name],
    }),
  readBilled: readSearches,
  dialects: { responses: true, completions: false }, // completions: only its instruct models
  countsTokens: true,
  // help.openai.com/en/articles/9197833-batch-api-faq; the API reference (sizes)
  infrastructure: {
    files: { maxBytes: 512 * 1024 * 1024 },
    batch: { maxItems: 50_000, maxBytes: 200 * 1024 * 1024, priceFactor: 0.5 },
    fineTuning: true,
  },
  operations: {
    embeddings: openAiEmbeddings,
    image: openAiImages,
    "image-edit": openAiImageEdits,
    moderation: openAiModeration,
    speech: openAiSpeech,
    transcription: openAiTranscription,
    "audio-translation": openAiAudioTranslation,
  },
};
