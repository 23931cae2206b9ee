/**
 * Hugging Face's router to inference providers.
 *
 * Source: huggingface.co/docs/inference-providers.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/huggingface.ts";

/** Hugging Face. */
export const huggingface: OpenAiCompatible = {
  id: "huggingface.inference.v1",
  vendor: "huggingface",
  baseUrl: "https://router.huggingface.co/v1",
  detection: {
    keys: ["HF_TOKEN", "HUGGINGFACE_API_KEY", "HUGGING_FACE_HUB_TOKEN"],
    baseUrl: ["HUGGINGFACE_BASE_URL"],
  },
  parameters: { thoughts: "none", rename: { max_completion_tokens: "max_tokens" } },
  models: () => knownModels(entries),
};
