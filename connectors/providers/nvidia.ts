/**
 * NVIDIA NIM's hosted models: free, with rate limits.
 *
 * Source: docs.api.nvidia.com/nim, LiteLLM's list of supported parameters.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { openAiEmbeddings } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/nvidia.ts";

/** NVIDIA NIM. */
export const nvidia: OpenAiCompatible = {
  id: "nvidia.nim.v1",
  vendor: "nvidia",
  baseUrl: "https://integrate.api.nvidia.com/v1",
  detection: { keys: ["NVIDIA_API_KEY", "NVIDIA_NIM_API_KEY"], baseUrl: ["NVIDIA_BASE_URL"] },
  parameters: { rename: { max_completion_tokens: "max_tokens" } },
  models: () => knownModels(entries),
  operations: { embeddings: openAiEmbeddings },
};
