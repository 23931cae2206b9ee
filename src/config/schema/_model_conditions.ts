/**
 * Conditions of `models.<name>`.
 * @module
 */
import type { OperationName } from "../../contracts/provider.ts";
import type { Condition, ModelSubject } from "./condition.ts";
import { offers } from "./_provider_conditions.ts";

const audio = ["transcription", "audio-translation"] as const;
const images = ["image", "image-edit"] as const;

/** The operations that read each setting. */
const readers: readonly (readonly [keys: readonly string[], operations: readonly OperationName[]])[] = [
  [["voices"], ["speech"]],
  [["response_formats"], ["speech", ...audio, ...images]],
  [["embedding_space"], ["embeddings"]],
  [
    ["tool_calling", "structured_output", "json_mode", "system_prompt", "grounding", "logprobs", "audio_input"]
      .map((name) => `features.${name}`),
    ["chat"],
  ],
  [["features.reasoning"], ["chat"]],
  [["features.vision"], ["chat", "moderation"]],
  [["constraints.context_window"], ["chat", "embeddings", "rerank", "moderation"]],
  [["constraints.max_output_tokens"], ["chat"]],
  [["constraints.max_images"], ["chat", "moderation", ...images]],
  [["constraints.max_file_size"], ["chat", "documents", ...audio, ...images]],
  [["constraints.supported_languages"], ["chat", ...audio]],
  [["pricing.cached_input", "pricing.cache_write"], ["chat"]],
  [["pricing.audio_input"], ["chat", ...audio]],
  [["pricing.audio_output"], ["chat", "speech"]],
  [["pricing.per_image"], images],
  [["pricing.per_search"], ["search", "rerank"]],
  [["pricing.per_minute"], audio],
  [["pricing.per_million_characters"], ["speech"]],
  [
    [
      ...["rename", "fill", "fill_with_tools", "efforts", "thoughts", "cache_control"],
      ...["refuse_with_tools", "max_stop_sequences", "blank_stop_sequences", "developer_role", "system"],
      ...["user_after_tool", "tool_call_ids", "repeated_call_ids", "tool_names", "invalid_arguments"],
      ...["combined_parameters", "incomplete_schemas"],
    ].map((name) => `parameters.${name}`),
    ["chat"],
  ],
];

/** Conditions of `models.<name>`. */
export const modelConditions = (): readonly Condition<ModelSubject>[] => [
  ...readers.map(([keys, operations]): Condition<ModelSubject> => ({
    keys,
    reason: ({ serves }) => serves(...operations) ? undefined : `: the model serves no ${operations.join(", ")}`,
  })),
  {
    keys: ["weight"],
    reason: ({ mayUse }) =>
      mayUse("round-robin", "load-balanced")
        ? undefined
        : ': only the strategies "round-robin" and "load-balanced" use it, and no pool of the model has one',
  },
  {
    keys: ["features.fine_tunable"],
    idle: [false],
    reason: ({ provider }) => offers("fineTuning", provider) ? undefined : ": the provider has no fine-tuning",
  },
  {
    keys: ["delivery.streaming"],
    idle: [false],
    reason: ({ modes }) => modes?.has("stream") === false ? ": no capability of the model is streamed" : undefined,
  },
  ...batches(),
];

const batches = (): readonly Condition<ModelSubject>[] => [
  { keys: ["delivery.batch"], idle: [false], reason: (subject) => lacksBatches(subject) },
  {
    keys: ["max_items", "max_payload", "completion_window", "cost_discount"].map((name) => `batch.${name}`),
    reason: (subject) => lacksBatches(subject) ?? whereOff(subject),
  },
  {
    keys: ["callback", "polling", "partial_results"].map((name) => `batch.${name}`),
    idle: [false],
    reason: (subject) => lacksBatches(subject) ?? whereOff(subject),
  },
  {
    keys: ["batch.callback"],
    idle: [false],
    reason: (subject) =>
      subject.value.batch?.polling === false && (lacksBatches(subject) ?? whereOff(subject)) === undefined
        ? ' until a client retrieves the batch: "polling" is false'
        : undefined,
  },
];

function whereOff({ value }: ModelSubject): string | undefined {
  return value.delivery?.batch === false ? ': "delivery.batch" is false' : undefined;
}

function lacksBatches({ provider, modes }: ModelSubject): string | undefined {
  if (!offers("batch", provider)) return ": the provider has no batches";
  return modes?.has("batch") === false ? ": no capability of the model has batches" : undefined;
}
