/**
 * Anthropic: Claude through the Messages API.
 *
 * Source: https://platform.claude.com/docs/en/api/overview
 * @module
 */
import type { ProviderDeclaration } from "../../src/contracts/connector.ts";
import { anthropicModels, claudeRules } from "./_anthropic_models.ts";

/**
 * Anthropic. `ANTHROPIC_AUTH_TOKEN` is not detected as a key: a token is sent in another header than an API key, and at
 * the time of a call the two cannot be distinguished.
 */
export const anthropic: ProviderDeclaration = {
  kind: "provider",
  queries: [],
  id: "anthropic.claude.v1",
  vendor: "anthropic",
  detection: { keys: ["ANTHROPIC_API_KEY"], baseUrl: ["ANTHROPIC_BASE_URL"] },
  get models() {
    return anthropicModels();
  },
  attributes: {},
  parameters: {
    drop: ["frequency_penalty", "presence_penalty", "seed", "logit_bias", "verbosity"],
    refuse: ["n", "logprobs", "audio", "functions", "web_search_options"],
    ...claudeRules,
  },
};
