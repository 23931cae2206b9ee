/**
 * Hosts of open models with an OpenAI-compatible API, in one module, since each module adds to the duration of every start.
 * @module
 */
import type { ProviderSettings } from "../../src/contracts/connector.ts";
import { ConfigError } from "../../src/errors.ts";
import { findOwn } from "../../src/util/entries.ts";
import { effortsFor, knownModels } from "./_catalogue.ts";
import { dialectAttributes, onlyFirst, type OpenAiCompatible } from "./_openai_vendor.ts";
import { readOpenAiError } from "./_openai_error.ts";
import {
  imagesLazily,
  openAiAudioTranslation,
  openAiEmbeddings,
  openAiSpeech,
  openAiTranscription,
  plainRerank,
} from "./_openai_operations.ts";
import {
  cerebras as cerebrasEntries,
  fireworks as fireworksEntries,
  huggingface as huggingfaceEntries,
  nvidia as nvidiaEntries,
  sambanova as sambanovaEntries,
  together as togetherEntries,
} from "./catalogue/model_hosts.ts";
import { cloudflare as cloudflareEntries } from "./catalogue/clouds.ts";

/**
 * Together AI.
 *
 * Source: docs.together.ai.
 */
export const together: OpenAiCompatible = {
  id: "together.api.v1",
  vendor: "together",
  baseUrl: "https://api.together.xyz/v1",
  detection: {
    keys: ["TOGETHER_API_KEY", "TOGETHER_AI_API_KEY", "TOGETHERAI_API_KEY"],
    baseUrl: ["TOGETHER_BASE_URL"],
  },
  parameters: {
    thoughts: "none",
    rename: { max_completion_tokens: "max_tokens" },
    efforts: effortsFor(["low", "medium", "high"]),
  },
  models: () => knownModels(togetherEntries),
  operations: {
    embeddings: openAiEmbeddings,
    image: imagesLazily("together"),
    rerank: plainRerank,
    speech: openAiSpeech,
    transcription: openAiTranscription,
    "audio-translation": openAiAudioTranslation,
  },
};

/**
 * SambaNova.
 *
 * Source: docs.sambanova.ai, LiteLLM's list of supported parameters.
 */
export const sambanova: OpenAiCompatible = {
  id: "sambanova.api.v1",
  vendor: "sambanova",
  baseUrl: "https://api.sambanova.ai/v1",
  detection: { keys: ["SAMBANOVA_API_KEY"], baseUrl: ["SAMBANOVA_BASE_URL"] },
  parameters: {
    thoughts: "none",
    rename: { max_completion_tokens: "max_tokens" },
    refuse: ["n", "logprobs", "top_logprobs"],
    efforts: effortsFor(["low", "medium", "high"]),
  },
  models: () => knownModels(sambanovaEntries),
};

/**
 * NVIDIA NIM's hosted models: free, with rate limits.
 *
 * Source: docs.api.nvidia.com/nim, LiteLLM's list of supported parameters.
 */
export const nvidia: OpenAiCompatible = {
  id: "nvidia.nim.v1",
  vendor: "nvidia",
  baseUrl: "https://integrate.api.nvidia.com/v1",
  detection: { keys: ["NVIDIA_API_KEY", "NVIDIA_NIM_API_KEY"], baseUrl: ["NVIDIA_BASE_URL"] },
  parameters: { rename: { max_completion_tokens: "max_tokens" } },
  models: () => knownModels(nvidiaEntries),
  operations: { embeddings: openAiEmbeddings },
};

/**
 * Hugging Face's router to inference providers.
 *
 * Source: huggingface.co/docs/inference-providers.
 */
export const huggingface: OpenAiCompatible = {
  id: "huggingface.inference.v1",
  vendor: "huggingface",
  otherNames: ["hf"],
  baseUrl: "https://router.huggingface.co/v1",
  detection: {
    keys: ["HF_TOKEN", "HUGGINGFACE_API_KEY", "HUGGING_FACE_HUB_TOKEN"],
    baseUrl: ["HUGGINGFACE_BASE_URL"],
  },
  parameters: { thoughts: "none", rename: { max_completion_tokens: "max_tokens" } },
  models: () => knownModels(huggingfaceEntries),
};

/**
 * Cerebras.
 *
 * Source: inference-docs.cerebras.ai, ReqLLM's Cerebras guide (fields that cause a 400). It accepts reasoning as
 * `reasoning`, and rejects `reasoning_content` (qwen-code#11045).
 */
export const cerebras: OpenAiCompatible = {
  id: "cerebras.api.v1",
  vendor: "cerebras",
  baseUrl: "https://api.cerebras.ai/v1",
  detection: { keys: ["CEREBRAS_API_KEY"], baseUrl: ["CEREBRAS_BASE_URL"] },
  dialects: { completions: true },
  parameters: {
    thoughts: "reasoning",
    drop: ["presence_penalty", "frequency_penalty", "logit_bias", "top_k"],
    max_stop_sequences: 4,
    efforts: effortsFor(["none", "low", "medium", "high"]),
  },
  models: () => knownModels(cerebrasEntries),
};

/** Its error codes whose meaning the status does not convey. */
const codes: Readonly<Record<string, string>> = {
  3036: "insufficient_quota",
  3042: "model_not_found",
  5007: "model_not_found",
  6003: "invalid_api_key",
};

/** Page size of the model list, which is not part of the OpenAI-compatible API. */
const pageSize = 100;
const modelsPath = `../models/search?per_page=${pageSize}`;

/**
 * Cloudflare Workers AI. The setting `account_id` is part of the URL.
 *
 * Sources: developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility and /workers-ai/platform/errors.
 */
export const cloudflare: OpenAiCompatible = {
  id: "cloudflare.workers-ai.v1",
  vendor: "cloudflare",
  baseUrl: findAccountAddress,
  detection: {
    keys: ["CLOUDFLARE_API_TOKEN", "CLOUDFLARE_API_KEY"],
    baseUrl: ["CLOUDFLARE_BASE_URL"],
    requires: { account_id: ["CLOUDFLARE_ACCOUNT_ID"] },
  },
  parameters: { thoughts: "none", rename: { max_completion_tokens: "max_tokens" } },
  models: () => knownModels(cloudflareEntries),
  list: {
    path: modelsPath,
    members: ["result", "name"],
    next: ({ result }, number) =>
      (result as readonly unknown[]).length < pageSize ? undefined : `${modelsPath}&page=${number + 1}`,
  },
  readError(body, status) {
    const { errors } = Object(body);
    const { code, message } = Object(Array.isArray(errors) ? errors[0] : undefined);
    if (typeof message !== "string") return readOpenAiError(body, status);
    const error = readOpenAiError({ message }, status);
    return { ...error, code: findOwn(codes, code) ?? error.code };
  },
  attributes: {
    account_id: {
      type: "text",
      about: "Account id. Defaults to `CLOUDFLARE_ACCOUNT_ID`.",
    },
  },
  operations: {
    embeddings: openAiEmbeddings,
    image: imagesLazily("cloudflare"),
  },
};

function findAccountAddress(settings: ProviderSettings, env?: (name: string) => string | undefined): string {
  const { account_id = (settings.config as Record<string, unknown> | undefined)?.account_id } = settings;
  const accountId = account_id ?? env?.("CLOUDFLARE_ACCOUNT_ID")?.trim();
  if (typeof accountId !== "string" || accountId === "") {
    throw new ConfigError([{
      path: `providers.${settings.id}.config.account_id`,
      message: "The account's id is missing: set it, or the variable CLOUDFLARE_ACCOUNT_ID, or a base_url",
    }]);
  }
  return `https://api.cloudflare.com/client/v4/accounts/${encodeURIComponent(accountId)}/ai/v1`;
}

/**
 * Fireworks AI.
 *
 * Source: docs.fireworks.ai. Efforts of GLM 5: docs.fireworks.ai/guides/reasoning, as implemented by
 * langchain-ai/deepagents.
 */
export const fireworks: OpenAiCompatible = {
  id: "fireworks.api.v1",
  vendor: "fireworks",
  promptCache: { keyApis: ["chat"] }, // docs.fireworks.ai/guides/prompt-caching
  baseUrl: "https://api.fireworks.ai/inference/v1",
  detection: { keys: ["FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"], baseUrl: ["FIREWORKS_BASE_URL"] },
  dialects: { completions: true },
  attributes: dialectAttributes({ completions: true }),
  parameters: { ...onlyFirst, rename: { max_completion_tokens: "max_tokens" } }, // litellm#39852
  models: () => knownModels(fireworksEntries),
  operations: {
    embeddings: openAiEmbeddings,
    image: imagesLazily("fireworks"),
    transcription: openAiTranscription,
    "audio-translation": openAiAudioTranslation,
  },
};
