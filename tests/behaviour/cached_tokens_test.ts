/** Tokens of a prompt that came from its provider's cache: priced as such, in every dialect, non-streaming and streaming alike. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { RoutingRecord } from "../../mod.ts";
import { speaking } from "../support/_dialects.ts";
import { stage } from "../support/_failover.ts";
import { becomes } from "../support/patience.ts";

/** A prompt of 1 000 tokens, of which 600 came from the cache and, where a vendor says so, 100 were written to it. */
const usages = {
  "OpenAI's words": {
    dialect: "openai",
    usage: {
      prompt_tokens: 1_000,
      completion_tokens: 50,
      total_tokens: 1_050,
      prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 100 },
    },
    written: 100,
  },
  "DeepSeek's words": {
    dialect: "openai",
    usage: {
      prompt_tokens: 1_000,
      completion_tokens: 50,
      total_tokens: 1_050,
      prompt_cache_hit_tokens: 600,
      prompt_cache_miss_tokens: 400,
    },
    written: 0,
  },
  "Anthropic's words": {
    dialect: "anthropic",
    usage: {
      input_tokens: 300,
      cache_read_input_tokens: 600,
      cache_creation_input_tokens: 100,
      output_tokens: 50,
    },
    written: 100,
  },
  "Gemini's words": {
    dialect: "gemini",
    usage: {
      promptTokenCount: 1_000,
      cachedContentTokenCount: 600,
      candidatesTokenCount: 50,
      totalTokenCount: 1_050,
    },
    written: 0,
  },
} as const;

const pricing = { input: 10, output: 100, cached_input: 1, cache_write: 20 };

describe("Cached tokens", () => {
  for (const [name, { dialect, usage, written }] of Object.entries(usages)) {
    it(`cost their own price, non-streaming and streaming: ${name}`, async () => {
      const { connector, model, respond: answer } = speaking[dialect];
      await using scene = await stage({ a: answer({ usage }) }, (urls) => ({
        config: {
          providers: { a: { connector, base_url: urls.a, api_key: "key-of-a-0123456789" } },
          models: { a: { model, provider: "a", capabilities: ["chat-completion"], pricing } },
          pools: { chat: { models: ["a"] } },
        },
      }));
      const cost = (600 * 1 + written * 20 + (400 - written) * 10 + 50 * 100) / 1e6;
      const whole = await scene.ask({});
      assertEquals([whole.status, Number(whole.headers.get("x-mesh-cost-usd"))], [200, cost]);
      await scene.askStream({});
      const records = () => scene.proxy.records.filter((one): one is RoutingRecord => one.type === "routing");
      await becomes(() => records().length, 2);
      assertEquals(
        records().map(({ tokens_in, tokens_out, cost_usd, estimated }) => [tokens_in, tokens_out, cost_usd, estimated]),
        [[1_000, 50, cost, undefined], [1_000, 50, cost, undefined]],
      );
    });
  }
});
