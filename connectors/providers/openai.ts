/**
 * OpenAI.
 *
 * Sources: sampling parameters that reasoning models reject: models.dev and the `ai` package's table of model
 * capabilities; efforts: models.dev, LiteLLM and developers.openai.com; `stop`: smolagents#1662; tools with reasoning:
 * litellm#34569 and livekit/agents#7169.
 * @module
 */
import type { ParameterRules } from "../../src/contracts/provider.ts";
import { knownModels } from "./_catalogue.ts";
import { effortsFor } from "./_efforts.ts";
import {
  openAiAudioTranslation,
  openAiEmbeddings,
  openAiImageEdits,
  openAiImages,
  openAiModeration,
  openAiSpeech,
  openAiTranscription,
} from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/openai.ts";
import { entries as others } from "./catalogue/openai_media.ts";

/** Parameter rules of reasoning models that support these efforts, ascending. */
function reasoning(...efforts: readonly string[]): ParameterRules {
  return {
    rename: { max_tokens: "max_completion_tokens" },
    drop: ["temperature", "top_p", "presence_penalty", "frequency_penalty", "logit_bias"],
    efforts: effortsFor(efforts),
  };
}

/** Parameter rules by the names that catalogue entries use. */
const rules = (): Readonly<Record<string, ParameterRules>> => {
  const refuse = ["stop", "logprobs", "top_logprobs"];
  const current = reasoning("none", "low", "medium", "high", "xhigh");
  return {
    first: { ...reasoning("low", "medium", "high"), refuse },
    early: { ...reasoning("minimal", "low", "medium", "high"), refuse },
    reasoning: current,
    latest: reasoning("none", "low", "medium", "high", "xhigh", "max"),
    // in chat these support tools only with this effort, which is not their default; the caller's effort takes
    // precedence. Only later models support speech as events (OpenAI's API reference, `stream_format`)
    plain_speech: { refuse: ["stream_format"], drop: ["instructions"] },
    tools: { ...current, fill_with_tools: { reasoning_effort: "none" } },
  };
};

/** OpenAI. */
export const openai: OpenAiCompatible = {
  id: "openai.llm.v1",
  vendor: "openai",
  baseUrl: "https://api.openai.com/v1",
  detection: { keys: ["OPENAI_API_KEY"], baseUrl: ["OPENAI_BASE_URL"] },
  parameters: { thoughts: "none" },
  models: () => knownModels([...entries, ...others], { rulesOf: ({ rules: name = "" }) => rules()[name] }),
  dialects: { responses: true, completions: false }, // completions: only its instruct models
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
