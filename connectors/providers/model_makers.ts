/**
 * Makers of models with an OpenAI-compatible API, in one module, since each module adds to the duration of every start.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { Quota } from "../../src/contracts/provider.ts";
import type { BilledUsage } from "../../src/contracts/usage.ts";
import { isObject } from "../../src/util/is_object.ts";
import { effortsFor, knownModels } from "./_catalogue.ts";
import { readOpenAiError } from "./_openai_error.ts";
import {
  documentsLazily,
  embeddingsLazily,
  imagesLazily,
  plainRerank,
  rerankLazily,
  searchLazily,
} from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import {
  cohere as cohereEntries,
  deepseek as deepseekEntries,
  perplexity as perplexityEntries,
  xai as xaiEntries,
} from "./catalogue/model_makers.ts";
import { jina as jinaEntries, voyage as voyageEntries } from "./catalogue/retrieval.ts";

/**
 * DeepSeek. It supports JSON mode but not JSON Schema, and no `n`.
 *
 * Source: api-docs.deepseek.com (response formats), llm-exe#662. Efforts: api-docs.deepseek.com/guides/thinking_mode,
 * quoted in SillyTavern#5526 and typewhisper-mac#1345.
 */
export const deepseek: OpenAiCompatible = {
  id: "deepseek.api.v1",
  vendor: "deepseek",
  baseUrl: "https://api.deepseek.com",
  detection: { keys: ["DEEPSEEK_API_KEY"], baseUrl: ["DEEPSEEK_BASE_URL"] },
  parameters: {
    rename: { max_completion_tokens: "max_tokens" },
    max_stop_sequences: 16,
    drop: ["top_k"],
    refuse: ["n"],
    efforts: { none: { thinking: { type: "disabled" } }, minimal: { reasoning_effort: "low" } },
  },
  models: () => knownModels(deepseekEntries),
  quota: { path: "user/balance", read: readBalance },
};

/** The balance in each currency of the account; `is_available` reports whether it suffices for a call. */
function readBalance({ is_available, balance_infos }: JsonObject): Quota {
  if (is_available === false) return { remaining: 0 };
  const balances = Array.isArray(balance_infos)
    ? balance_infos.map((balance) => isObject(balance) ? Number(balance.total_balance) : NaN)
    : [];
  const left = balances.filter((balance) => balance > 0);
  return left.length === 1 ? { remaining: left[0] } : {};
}

const xaiParameters = { drop: ["presence_penalty", "frequency_penalty"], refuse: ["stop"] };

/**
 * xAI. All of its models reason, and reject penalties and stop sequences.
 *
 * Source: docs.x.ai (reasoning guide, API reference).
 */
export const xai: OpenAiCompatible = {
  id: "xai.grok.v1",
  vendor: "xai",
  otherNames: ["grok"],
  telemetryName: "x_ai",
  promptCache: { keyApis: ["responses"] }, // docs.x.ai/developers/advanced-api-usage/prompt-caching
  baseUrl: "https://api.x.ai/v1",
  detection: { keys: ["XAI_API_KEY"], baseUrl: ["XAI_BASE_URL"] },
  parameters: { drop: ["top_k"] },
  findRules: () => ({ ...xaiParameters, efforts: effortsFor(["none", "low", "medium", "high"]) }),
  models: () => knownModels(xaiEntries, { findRules: () => xaiParameters }),
  // xAI reports an invalid API key as an invalid request, and an account without credits as a permission error
  readError(body, status) {
    const error = readOpenAiError(body, status);
    if (status === 400 && /incorrect api key/i.test(error.message)) return { ...error, code: "invalid_api_key" };
    const isSpent = status === 403 && /\bcredits?\b|spending limit/i.test(error.message);
    return isSpent ? { ...error, code: "insufficient_quota" } : error;
  },
  dialects: { responses: true },
  assumedPrices: { input: 4, output: 15 },
  readBilled: readXaiBilled,
  operations: {
    image: imagesLazily("xai"),
    "image-edit": imagesLazily("xaiEdits"),
  },
};

/** Fractions of a dollar in which xAI states the cost of a response. */
const ticksPerUsd = 10_000_000_000;

/** Source: docs.x.ai/developers/cost-tracking and /pricing (tools), read 2026-11-26. */
function readXaiBilled({ usage }: JsonObject): BilledUsage {
  const { cost_in_usd_ticks: ticks, server_side_tool_usage_details: tools } = Object(usage);
  const count = (...names: string[]) => names.reduce((sum, name) => sum + (Number(Object(tools)[name]) || 0), 0);
  const searches = count("web_search_calls", "x_search_calls");
  const toolCalls = count("code_interpreter_calls", "file_search_calls", "document_search_calls");
  return {
    ...(typeof ticks === "number" && { cost: ticks / ticksPerUsd }),
    ...(searches > 0 && { searches }),
    ...(toolCalls > 0 && { toolCalls }),
  };
}

/**
 * Perplexity, whose models search the web before they answer. Sources are extra members of the response; every chunk
 * of a stream reports usage by default. `POST /search` searches without a model.
 *
 * `GET /v1/models` lists agent models, not chat models. The list of the account's asynchronous requests serves to
 * validate the API key (as in google/osv-scalibr).
 *
 * Source: docs.perplexity.ai.
 */
export const perplexity: OpenAiCompatible = {
  id: "perplexity.search.v1",
  vendor: "perplexity",
  baseUrl: "https://api.perplexity.ai",
  detection: { keys: ["PERPLEXITY_API_KEY", "PPLX_API_KEY"], baseUrl: ["PERPLEXITY_BASE_URL"] },
  streamUsage: false,
  parameters: {
    thoughts: "none",
    rename: { max_completion_tokens: "max_tokens" },
    efforts: effortsFor(["minimal", "low", "medium", "high"]),
    refuse: ["n", "stop", "logprobs", "top_logprobs"],
  },
  models: () => knownModels(perplexityEntries),
  assumedPrices: { input: 3, output: 15, per_request: 0.022 },
  readBilled: readPerplexityBilled,
  list: { path: "async/chat/completions" },
  operations: {
    search: searchLazily({
      path: "search",
      maxResults: 20,
      write: ({ query, count }) => ({ query, ...(count === undefined ? {} : { max_results: count }) }),
      resultsIn: ({ results }) => results,
      names: { published: "date" },
    }),
  },
};

/** The total cost includes the fee of the request, which depends on the size of its search context. */
function readPerplexityBilled({ usage }: JsonObject): BilledUsage {
  const { cost, num_search_queries: searches } = Object(usage);
  const { total_cost: total } = Object(cost);
  return {
    ...(typeof total === "number" && { cost: total }),
    ...(typeof searches === "number" && { searches }),
  };
}

/** The model list with the maximum page size. */
const modelsPath = "v1/models?page_size=1000";

/**
 * Cohere: chat through its OpenAI-compatible API; embeddings, reranking and the model list through its native API,
 * since only that supports embedding dimensions.
 *
 * Sources: docs.cohere.com/docs/compatibility-api and cohere-developer-experience#606 (parameters);
 * cohere-openapi.yaml, `POST /v2/embed` and `POST /v2/rerank`; docs.cohere.com/reference/list-models.
 */
export const cohere: OpenAiCompatible = {
  id: "cohere.nlp.v1",
  vendor: "cohere",
  baseUrl: "https://api.cohere.ai/compatibility/v1",
  detection: { keys: ["COHERE_API_KEY", "CO_API_KEY"], baseUrl: ["COHERE_BASE_URL"] },
  parameters: {
    thoughts: "none",
    drop: ["top_k", "logit_bias", "parallel_tool_calls", "store", "metadata", "service_tier"],
    max_stop_sequences: 5,
    refuse: ["n", "top_logprobs"],
    efforts: effortsFor(["none", "high"]),
  },
  models: () => knownModels(cohereEntries),
  list: {
    path: `../../${modelsPath}`,
    members: ["models", "name"],
    next: ({ next_page_token: token }) =>
      typeof token === "string" && token !== ""
        ? `../../${modelsPath}&page_token=${encodeURIComponent(token)}`
        : undefined,
  },
  operations: {
    embeddings: embeddingsLazily({
      path: "../../v2/embed",
      purposeName: "input_type",
      purposes: {
        query: "search_query",
        document: "search_document",
        classification: "classification",
        clustering: "clustering",
      },
      own: ["truncate", "max_tokens", "priority"],
      // the models require an input type; this is the default of the compatible API
      write: ({ model, inputs, dimensions, purpose = "search_document" }) => ({
        model,
        texts: inputs,
        input_type: purpose,
        embedding_types: ["float"],
        ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
      }),
      vectorsIn: ({ embeddings }) => Object(embeddings).float,
      tokensIn: ({ meta }) => Object(Object(meta).billed_units).input_tokens,
    }),
    rerank: rerankLazily({ path: "../../v2/rerank" }),
  },
};

/**
 * Voyage AI: embeddings and reranking.
 *
 * Sources: docs.voyageai.com/reference/embeddings-api and /reranker-api (errors are `{detail}`). Its model list is
 * undocumented.
 */
export const voyage: OpenAiCompatible = {
  id: "voyage.embeddings.v1",
  vendor: "voyage",
  baseUrl: "https://api.voyageai.com/v1",
  detection: { keys: ["VOYAGE_API_KEY"], baseUrl: ["VOYAGE_BASE_URL"] },
  withoutChat: true,
  list: { path: "models" },
  models: () => knownModels(voyageEntries),
  operations: {
    embeddings: embeddingsLazily({
      path: "embeddings",
      purposeName: "input_type",
      purposes: { query: "query", document: "document" },
      own: ["truncation"],
      write: ({ model, inputs, dimensions, purpose }) => ({
        model,
        input: inputs,
        ...(purpose === undefined ? {} : { input_type: purpose }),
        ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
      }),
    }),
    rerank: rerankLazily({ path: "rerank", topName: "top_k", resultsName: "data" }),
  },
};

const jinaHeaders = { accept: "application/json" };

/**
 * Jina: embeddings, reranking, web search, and web pages as Markdown.
 *
 * Sources: jina.ai/embeddings and jina.ai/reader, by public clients of `POST /embeddings`, `POST /rerank`, s.jina.ai
 * and r.jina.ai; jina-ai/meta-prompt v9 (requests and responses of all of them), jina-ai/MCP (current models; errors
 * are `{detail}`, 402 means an exhausted balance). Its model list is known only from public reports.
 */
export const jina: OpenAiCompatible = {
  id: "jina.ai.v1",
  vendor: "jina",
  baseUrl: "https://api.jina.ai/v1",
  detection: { keys: ["JINA_API_KEY"], baseUrl: ["JINA_BASE_URL"] },
  withoutChat: true,
  list: { path: "models" },
  models: () => knownModels(jinaEntries),
  operations: {
    embeddings: embeddingsLazily({
      path: "embeddings",
      purposeName: "task",
      purposes: { query: "retrieval.query", document: "retrieval.passage" },
      own: ["truncate", "late_chunking"],
      write: ({ model, inputs, dimensions, purpose }) => ({
        model,
        input: inputs,
        ...(purpose === undefined ? {} : { task: purpose }),
        ...(dimensions === undefined ? {} : { dimensions }),
      }),
      varyInLength: true,
    }),
    rerank: plainRerank,
    search: searchLazily({
      path: "search",
      maxResults: 20,
      // titles and descriptions only: complete pages would cost their tokens
      headers: { ...jinaHeaders, "x-respond-with": "no-content" },
      write: ({ query, count }) => ({ q: query, ...(count === undefined ? {} : { num: count }) }),
      resultsIn: ({ data }) => data,
      names: { snippet: "description", published: "date" },
      usageIn: ({ meta }) => ({ searches: 1, total_tokens: Object(Object(meta).usage).tokens }),
    }),
    documents: documentsLazily({
      path: "reader",
      headers: jinaHeaders,
      write: ({ url }) => ({ url }),
      pagesIn: ({ data }) => [Object(data).content],
      usageIn: ({ data }) => ({ total_tokens: Object(Object(data).usage).tokens }),
    }),
  },
};
