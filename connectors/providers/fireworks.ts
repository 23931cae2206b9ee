/**
 * Fireworks AI.
 *
 * Source: docs.fireworks.ai.
 * @module
 */
import { chatModel } from "./_catalogue.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

/** Fireworks AI. */
export const fireworks: OpenAiCompatible = {
  id: "fireworks.api.v1",
  vendor: "fireworks",
  baseUrl: "https://api.fireworks.ai/inference/v1",
  detection: { keys: ["FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"], baseUrl: ["FIREWORKS_BASE_URL"] },
  parameters: { rename: { max_completion_tokens: "max_tokens" } },
  models: [
    chatModel("accounts/fireworks/models/glm-5p2", {
      can: "TR",
      window: 1_048_576,
      maxOutput: 131_072,
      pricing: [{ input: 1.4, output: 4.4, cached_input: 0.26 }],
      isDefault: true,
    }),
  ],
};
