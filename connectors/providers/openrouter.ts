/**
 * OpenRouter, a gateway to many vendors.
 *
 * Source: openrouter.ai/docs.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { openAiEmbeddings } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/openrouter.ts";

/** OpenRouter. */
export const openrouter: OpenAiCompatible = {
  id: "openrouter.gateway.v1",
  vendor: "openrouter",
  baseUrl: "https://openrouter.ai/api/v1",
  detection: { keys: ["OPENROUTER_API_KEY"], baseUrl: ["OPENROUTER_BASE_URL"] },
  models: () => knownModels(entries),
  operations: { embeddings: openAiEmbeddings },
};
