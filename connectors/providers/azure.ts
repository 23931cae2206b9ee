/**
 * Azure OpenAI. Its models are deployments with user-defined names, so the catalogue is empty.
 *
 * Sources, read 2026-11-22: https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle (URLs),
 * /azure/ai-foundry/openai/reference (headers), /azure/ai-foundry/openai/concepts/content-filter.
 * @module
 */
import { dialectAttributes } from "./_dialect_attributes.ts";
import { familyRules, findFamilyRules } from "./_openai_family.ts";
import {
  openAiAudioTranslation,
  openAiEmbeddings,
  openAiImageEdits,
  openAiImages,
  openAiSpeech,
  openAiTranscription,
} from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

/** Azure OpenAI. The implementation constructs its URLs. */
export const azure: OpenAiCompatible = {
  id: "azure.openai.v1",
  vendor: "azure",
  telemetryName: "azure.ai.openai",
  baseUrl: "",
  detection: {
    keys: ["AZURE_OPENAI_API_KEY", "AZURE_API_KEY"],
    baseUrl: ["AZURE_OPENAI_BASE_URL"],
    requires: { endpoint: ["AZURE_OPENAI_ENDPOINT", "AZURE_RESOURCE_NAME"] },
  },
  tokenScope: "https://cognitiveservices.azure.com/.default",
  parameters: familyRules,
  ownState: ["annotations"],
  // a deployment that is named after no model counts as one of the newest
  findRules: findFamilyRules,
  // learn.microsoft.com/azure/ai-services/openai/how-to/batch (price), /azure/ai-foundry/openai/quotas-limits (sizes)
  infrastructure: {
    files: { maxBytes: 512 * 1024 * 1024 },
    batch: { maxItems: 100_000, maxBytes: 200 * 1024 * 1024, priceFactor: 0.5 },
    fineTuning: true,
  },
  operations: {
    embeddings: openAiEmbeddings,
    image: openAiImages,
    "image-edit": openAiImageEdits,
    speech: openAiSpeech,
    transcription: openAiTranscription,
    "audio-translation": openAiAudioTranslation,
  },
  dialects: { responses: true },
  attributes: {
    ...dialectAttributes({ responses: true }),
    endpoint: {
      type: "text",
      about: "Address or name of the resource. Defaults to `AZURE_OPENAI_ENDPOINT` or `AZURE_RESOURCE_NAME`.",
    },
    api_version: {
      type: "text",
      about:
        "Dated API version, such as `2024-10-21`, which addresses models by deployment, or `preview`. Defaults to " +
        "`OPENAI_API_VERSION`, otherwise the v1 API.",
    },
  },
};
