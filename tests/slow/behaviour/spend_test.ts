/**
 * What calls cost: usages as vendors state them, and the sums by the vendors' price lists, worked out by hand. Prices are
 * USD per million tokens unless a unit is named. Each usage is asked for non-streaming and streaming, in every dialect of its row;
 * headers, records, budgets, usage by client and metrics agree on each sum to the nano-dollar.
 */
import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import type { Billed } from "../../support/_billed.ts";
import { type Entry, readSpend } from "../../support/_spend.ts";

const openai = { connector: "openai.llm.v1", model: "model-of-no-catalogue" } as const;
const claude = { connector: "anthropic.claude.v1", model: "claude-of-no-catalogue" } as const;
const vertex = (location: string) => ({
  ...{ connector: "google.vertex.v1", model: "gemini-3.8-flash", dialects: ["chat", "gemini"] as const },
  config: { project: "p", location },
});
const gemini = { connector: "google.gemini.v1", model: "gemini-3-of-no-catalogue" } as const;

/** Usage in the format of chat completions. */
function chat(prompt: number, completion: number, more: object = {}): Billed["usage"] {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion, ...more };
}

/** Usage in the format of the Messages API. */
function message(input: number, output: number, more: object = {}): Billed["usage"] {
  return { input_tokens: input, output_tokens: output, ...more };
}

const modal = (modality: string, tokenCount: number) => ({ modality, tokenCount });
const sound = { input: 1, output: 10, audio_input: 40, audio_output: 80 };
const plain = { input: 1, output: 10 };
const tiers = [
  { input: 2, output: 12, cached_input: 0.2 },
  { tier: "priority", input: 4, output: 24, cached_input: 0.4 },
  { tier: "flex", input: 1, output: 6, cached_input: 0.1 },
];

type Row = readonly [name: string, usd: number, entry: Omit<Entry, "usage"> & Pick<Billed, "usage">];

const rows: readonly Row[] = [
  // input 10k·1 + 100k·40 = 0.01 + 4; output 10k·10 + 100k·80 = 0.1 + 8
  ["audio in and out of a chat", 12.11, {
    ...{ ...openai, pricing: sound },
    usage: chat(110_000, 110_000, {
      prompt_tokens_details: { audio_tokens: 100_000 },
      completion_tokens_details: { audio_tokens: 100_000 },
    }),
  }],
  // the cached 20k are text: 20k·0.5 + 80k·40 + 100·10 = 0.01 + 3.2 + 0.001
  ["audio beside cached text", 3.211, {
    ...{ ...openai, pricing: { ...sound, cached_input: 0.5 } },
    usage: chat(100_000, 100, { prompt_tokens_details: { audio_tokens: 80_000, cached_tokens: 20_000 } }),
  }],
  // 600·10 + 300·1 + 100·20 = 6000 + 300 + 2000; 50·100 = 5000
  ["text read from and written to a cache", 0.0133, {
    ...{ ...openai, pricing: { input: 10, output: 100, cached_input: 1, cache_write: 20 } },
    usage: chat(1_000, 50, { prompt_tokens_details: { cached_tokens: 300, cache_write_tokens: 100 } }),
  }],
  // 1 000·1 + 40·2 + 60·10 = 1000 + 80 + 600
  ["reasoning at a price of its own", 0.00168, {
    ...{ ...openai, pricing: { ...plain, reasoning: 2 } },
    usage: chat(1_000, 100, { completion_tokens_details: { reasoning_tokens: 40 } }),
  }],
  // 200·1 + 800·5 = 200 + 4000; 10·10 + 990·30 = 100 + 29 700
  ["images in and out of a chat, as tokens", 0.034, {
    ...{ ...openai, pricing: { ...plain, image_input: 5, image_output: 30 } },
    usage: chat(1_000, 1_000, {
      prompt_tokens_details: { image_tokens: 800 },
      completion_tokens_details: { image_tokens: 990 },
    }),
  }],
  // 1 000·2 + 100·12 = 2000 + 1200
  ["the default tier", 0.0032, {
    ...{ ...openai, pricing: tiers },
    ...{ usage: chat(1_000, 100), more: { service_tier: "default" } },
  }],
  // 1 000·4 + 100·24 = 4000 + 2400
  ["the tier priority", 0.0064, {
    ...{ ...openai, pricing: tiers },
    ...{ usage: chat(1_000, 100), more: { service_tier: "priority" } },
  }],
  // 1 000·1 + 100·6 = 1000 + 600
  ["the tier flex", 0.0016, {
    ...{ ...openai, pricing: tiers },
    ...{ usage: chat(1_000, 100), more: { service_tier: "flex" } },
  }],
  // 500·4 + 500·0.4 + 100·24 = 2000 + 200 + 2400
  ["a cache in the tier priority", 0.0046, {
    ...{ ...openai, pricing: tiers, more: { service_tier: "priority" } },
    usage: chat(1_000, 100, { prompt_tokens_details: { cached_tokens: 500 } }),
  }],
  // requested flex, served as default: 1 000·2 + 100·12
  ["what the response says, not the request", 0.0032, {
    ...{ ...openai, pricing: tiers, asks: { service_tier: "flex" } },
    ...{ usage: chat(1_000, 100), more: { service_tier: "default" } },
  }],
  // gpt-5.6-terra, standard 2/12
  ["gpt-5.6-terra by default", 0.0032, {
    ...{ ...openai, model: "gpt-5.6-terra" },
    ...{ usage: chat(1_000, 100), more: { service_tier: "default" } },
  }],
  // priority is twice as dear: 4/24
  ["gpt-5.6-terra with priority", 0.0064, {
    ...{ ...openai, model: "gpt-5.6-terra" },
    ...{ usage: chat(1_000, 100), more: { service_tier: "priority" } },
  }],
  // flex is half as dear: 1/6
  ["gpt-5.6-terra with flex", 0.0016, {
    ...{ ...openai, model: "gpt-5.6-terra" },
    ...{ usage: chat(1_000, 100), more: { service_tier: "flex" } },
  }],
  // 1 000·1 + 100·10 = 1000 + 1000; 2 searches · 0.01: opening a page is free
  ["searches of the Responses API", 0.022, {
    ...{ ...openai, pricing: { ...plain, per_search: 0.01 }, dialects: ["responses"] },
    usage: { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 },
    items: [
      { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "a" } },
      { type: "web_search_call", id: "ws_2", status: "completed", action: { type: "open_page", url: "https://a" } },
      { type: "web_search_call", id: "ws_3", status: "completed", action: { type: "search", query: "b" } },
    ],
  }],
  // as stated: 3 · 0.01
  ["searches that the Responses API counts itself", 0.032, {
    ...{ ...openai, pricing: { ...plain, per_search: 0.01 }, dialects: ["responses"] },
    usage: { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 },
    more: { tool_usage: { web_search: { num_requests: 3 } } },
  }],
  // 1 000·1 + 100·10 + 2 calls · 0.0025
  ["other tools of the Responses API", 0.007, {
    ...{ ...openai, pricing: { ...plain, per_tool_call: 0.0025 }, dialects: ["responses"] },
    usage: { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 },
    items: [1, 2].map((index) => ({ type: "file_search_call", id: `fs_${index}`, status: "completed", queries: [] })),
  }],
  // 10k·1 + 90k·0.1 + 100·6, flex
  ["cached tokens and a tier of the Responses API", 0.0196, {
    ...{ ...openai, pricing: tiers, dialects: ["responses"], more: { service_tier: "flex" } },
    usage: {
      ...{ input_tokens: 100_000, output_tokens: 100, total_tokens: 100_100 },
      input_tokens_details: { cached_tokens: 90_000 },
    },
  }],
  // gpt-6.1-terra in the tier flex: (100·1 + 900·0.05 + 100·5)·0.5 = 322.5
  ["a chat with tools, which reaches its model through the Responses API", 0.0003225, {
    ...{ ...openai, model: "gpt-6.1-terra", config: { responses: true } },
    asks: {
      reasoning_effort: "high",
      tools: [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }],
    },
    more: { service_tier: "flex" },
    usage: {
      ...{ input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 },
      ...{ input_tokens_details: { cached_tokens: 900 }, output_tokens_details: { reasoning_tokens: 60 } },
    },
  }],
  // a search model searches once per request: 1 000·1 + 100·10 + 0.01
  ["the search of a search model", 0.012, {
    ...{ ...openai, model: "gpt-9-search-api", pricing: { ...plain, per_search: 0.01 } },
    ...{ usage: chat(1_000, 100), more: { model: "gpt-9-search-api" } },
  }],
  // 100k·1 + 400k·2: writes for one hour cost twice the input
  ["writes for one hour, of a Claude model with a price of 1", 0.9, {
    ...{ ...claude, pricing: { input: 1, output: 5, cache_write: 1.25 }, dialects: ["chat", "messages"] },
    usage: message(100_000, 0, {
      cache_creation_input_tokens: 400_000,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 400_000 },
    }),
  }],
  // 10·1 + 10·5 + 100k·2 = 60 + 200 000
  ["writes for one hour on claude-haiku-4-5", 0.20006, {
    ...{ ...claude, model: "claude-haiku-4-5", dialects: ["chat", "messages"] },
    usage: message(10, 10, {
      cache_creation_input_tokens: 100_000,
      cache_creation: { ephemeral_1h_input_tokens: 100_000 },
    }),
  }],
  // 10·1 + 40k·1.25 + 60k·2 + 1 000·0.1 + 10·5 = 10 + 50 000 + 120 000 + 100 + 50
  ["writes for both durations beside reads", 0.17016, {
    ...{ ...claude, model: "claude-haiku-4-5", dialects: ["chat", "messages"] },
    usage: message(10, 10, {
      cache_read_input_tokens: 1_000,
      cache_creation_input_tokens: 100_000,
      cache_creation: { ephemeral_5m_input_tokens: 40_000, ephemeral_1h_input_tokens: 60_000 },
    }),
  }],
  // 100k·1 + 400k·2, although only the durations are stated
  ["writes for one hour without a sum of writes", 0.9, {
    ...{ ...claude, pricing: { input: 1, output: 5 }, dialects: ["chat", "messages"] },
    usage: message(100_000, 0, { cache_creation: { ephemeral_1h_input_tokens: 400_000 } }),
  }],
  // 23k·1 + 1 000·5 = 28 000; the summary of what came before, which the sums exclude: 180k·1 + 3 500·5 = 197 500
  ["a conversation that Claude shortens first", 0.2255, {
    ...{ ...claude, pricing: { input: 1, output: 5 }, dialects: ["chat", "messages"] },
    usage: message(23_000, 1_000, {
      iterations: [
        { type: "compaction", input_tokens: 180_000, output_tokens: 3_500 },
        { type: "message", input_tokens: 23_000, output_tokens: 1_000 },
      ],
    }),
  }],
  // 1 000·1 + 100·5; the summary: 10k·1 + 90k·0.1 + 20k·2 + 500·5 = 10 000 + 9 000 + 40 000 + 2 500; no call is above 200k
  ["a summary from a cache, by the size of each call", 0.063, {
    ...{ ...claude, dialects: ["chat", "messages"] },
    pricing: [
      { input: 1, output: 5, cached_input: 0.1, cache_write: 1.25, cache_write_1h: 2 },
      { input: 3, output: 15, above_tokens: 120_000 },
    ],
    usage: message(1_000, 100, {
      iterations: [{
        ...{ type: "compaction", input_tokens: 10_000, output_tokens: 500, cache_read_input_tokens: 90_000 },
        ...{ cache_creation_input_tokens: 20_000, cache_creation: { ephemeral_1h_input_tokens: 20_000 } },
      }],
    }),
  }],
  // claude-haiku-4-5: 1 000·1 + 100·5; its advisor, claude-sonnet-5: 5 000·2 + 400·10
  ["the advice of another Claude model, at that model's price", 0.0155, {
    ...{ ...claude, model: "claude-haiku-4-5", dialects: ["chat", "messages"] },
    usage: message(1_000, 100, {
      iterations: [
        { type: "message", input_tokens: 1_000, output_tokens: 100 },
        { type: "advisor_message", model: "claude-sonnet-5", input_tokens: 5_000, output_tokens: 400 },
      ],
    }),
  }],
  // (1 000·2 + 100·10 + 10k·4)·1.1 = 47 300; 5 searches · 0.01
  ["writes for one hour, searches and processing in the US", 0.0973, {
    ...{ ...claude, model: "claude-sonnet-5", dialects: ["chat", "messages"] },
    usage: message(1_000, 100, {
      cache_creation_input_tokens: 10_000,
      cache_creation: { ephemeral_1h_input_tokens: 10_000 },
      server_tool_use: { web_search_requests: 5 },
      inference_geo: "us",
      service_tier: "standard",
    }),
  }],
  // 1 000·2 + 100·10 = 2000 + 1000, processed anywhere
  ["processing anywhere", 0.003, {
    ...{ ...claude, model: "claude-sonnet-5", dialects: ["chat", "messages"] },
    usage: message(1_000, 100, { inference_geo: "global", service_tier: "standard" }),
  }],
  // 1 000·30 + 100·150 = 30 000 + 15 000
  ["the fast mode", 0.045, {
    ...{ ...claude, dialects: ["chat", "messages"] },
    pricing: [{ input: 5, output: 25 }, { tier: "fast", input: 30, output: 150 }],
    usage: message(1_000, 100, { speed: "fast", service_tier: "standard" }),
  }],
  // 1 000·5 + 100·25: asked for, but not served
  ["a fast mode that was not served", 0.0075, {
    ...{ ...claude, dialects: ["messages"], asks: { speed: "fast" } },
    pricing: [{ input: 5, output: 25 }, { tier: "fast", input: 30, output: 150 }],
    usage: message(1_000, 100, { speed: "standard", service_tier: "standard" }),
  }],
  // 1 000·5 + 100·25, and no fees of fetched pages
  ["fetched pages without a fee", 0.0075, {
    ...{ ...claude, pricing: { input: 5, output: 25, per_search: 0.01 }, dialects: ["chat", "messages"] },
    usage: message(1_000, 100, { server_tool_use: { web_search_requests: 0, web_fetch_requests: 7 } }),
  }],
  // 10k·1 + 90k·3 + 100·10 = 10 000 + 270 000 + 1000
  ["audio in a prompt of Gemini", 0.281, {
    ...{ ...gemini, pricing: { ...plain, audio_input: 3 }, dialects: ["chat", "gemini"] },
    usage: {
      ...{ promptTokenCount: 100_000, candidatesTokenCount: 100, totalTokenCount: 100_100 },
      promptTokensDetails: [modal("TEXT", 10_000), modal("AUDIO", 90_000)],
    },
  }],
  // 500·1 + 400·0.1 + 100·0.5 + 50·10 = 500 + 40 + 50 + 500
  ["cached text and audio of Gemini", 0.00109, {
    ...{ ...gemini, dialects: ["chat", "gemini"] },
    pricing: { ...plain, audio_input: 3, cached_input: 0.1, cached_audio_input: 0.5 },
    usage: {
      ...{ promptTokenCount: 1_000, candidatesTokenCount: 50, totalTokenCount: 1_050, cachedContentTokenCount: 500 },
      promptTokensDetails: [modal("TEXT", 900), modal("AUDIO", 100)],
      cacheTokensDetails: [modal("TEXT", 400), modal("AUDIO", 100)],
    },
  }],
  // 1 000·1; 10·10 + 1 290·60 = 100 + 77 400
  ["images that Gemini draws", 0.0785, {
    ...{ ...gemini, pricing: { ...plain, image_output: 60 }, dialects: ["chat", "gemini"] },
    usage: {
      ...{ promptTokenCount: 1_000, candidatesTokenCount: 1_300, totalTokenCount: 2_300 },
      candidatesTokensDetails: [modal("TEXT", 10), modal("IMAGE", 1_290)],
    },
  }],
  // 742·1 + 258·2 + 50·10 = 742 + 516 + 500
  ["images in a prompt of Gemini", 0.001758, {
    ...{ ...gemini, pricing: { ...plain, image_input: 2 }, dialects: ["chat", "gemini"] },
    usage: {
      ...{ promptTokenCount: 1_000, candidatesTokenCount: 50, totalTokenCount: 1_050 },
      promptTokensDetails: [modal("TEXT", 742), modal("IMAGE", 258)],
    },
  }],
  // 1 000·1 + (50 + 70)·10: thoughts are output
  ["thoughts of Gemini", 0.0022, {
    ...{ ...gemini, pricing: plain, dialects: ["chat", "gemini"] },
    usage: { promptTokenCount: 1_000, candidatesTokenCount: 50, thoughtsTokenCount: 70, totalTokenCount: 1_120 },
  }],
  // 1 000·1 + 50·10 + 2 searches · 0.014
  ["searches of Gemini 3", 0.0295, {
    ...{ ...gemini, pricing: { ...plain, per_search: 0.014 }, dialects: ["chat", "gemini"] },
    usage: { promptTokenCount: 1_000, candidatesTokenCount: 50, totalTokenCount: 1_050 },
    more: { groundingMetadata: { webSearchQueries: ["a", "b"] } },
  }],
  // 1 000·1 + 50·10 + 1 request · 0.035: earlier generations are billed per request
  ["searches of Gemini 2.5", 0.0365, {
    ...{ ...gemini, model: "gemini-2.5-of-no-catalogue" },
    ...{ pricing: { ...plain, per_search: 0.035 }, dialects: ["chat", "gemini"] },
    usage: { promptTokenCount: 1_000, candidatesTokenCount: 50, totalTokenCount: 1_050 },
    more: { groundingMetadata: { webSearchQueries: ["a", "b"] } },
  }],
  // the header names the tier: 1 000·4 + 100·24
  ["the tier of Gemini", 0.0064, {
    ...{ ...gemini, pricing: tiers, dialects: ["chat", "gemini"] },
    headers: { "x-gemini-service-tier": "priority" },
    usage: { promptTokenCount: 1_000, candidatesTokenCount: 100, totalTokenCount: 1_100 },
  }],
  // (1 000·0.75 + 100·3.75)·1.1: processing in a region costs a tenth more than processing anywhere
  ["Vertex AI in a region", 0.0012375, {
    ...{ ...vertex("europe-west1"), at: "2026-11-26T12:00:00Z" },
    usage: { promptTokenCount: 1_000, candidatesTokenCount: 100, totalTokenCount: 1_100, trafficType: "ON_DEMAND" },
  }],
  // 1 000·0.75 + 100·3.75
  ["Vertex AI anywhere", 0.001125, {
    ...vertex("global"),
    usage: { promptTokenCount: 1_000, candidatesTokenCount: 100, totalTokenCount: 1_100, trafficType: "ON_DEMAND" },
  }],
  // (1 000·0.75 + 100·3.75)·1.8 + 1 search · 0.014
  ["the type of traffic and a search of Vertex AI", 0.016025, {
    ...vertex("global"),
    ...{ usage: { promptTokenCount: 1_000, candidatesTokenCount: 100, trafficType: "ON_DEMAND_PRIORITY" } },
    more: { groundingMetadata: { webSearchQueries: ["a"] } },
  }],
  // a region without a factor of its own: (1 000·1 + 100·10)·1.2; no region: as is
  ["a factor of all regions", 0.0024, {
    ...{ ...claude, dialects: ["chat", "messages"] },
    pricing: { ...plain, multipliers: { inference_geo: { us: 1.1, "*": 1.2 } } },
    usage: message(1_000, 100, { inference_geo: "eu" }),
  }],
  // gpt-6.1-terra: 500·1 + 400·2.5 + 100·1.25 + 10·5 = 500 + 1000 + 125 + 50
  ["writes for more than twelve hours on gpt-6.1-terra", 0.001675, {
    ...{ ...openai, model: "gpt-6.1-terra" },
    usage: chat(1_000, 10, {
      prompt_tokens_details: {
        cache_write_tokens: 500,
        cache_creation_token_details: { ephemeral_12h_input_tokens: 400 },
      },
    }),
  }],
  // gemini-2.5-flash: 100·0.3 + 500·1 + 300·0.1 + 100·0.03 + 10·2.5 = 30 + 500 + 30 + 3 + 25; one request with searches
  ["audio, cached audio and searches on gemini-2.5-flash", 0.035588, {
    ...{ ...gemini, model: "gemini-2.5-flash", dialects: ["chat", "gemini"] },
    usage: {
      ...{ promptTokenCount: 1_000, candidatesTokenCount: 10, totalTokenCount: 1_010, cachedContentTokenCount: 400 },
      promptTokensDetails: [modal("TEXT", 200), modal("AUDIO", 800)],
      cacheTokensDetails: [modal("TEXT", 100), modal("AUDIO", 300)],
    },
    more: { groundingMetadata: { webSearchQueries: ["a", "b"] } },
  }],
  // 9 992·2 + 128·0.5 + (1 499 + 2 809)·6 = 19 984 + 64 + 25 848: reasoning is beside the completion
  ["reasoning beside the completion", 0.045896, {
    ...{ connector: "xai.grok.v1", model: "model-of-no-catalogue" },
    pricing: { input: 2, output: 6, cached_input: 0.5 },
    usage: {
      ...{ prompt_tokens: 10_120, completion_tokens: 1_499, total_tokens: 14_428 },
      prompt_tokens_details: { cached_tokens: 128 },
      completion_tokens_details: { reasoning_tokens: 2_809 },
    },
  }],
  // 37 756 000 ticks of 10⁻¹⁰ USD, whatever the tokens
  ["the cost that xAI states", 0.0037756, {
    ...{ connector: "xai.grok.v1", model: "model-of-no-catalogue", pricing: plain, dialects: ["chat", "responses"] },
    usage: {
      ...{ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, input_tokens: 10, output_tokens: 5 },
      cost_in_usd_ticks: 37_756_000,
    },
  }],
  // as stated, although the model has a price
  ["the cost that OpenRouter states", 0.00012345, {
    ...{ connector: "openrouter.gateway.v1", model: "vendor/model", pricing: plain },
    usage: chat(10, 5, { cost: 0.00012345 }),
  }],
  // no price is known, and none is needed
  ["the cost of openrouter/auto", 0.0042, {
    ...{ connector: "openrouter.gateway.v1", model: "openrouter/auto" },
    usage: chat(10, 5, { cost: 0.0042, is_byok: false, cost_details: { upstream_inference_cost: null } }),
  }],
  // the fee of the gateway and the vendor's own bill: 0.0001 + 0.002
  ["the cost of a key of one's own at OpenRouter", 0.0021, {
    ...{ connector: "openrouter.gateway.v1", model: "openrouter/auto" },
    usage: chat(10, 5, { cost: 0.0001, is_byok: true, cost_details: { upstream_inference_cost: 0.002 } }),
  }],
  // total of tokens and the fee of the request
  ["the cost that Perplexity states", 0.006045, {
    ...{ connector: "perplexity.search.v1", model: "model-of-no-catalogue", pricing: plain },
    usage: chat(30, 15, { num_search_queries: 2, cost: { request_cost: 0.006, total_cost: 0.006045 } }),
  }],
  // 100·1 + 900·0.1 + 50·10 = 100 + 90 + 500
  ["cached tokens beside the details (Moonshot)", 0.00069, {
    ...{ connector: "openai.compatible.v1", model: "kimi", pricing: { ...plain, cached_input: 0.1 } },
    usage: chat(1_000, 50, { cached_tokens: 900 }),
  }],
  // 16:29 is on peak: 1 000·2 + 100·4
  ["the hours before the off-peak price (DeepSeek)", 0.0024, {
    ...{ connector: "deepseek.api.v1", model: "model-of-no-catalogue", at: "2026-11-26T16:29:59Z" },
    pricing: [{ input: 2, output: 4 }, { input: 1, output: 2, hours: "16:30-00:30" }],
    usage: chat(1_000, 100),
  }],
  // 00:29 is off peak: 100·1 + 900·0.05 + 100·2
  ["the off-peak price past midnight (DeepSeek)", 0.000345, {
    ...{ connector: "deepseek.api.v1", model: "model-of-no-catalogue", at: "2026-11-27T00:29:59Z" },
    pricing: [
      { input: 2, output: 4, cached_input: 0.1 },
      { input: 1, output: 2, cached_input: 0.05, hours: "16:30-00:30" },
    ],
    usage: chat(1_000, 100, { prompt_cache_hit_tokens: 900, prompt_cache_miss_tokens: 100 }),
  }],
  // Saturday, 01:30, of the night that began on Friday: 1 000·2 + 100·4
  ["hours past midnight of a day of the week", 0.0024, {
    ...{ connector: "deepseek.api.v1", model: "model-of-no-catalogue", at: "2026-11-28T01:30:00Z" },
    pricing: [{ input: 1, output: 2 }, { input: 2, output: 4, hours: "fri 22:00-02:00" }],
    usage: chat(1_000, 100),
  }],
  // Sunday, 01:30: 1 000·1 + 100·2
  ["hours of another day of the week", 0.0012, {
    ...{ connector: "deepseek.api.v1", model: "model-of-no-catalogue", at: "2026-11-29T01:30:00Z" },
    pricing: [{ input: 1, output: 2 }, { input: 2, output: 4, hours: "fri 22:00-02:00" }],
    usage: chat(1_000, 100),
  }],
  // 30 s of audio at 0.004 a minute beside 1 000·1 + 100·10
  ["audio of a chat by its duration (Mistral)", 0.004, {
    ...{ connector: "mistral.api.v1", model: "model-of-no-catalogue", pricing: { ...plain, per_minute: 0.004 } },
    usage: chat(1_000, 100, { prompt_audio_seconds: 30 }),
  }],
  // on_demand is the standard tier: 1 000·1 + 100·10
  ["the standard tier by another name (Groq)", 0.002, {
    ...{ connector: "groq.api.v1", model: "model-of-no-catalogue", pricing: plain },
    ...{ usage: chat(1_000, 100), more: { service_tier: "on_demand" } },
  }],
  // a later row without a price for images has replaced it, and counts them as text: 1 000·2 + 100·20
  ["a price for images that has ended", 0.004, {
    ...{ connector: "openai.compatible.v1", model: "seeing" },
    pricing: [{ ...plain, image_input: 5 }, { from: "2026-11-01", input: 2, output: 20 }],
    usage: chat(1_000, 100, { prompt_tokens_details: { image_tokens: 800 } }),
  }],
  // 200 001 tokens are above the size: 200 001·4 + 100·18
  ["a prompt above the size of a price", 0.801804, {
    ...{ connector: "openai.compatible.v1", model: "large" },
    pricing: [{ input: 2, output: 12 }, { input: 4, output: 18, above_tokens: 200_000 }],
    usage: chat(200_001, 100),
  }],
];

for (const [name, usd, entry] of rows) {
  it(`cost: ${name} costs ${usd} USD`, async () => {
    const { headers, records, estimated, sums, warnings } = await readSpend(entry);
    const nanoUsd = Math.round(usd * 1e9);
    assertEquals(headers, headers.map(() => nanoUsd));
    assertEquals(records, records.map(() => nanoUsd));
    assertEquals(estimated, estimated.map(() => undefined));
    const sum = nanoUsd * records.length;
    assertEquals(sums, { budget: sum, client: sum, usage: sum, metrics: sum });
    assertEquals(warnings, []);
  });
}

/** Usages for which no price is known: the dearest known price, and one warning per model. */
const unknown: readonly (readonly [...Row, warning: string])[] = [
  // as priority, the dearest row: 1 000·4 + 100·24
  ["an unknown tier", 0.0064, {
    ...{ ...openai, pricing: tiers },
    ...{ usage: chat(1_000, 100), more: { service_tier: "scale" } },
  }, 'the tier "scale"'],
  // as the dearer row: 1 000·3 + 100·14
  ["an unknown region", 0.0044, {
    ...{ ...claude, dialects: ["chat", "messages"] },
    pricing: [{ input: 2, output: 12, region: "eu" }, { input: 3, output: 14, region: "us" }],
    usage: message(1_000, 100, { inference_geo: "moon" }),
  }, 'standard calls in the region "moon"'],
  // 1 000·1 + 100·10, and nothing for the searches, since no row has a price for them
  ["a unit without any price", 0.002, {
    ...{ ...claude, pricing: plain, dialects: ["chat", "messages"] },
    usage: message(1_000, 100, { server_tool_use: { web_search_requests: 3 } }),
  }, '"per_search"'],
  // 1 000·4 + 100·24 + 2 · 0.01: the unit has a price in another row
  ["a unit with a price in another row", 0.0264, {
    ...{ ...openai, pricing: [{ ...tiers[0], per_search: 0.01 }, tiers[1]], dialects: ["responses"] },
    usage: { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 },
    more: { service_tier: "priority", tool_usage: { web_search: { num_requests: 2 } } },
  }, '"per_search"'],
  // audio in the tier priority, which has no price for it: 500·4 + 500·40 + 100·24, as in the standard tier
  ["audio with a price in another row", 0.0244, {
    ...{ ...openai, pricing: [{ ...tiers[0], audio_input: 40 }, tiers[1]], more: { service_tier: "priority" } },
    usage: chat(1_000, 100, { prompt_tokens_details: { audio_tokens: 500 } }),
  }, '"audio_input"'],
  // 1 000·1 + 50·10 + 50·10: audio is dearer than text, but how much so is not known
  ["audio without any price", 0.002, {
    ...{ ...openai, pricing: plain },
    usage: chat(1_000, 100, { completion_tokens_details: { audio_tokens: 50 } }),
  }, '"audio_output"'],
  // images and writes to a cache, for which the row of the tier has no price: 600·4 + 300·5 + 100·9 + 50·24 + 50·60
  ["images and cache writes with a price in another row", 0.009, {
    ...{ ...openai, more: { service_tier: "priority" } },
    pricing: [{ ...tiers[0], image_input: 5, image_output: 60, cache_write: 9 }, tiers[1]],
    usage: chat(1_000, 100, {
      prompt_tokens_details: { image_tokens: 300, cache_write_tokens: 100 },
      completion_tokens_details: { image_tokens: 50 },
    }),
  }, '"image_input"'],
  // an advisor of no catalogue, at the price of the model that it advised: 1 000·1 + 100·10 + 5 000·1 + 400·10
  ["the advice of a model without a price", 0.011, {
    ...{ ...claude, pricing: plain, dialects: ["chat", "messages"] },
    usage: message(1_000, 100, {
      iterations: [{ type: "advisor_message", model: "claude-9", input_tokens: 5_000, output_tokens: 400 }],
    }),
  }, 'the model "claude-9"'],
  // asked for priority, and the response names no tier: the dearer of both, 1 000·4 + 100·24
  ["a tier that the response does not confirm", 0.0064, {
    ...{ ...openai, pricing: tiers, asks: { service_tier: "priority" } },
    usage: chat(1_000, 100),
  }, 'a response without a tier, after a request for "priority"'],
];

for (const [name, usd, entry, warning] of unknown) {
  it(`cost: ${name} is charged at the dearest known price, with one warning`, async () => {
    const { headers, records, estimated, sums, warnings } = await readSpend(entry);
    const nanoUsd = Math.round(usd * 1e9);
    assertEquals(headers, headers.map(() => nanoUsd));
    assertEquals(records, records.map(() => nanoUsd));
    assertEquals(estimated, estimated.map(() => true));
    const sum = nanoUsd * records.length;
    assertEquals(sums, { budget: sum, client: sum, usage: sum, metrics: sum });
    assertEquals(warnings, [`No price of "m" is known for ${warning}: the dearest known price is charged`]);
  });
}
