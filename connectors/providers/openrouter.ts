/**
 * OpenRouter, a gateway to many vendors.
 *
 * Source: openrouter.ai/docs.
 * @module
 */
import type { JsonObject, OpenAiError } from "../../src/contracts/openai.ts";
import type { ModelInfo, Quota } from "../../src/contracts/provider.ts";
import type { BilledUsage } from "../../src/contracts/usage.ts";
import { isContentFilter } from "../../src/errors.ts";
import { isObject } from "../../src/util/is_object.ts";
import { pickDefined } from "../../src/util/entries.ts";
import { effortsFor, knownModels } from "./_catalogue.ts";
import { readOpenAiError } from "./_openai_error.ts";
import { openAiEmbeddings } from "./_openai_operations.ts";
import { type OpenAiCompatible, openAiTools } from "./_openai_vendor.ts";
import { openrouter as entries } from "./catalogue/page_vendors.ts";

/** OpenRouter. */
export const openrouter: OpenAiCompatible = {
  id: "openrouter.gateway.v1",
  vendor: "openrouter",
  baseUrl: "https://openrouter.ai/api/v1",
  detection: { keys: ["OPENROUTER_API_KEY"], baseUrl: ["OPENROUTER_BASE_URL"] },
  parameters: {
    cache_control: true,
    developer_role: true,
    ...openAiTools,
    efforts: effortsFor(["none", "minimal", "low", "medium", "high", "xhigh"]),
  },
  models: () => knownModels(entries),
  promptCache: { marks: true }, // openrouter.ai/docs/features/prompt-caching
  dialects: { responses: false, completions: false },
  ownState: ["reasoning_details", "images", "annotations"],
  operations: { embeddings: openAiEmbeddings },
  describe: toListedInfo,
  assumedPrices: { input: 5, output: 25 }, // the dearest models that are used widely
  readBilled: readCost,
  readError: readRelayedError,
  quota: { path: "key", read: readKeyQuota },
};

/** The error of the vendor that was called stands in the metadata, often as JSON text. */
function readRelayedError(body: unknown, status: number): OpenAiError {
  const error = readOpenAiError(body, status);
  const { raw, reasons } = objectOrNone(objectOrNone(objectOrNone(body).error).metadata);
  if (Array.isArray(reasons)) return { ...error, code: "content_filter" }; // of a moderation before the model
  if (raw === undefined) return error;
  const relayed = readOpenAiError(raw, status);
  const isCodeKept = relayed.code === "context_length_exceeded" || isContentFilter(relayed);
  return {
    ...error,
    message: `${error.message}: ${relayed.message}`,
    ...(isCodeKept ? { code: relayed.code ?? "content_filter" } : {}),
  };
}

/** `cost` is what the account is charged; with a key of the account's own at the upstream vendor, that vendor's besides. */
function readCost({ usage }: JsonObject): BilledUsage {
  const { cost, is_byok, cost_details } = objectOrNone(usage);
  const { upstream_inference_cost: upstream } = objectOrNone(cost_details);
  const charged = numberIn(cost);
  if (charged === undefined) return {};
  return { cost: charged + (is_byok === true ? numberIn(upstream) ?? 0 : 0) };
}

/** Prices are USD per token, as strings; a negative price means that it depends on the selected model. */
function toListedInfo(entry: JsonObject, existing: ModelInfo | undefined): Omit<ModelInfo, "id"> {
  const { context_length, top_provider, pricing, architecture, supported_parameters } = entry;
  const parameters = readStrings(supported_parameters);
  const inputs = readStrings(objectOrNone(architecture).input_modalities);
  const outputs = readStrings(objectOrNone(architecture).output_modalities);
  const prices = objectOrNone(pricing);
  const input = perMillion(prices.prompt);
  const output = perMillion(prices.completion);
  return {
    constraints: pickDefined({
      context_window: numberIn(context_length),
      max_output_tokens: numberIn(objectOrNone(top_provider).max_completion_tokens),
    }),
    ...(parameters.length === 0 ? {} : {
      features: {
        tool_calling: parameters.includes("tools"),
        structured_output: parameters.includes("structured_outputs"),
        json_mode: parameters.includes("response_format"),
        reasoning: parameters.includes("reasoning"),
        logprobs: parameters.includes("logprobs"),
        vision: inputs.includes("image"),
        audio_input: inputs.includes("audio"),
      },
    }),
    ...pickDefined({ capabilities: capabilitiesIn({ parameters, inputs, outputs }, existing) }),
    ...(input === undefined || output === undefined ? {} : {
      pricing: [pickDefined({
        input,
        output,
        cached_input: perMillion(prices.input_cache_read),
        cache_write: perMillion(prices.input_cache_write),
      })],
    }),
  };
}

/** The leaves that a chat model has beside chat are those of its parameters and input; without any, the catalogue's. */
function capabilitiesIn(
  { parameters, inputs, outputs }: Readonly<Record<"parameters" | "inputs" | "outputs", readonly string[]>>,
  existing: ModelInfo | undefined,
): readonly string[] | undefined {
  if (outputs.includes("embeddings")) return ["text-embeddings"];
  if (!outputs.includes("text")) return undefined;
  const chat = ["chat-completion", "code-generation"];
  if (parameters.length === 0) return existing?.capabilities ?? chat;
  return [
    ...chat,
    ...(parameters.includes("tools") ? ["tool-calling"] : []),
    ...(parameters.includes("structured_outputs") ? ["json-generation"] : []),
    ...(inputs.includes("image") ? ["image-captioning"] : []),
  ];
}

function perMillion(price: unknown): number | undefined {
  const perToken = typeof price === "string" && price.trim() !== "" ? Number(price) : NaN;
  return perToken >= 0 && perToken < Infinity ? Number((perToken * 1_000_000).toPrecision(12)) : undefined;
}

/** The API key's own limit, in USD; a key without a limit reports none. */
function readKeyQuota({ data }: JsonObject): Quota {
  const { limit, limit_remaining, usage } = objectOrNone(data);
  const most = numberIn(limit);
  const spent = numberIn(usage);
  return pickDefined({
    used: most !== undefined && most > 0 && spent !== undefined ? Math.min(1, spent / most) : undefined,
    remaining: numberIn(limit_remaining),
  });
}

function objectOrNone(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function numberIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function readStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
