/**
 * xAI. Its reasoning models, which all of these are, refuse penalties and stop sequences.
 *
 * Source: docs.x.ai (reasoning guide, API reference).
 * @module
 */
import { chatModel, genaiPrices, modelsDev } from "./_catalogue.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

const parameters = { drop: ["presence_penalty", "frequency_penalty"], refuse: ["stop"] };

/** xAI. */
export const xai: OpenAiCompatible = {
  id: "xai.grok.v1",
  vendor: "xai",
  baseUrl: "https://api.x.ai/v1",
  detection: { keys: ["XAI_API_KEY"], baseUrl: ["XAI_BASE_URL"] },
  models: [
    chatModel("grok-4.3", {
      can: "TSRV",
      window: 1_000_000,
      maxOutput: 30_000,
      pricing: [
        { input: 1.25, output: 2.5, cached_input: 0.2 },
        { input: 2.5, output: 5, above_tokens: 200_000 },
      ],
      parameters,
      isDefault: true,
    }),
    chatModel("grok-4.5", {
      can: "TSRV",
      window: 500_000,
      pricing: [{ input: 2, output: 6 }, { input: 4, output: 12, above_tokens: 200_000 }],
      parameters,
      isDefault: true,
      source: `${genaiPrices}, ${modelsDev}; they differ on cached input`,
    }),
  ],
};
