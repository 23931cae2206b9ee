/**
 * Conditions of `providers.<id>` and `models.<name>`.
 * @module
 */
import { isLimitList } from "./budget.ts";
import type { InfrastructureFacts } from "../../contracts/infrastructure.ts";
import type { Condition, ModelSubject, ProviderSubject } from "./condition.ts";
import { everyPool } from "./pools.ts";
import { findShorterDeadline, hasRetries } from "./_pool_conditions.ts";
import { formatDuration } from "./units.ts";
import type { OperationName } from "../../contracts/provider.ts";

/** Conditions of `providers.<id>`. */
export const providerConditions = (): readonly Condition<ProviderSubject>[] => [
  {
    keys: ["connector", "base_url", "execution.base_url", "execution.ca", "config"],
    reason: ({ value: { instance } }) => instance === undefined ? undefined : ' beside "instance"',
  },
  {
    keys: ["auth.key_rotation"],
    idle: [false],
    reason: ({ value: { api_key, auth } }) => {
      const { length } = api_key ?? auth?.api_key ?? [];
      return length > 1 ? undefined : ` with ${length === 0 ? "no key" : "one key"}: set a list of keys`;
    },
  },
  {
    keys: ["execution.user_agent"],
    idle: ["modelmesh"],
    reason: ({ value: { headers = {} } }) =>
      Object.keys(headers).some((name) => name.toLowerCase() === "user-agent") ? ': "headers" sets it' : undefined,
  },
  {
    keys: ["execution.min_rate"],
    reason: ({ mayServe }) => mayServe("chat") ? undefined : ": no model of the provider streams text",
  },
  {
    keys: ["execution.first_token_timeout"],
    reason: ({ value: { execution }, document, mayServe }) => {
      const { first_token_timeout: limitMs = 0, timeout: silenceMs = Infinity } = execution ?? {};
      if (!mayServe("chat", "speech")) return ": no model of the provider streams";
      if (document.pools?.get(everyPool)?.first_token_timeout !== undefined) {
        return ': "pools.*.first_token_timeout" takes precedence';
      }
      return silenceMs < limitMs
        ? `: "execution.timeout" limits the silence before to ${formatDuration(silenceMs)}`
        : findShorterDeadline(limitMs, document);
    },
  },
  ...services(),
  ...promptCache(),
  ...queries(),
  ...overridden(),
  {
    keys: ["retry.budget.ratio", "retry.budget.min", "retry.budget.window"],
    reason: ({ pools, document }) =>
      pools.some((first) => hasRetries(first, document)) ? undefined : ' without retries: "max_attempts" is 0',
  },
  {
    keys: ["catalogue.refresh_interval"],
    reason: ({ document }) =>
      document.discovery?.sync?.enabled === false ? ": discovery.sync is switched off" : undefined,
  },
  {
    keys: ["budget.daily_limit", "budget.monthly_limit"],
    reason: (subject) => findNoCost(subject),
  },
  {
    keys: ["budget"],
    reason: (subject) => isLimitList(subject.value.budget) ? findNoCost(subject) : undefined,
  },
];

/** Why calls to a provider cost nothing of a budget. */
function findNoCost({ isFree, value }: ProviderSubject): string | undefined {
  if (value.credentials === "header") return ": callers pay for their requests";
  return isFree ? ": the models of a local server are free of charge" : undefined;
}

/** What the settings of a service say about it, and the key of the facts of a connector. */
const abilities = { batch: "batches", files: "files", fineTuning: "fine-tuning" } as const;

const services = (): readonly Condition<ProviderSubject>[] => [
  ...([
    ["batch", ["batch.supported", "infrastructure.batch"]],
    ["files", ["files.upload", "infrastructure.files"]],
    ["fineTuning", ["fine_tuning.supported", "infrastructure.fine_tuning"]],
  ] as const).map(([ability, keys]): Condition<ProviderSubject> => ({
    keys,
    idle: [false],
    reason: ({ services, value: { credentials } }) =>
      services === undefined || credentials === "header"
        ? `: the connector does not support ${abilities[ability]} of this vendor`
        : undefined,
  })),
  {
    keys: ["batch.max_items"],
    reason: (subject) => offers("batch", subject) ? undefined : ": the provider has no batches",
  },
  {
    keys: ["files.max_size"],
    reason: (subject) => offers("files", subject) ? undefined : ": the provider has no files",
  },
];

const promptCache = (): readonly Condition<ProviderSubject>[] => [
  {
    keys: ["prompt_cache.auto"],
    idle: [false],
    reason: ({ promptCache }) =>
      promptCache === undefined ? ": the vendor takes neither cache marks nor a cache key" : undefined,
  },
  {
    keys: ["prompt_cache.ttl"],
    reason: ({ promptCache, value }) => {
      if (!value.prompt_cache?.auto) return ' without "auto: true"';
      return promptCache === null || promptCache?.marks ? undefined : ": the vendor takes no lifetime of its cache";
    },
  },
];

const queries = (): readonly Condition<ProviderSubject>[] =>
  ([
    ["discovery.model_details", "details", "details of its models"],
    ["discovery.capability_query", "capabilities", "the capabilities of its models"],
    ["pricing.query", "pricing", "its prices"],
    ["quota.query_current", "quota", "the account's quota"],
    ["quota.query_remaining", "quota", "the account's quota"],
  ] as const).map(([key, query, what]) => ({
    keys: [key],
    idle: [false],
    reason: ({ queries }) => queries?.includes(query) === false ? `: the vendor does not report ${what}` : undefined,
  }));

/** Whether a provider has a service according to its settings, else to its connector. */
function offers(ability: keyof InfrastructureFacts, { value, services }: ProviderSubject): boolean {
  if (services === undefined || services === null) return services === null;
  const { batch, files, fine_tuning, infrastructure } = value;
  const settings = {
    batch: batch?.supported ?? infrastructure?.batch,
    files: files?.upload ?? infrastructure?.files,
    fineTuning: fine_tuning?.supported ?? infrastructure?.fine_tuning,
  };
  return settings[ability] ?? services[ability] !== undefined;
}

/** Settings of a pool take precedence over those of a provider. */
const overridden = (): readonly Condition<ProviderSubject>[] => [
  {
    keys: ["error.retryable_codes", "error.non_retryable_codes"],
    reason: ({ document }, key) => {
      const name = key === "error.retryable_codes" ? "retryable_codes" : "non_retryable_codes";
      const common = document.pools?.get(everyPool)?.retry;
      return common?.[name] === undefined ? undefined : `: "pools.*.retry.${name}" takes precedence`;
    },
  },
  {
    keys: ["quota.reset_schedule"],
    reason: ({ pools }) => {
      const isUsed = pools.some((first) =>
        first(({ recovery }) => recovery?.on_quota_reset) !== false &&
        first(({ recovery }) => recovery?.quota_reset_schedule) === undefined
      );
      return isUsed ? undefined : ": the pools have schedules of their own, or recover without a reset";
    },
  },
];

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
  [
    [
      ...["rename", "fill", "apis", "tools_via", "default_effort", "efforts", "thoughts", "cache_control"],
      ...["refuse_with_tools", "max_stop_sequences", "blank_stop_sequences", "developer_role", "system"],
      ...["user_after_tool", "tool_call_ids", "repeated_call_ids", "tool_names", "invalid_arguments"],
      ...["combined_parameters", "incomplete_schemas"],
    ].map((name) => `parameters.${name}`),
    ["chat"],
  ],
];

/** The operations that are billed by each price. */
const billed: typeof readers = [
  [["cached_input", "cached_image_input", "image_input", "image_output"], ["chat", ...images]],
  [["cached_audio_input", "cache_write", "cache_write_1h", "cache_write_12h", "reasoning", "per_tool_call"], ["chat"]],
  [["audio_input"], ["chat", ...audio]],
  [["audio_output"], ["chat", "speech"]],
  [["per_image"], images],
  [["per_search"], ["chat", "search", "rerank"]],
  [["per_page"], ["documents"]],
  [["per_character", "per_million_characters"], ["speech"]],
];

/** Conditions of a row of `models.<name>.pricing`. */
export const pricingConditions = (): readonly Condition<ModelSubject>[] => [
  ...billed.map(readBy),
  {
    keys: ["per_minute"],
    reason: ({ serves, provider: { billsAudioByDuration } }) => {
      const isBilled = serves(...audio) || billsAudioByDuration && serves("chat");
      return isBilled ? undefined : `: the model serves no ${audio.join(", ")}`;
    },
  },
];

/** Conditions of `models.<name>`. */
export const modelConditions = (): readonly Condition<ModelSubject>[] => [
  ...readers.map(readBy),
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
    keys: ["api"],
    idle: ["auto", "chat"],
    reason: ({ serves, provider: { apis } }) => {
      if (!serves("chat")) return ": the model serves no chat";
      return apis?.includes("responses") === false ? ": the provider does not have the Responses API" : undefined;
    },
  },
  {
    keys: ["delivery.streaming"],
    idle: [false],
    reason: ({ modes }) => modes?.has("stream") === false ? ": no capability of the model is streamed" : undefined,
  },
  ...batches(),
];

function readBy([keys, operations]: typeof readers[number]): Condition<ModelSubject> {
  return {
    keys,
    reason: ({ serves }) => serves(...operations) ? undefined : `: the model serves no ${operations.join(", ")}`,
  };
}

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
