/**
 * DeepSeek. It answers in JSON but not by a schema, and has no `n`.
 *
 * Source: api-docs.deepseek.com (response formats), llm-exe#662.
 * Efforts: api-docs.deepseek.com/guides/thinking_mode, quoted in SillyTavern#5526 and typewhisper-mac#1345.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/deepseek.ts";

/** DeepSeek. */
export const deepseek: OpenAiCompatible = {
  id: "deepseek.api.v1",
  vendor: "deepseek",
  baseUrl: "https://api.deepseek.com",
  detection: { keys: ["DEEPSEEK_API_KEY"], baseUrl: ["DEEPSEEK_BASE_URL"] },
  parameters: {
    rename: { max_completion_tokens: "max_tokens" },
    refuse: ["n"],
    efforts: { none: { thinking: { type: "disabled" } }, minimal: { reasoning_effort: "low" } },
  },
  models: () => knownModels(entries),
};
