/**
 * Makers and hosts of open models, and Vercel's gateway to all of them: OpenAI-compatible vendors in one module, since
 * each module adds to the duration of every start.
 *
 * Sources: platform.kimi.ai, docs.z.ai, platform.minimax.io, deepinfra.com, tokenfactory.nebius.com, quoted by public
 * clients (juspay/neurolink, agentscope); alibabacloud.com/help/en/model-studio; vercel.com/docs/ai-gateway. Errors of
 * accounts without a balance: continue#11443 and Kimi-K2#5 (Moonshot), modelscope#1691 (MiniMax), docs.z.ai.
 * @module
 */
import type { OpenAiError } from "../../src/contracts/openai.ts";
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { BilledUsage } from "../../src/contracts/usage.ts";
import type { ParameterRules } from "../../src/contracts/provider.ts";
import { knownModels } from "./_catalogue.ts";
import { readTokens } from "./_count.ts";
import { readOpenAiError } from "./_openai_error.ts";
import { openAiEmbeddings } from "./_openai_operations.ts";
import { type OpenAiCompatible, openAiTools } from "./_openai_vendor.ts";
import * as hosts from "./catalogue/hosts.ts";
import * as makers from "./catalogue/makers.ts";

const maxTokens = { max_completion_tokens: "max_tokens" };

/** Moonshot's models accept only their own sampling parameters. */
const fixedSampling: ParameterRules = {
  drop: ["temperature", "top_p", "presence_penalty", "frequency_penalty", "top_k"],
  refuse: ["n"],
};

/** Models that always reason, to the same degree. */
const ungraded: ParameterRules = { drop: ["reasoning_effort"] };

/** Moonshot (Kimi). Reasoning must be sent back with the conversation. */
const moonshot: OpenAiCompatible = {
  id: "moonshot.kimi.v1",
  vendor: "moonshot",
  otherNames: ["kimi"],
  baseUrl: "https://api.moonshot.ai/v1",
  detection: { keys: ["MOONSHOT_API_KEY"], baseUrl: ["MOONSHOT_BASE_URL"] },
  parameters: { ...fixedSampling, max_stop_sequences: 5 },
  models: () =>
    knownModels(makers.moonshot, {
      findRules: ({ rules, efforts }) =>
        rules === "optional" ? { efforts: switchedEfforts("enabled") } : efforts === undefined ? ungraded : undefined,
    }),
  readBilled: readChoiceUsage,
  readError: readBalanceError,
};

/** The last chunk of a stream has its usage in the choice. */
function readChoiceUsage({ usage, choices }: JsonObject): BilledUsage {
  const [choice] = Array.isArray(choices) ? choices : [];
  return usage ? {} : readTokens(Object(choice).usage);
}

/** Z.ai (GLM). It supports JSON mode but no JSON schema, one stop sequence, and no penalties. */
const zai: OpenAiCompatible = {
  id: "zai.glm.v1",
  vendor: "zai",
  otherNames: ["glm"],
  baseUrl: "https://api.z.ai/api/paas/v4",
  detection: { keys: ["ZAI_API_KEY", "ZHIPU_API_KEY", "ZHIPUAI_API_KEY"], baseUrl: ["ZAI_BASE_URL"] },
  parameters: {
    cache_control: true,
    rename: maxTokens,
    drop: ["presence_penalty", "frequency_penalty", "logit_bias", "seed", "top_k"],
    refuse: ["n", "logprobs", "top_logprobs"],
    max_stop_sequences: 1,
  },
  models: () =>
    knownModels(makers.zai, {
      findRules: ({ rules }) => rules === "optional" ? { efforts: switchedEfforts("enabled") } : undefined,
    }),
  readError(body, status) {
    const error = readBalanceError(body, status);
    if (error.code === "1301") return { ...error, code: "content_filter" };
    return error.code === "1211" ? { ...error, code: "model_not_found" } : error;
  },
};

/** Alibaba's Model Studio (DashScope), where Qwen is from. Reasoning is switched, not graded. */
const qwen: OpenAiCompatible = {
  id: "qwen.dashscope.v1",
  vendor: "qwen",
  baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
  detection: { keys: ["DASHSCOPE_API_KEY", "ALIBABA_API_KEY"], baseUrl: ["DASHSCOPE_BASE_URL"] },
  parameters: { cache_control: true, rename: maxTokens, drop: ["logit_bias"] },
  models: () =>
    knownModels(makers.qwen, {
      findRules: ({ rules }) => rules === "optional" ? { efforts: effortsAs(qwenThinking) } : undefined,
    }),
  readError: readBalanceError,
  operations: { embeddings: openAiEmbeddings },
};

/** MiniMax. Without `reasoning_split`, reasoning is part of the text, in `<think>` tags. */
const minimax: OpenAiCompatible = {
  id: "minimax.api.v1",
  vendor: "minimax",
  baseUrl: "https://api.minimax.io/v1",
  detection: { keys: ["MINIMAX_API_KEY"], baseUrl: ["MINIMAX_BASE_URL"] },
  parameters: {
    cache_control: true,
    fill: { reasoning_split: true },
    rename: { max_tokens: "max_completion_tokens" },
    drop: ["presence_penalty", "frequency_penalty", "logit_bias", "seed", "top_k"],
    refuse: ["n", "logprobs", "top_logprobs"],
  },
  ownState: ["reasoning_details"],
  models: () =>
    knownModels(makers.minimax, {
      findRules: ({ rules }) => rules === "optional" ? { efforts: switchedEfforts("adaptive") } : ungraded,
    }),
  readError: readBalanceError,
};

/** DeepInfra. */
const deepinfra: OpenAiCompatible = {
  id: "deepinfra.api.v1",
  vendor: "deepinfra",
  baseUrl: "https://api.deepinfra.com/v1/openai",
  detection: { keys: ["DEEPINFRA_API_KEY", "DEEPINFRA_TOKEN"], baseUrl: ["DEEPINFRA_BASE_URL"] },
  parameters: { rename: maxTokens },
  models: () => knownModels(hosts.deepinfra),
  readBilled: readEstimatedCost,
  operations: { embeddings: openAiEmbeddings },
};

/** USD, of the tokens and their cache. */
function readEstimatedCost({ usage }: JsonObject): BilledUsage {
  const { estimated_cost: cost } = Object(usage);
  return typeof cost === "number" ? { cost } : {};
}

/** Novita. */
const novita: OpenAiCompatible = {
  id: "novita.api.v1",
  vendor: "novita",
  baseUrl: "https://api.novita.ai/openai/v1",
  detection: { keys: ["NOVITA_API_KEY"], baseUrl: ["NOVITA_BASE_URL"] },
  models: () => knownModels(hosts.novita),
  operations: { embeddings: openAiEmbeddings },
};

/** Nebius Token Factory. */
const nebius: OpenAiCompatible = {
  id: "nebius.api.v1",
  vendor: "nebius",
  baseUrl: "https://api.tokenfactory.nebius.com/v1",
  detection: { keys: ["NEBIUS_API_KEY"], baseUrl: ["NEBIUS_BASE_URL"] },
  parameters: { rename: maxTokens },
  models: () => knownModels(hosts.nebius),
  operations: { embeddings: openAiEmbeddings },
};

/** Baseten's Model APIs. */
const baseten: OpenAiCompatible = {
  id: "baseten.api.v1",
  vendor: "baseten",
  baseUrl: "https://inference.baseten.co/v1",
  detection: { keys: ["BASETEN_API_KEY"], baseUrl: ["BASETEN_BASE_URL"] },
  parameters: { rename: maxTokens },
  models: () => knownModels(hosts.baseten),
};

/** Vercel AI Gateway. */
const vercel: OpenAiCompatible = {
  id: "vercel.gateway.v1",
  vendor: "vercel",
  baseUrl: "https://ai-gateway.vercel.sh/v1",
  detection: { keys: ["AI_GATEWAY_API_KEY", "VERCEL_AI_GATEWAY_API_KEY"], baseUrl: ["AI_GATEWAY_BASE_URL"] },
  parameters: { cache_control: true, ...openAiTools },
  promptCache: { marks: true }, // vercel.com/docs/ai-gateway/models-and-providers/automatic-caching
  models: () => knownModels(hosts.vercel),
  operations: { embeddings: openAiEmbeddings },
};

/** All of them, in order of detection. */
export const openModelVendors: readonly OpenAiCompatible[] = [
  moonshot,
  zai,
  qwen,
  minimax,
  deepinfra,
  novita,
  nebius,
  baseten,
  vercel,
];

/** Efforts of models whose reasoning is switched by `thinking`. */
function switchedEfforts(on: "enabled" | "adaptive"): NonNullable<ParameterRules["efforts"]> {
  return effortsAs((isOn) => ({ thinking: { type: isOn ? on : "disabled" } }));
}

function qwenThinking(isOn: boolean): Readonly<Record<string, unknown>> {
  return { enable_thinking: isOn };
}

/** Only `none` and `minimal` disable reasoning. */
function effortsAs(
  write: (isOn: boolean) => Readonly<Record<string, unknown>>,
): NonNullable<ParameterRules["efforts"]> {
  const [off, on] = [write(false), write(true)];
  return { none: off, minimal: off, low: on, medium: on, high: on, xhigh: on, max: on };
}

/** These vendors report an account without a balance as a rate limit, or as a refusal. */
function readBalanceError(body: unknown, status: number): OpenAiError {
  const error = readOpenAiError(body, status);
  const text = `${error.code ?? ""} ${error.type} ${error.message.slice(0, 500)}`;
  const isSpent = /insufficient.?balance|exceeded_current_quota|arrearage/i.test(text) || error.code === "1113";
  return isSpent ? { ...error, code: "insufficient_quota" } : error;
}
