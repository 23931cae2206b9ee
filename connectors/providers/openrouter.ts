/**
 * OpenRouter, a gateway to many vendors. What `openrouter/auto` costs depends on where it goes: no price is known.
 *
 * Source: openrouter.ai/docs.
 * @module
 */
import { chatModel } from "./_catalogue.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

const free = [{ input: 0, output: 0 }];

/** OpenRouter. */
export const openrouter: OpenAiCompatible = {
  id: "openrouter.gateway.v1",
  vendor: "openrouter",
  baseUrl: "https://openrouter.ai/api/v1",
  detection: { keys: ["OPENROUTER_API_KEY"], baseUrl: ["OPENROUTER_BASE_URL"] },
  models: () => [
    chatModel("openrouter/free", { can: "TSRV", window: 200_000, pricing: free, isDefault: true }),
    chatModel("openai/gpt-oss-120b:free", {
      can: "TR",
      features: { structured_output: false },
      window: 131_072,
      pricing: free,
      isDefault: true,
    }),
    chatModel("qwen/qwen3-coder:free", {
      can: "TR",
      features: { structured_output: false },
      window: 262_000,
      pricing: free,
    }),
    chatModel("openrouter/auto", { window: 2_000_000 }),
  ],
};
