/**
 * xAI. All of its models reason, and reject penalties and stop sequences.
 *
 * Source: docs.x.ai (reasoning guide, API reference).
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { effortsFor } from "./_efforts.ts";
import { imagesLazily } from "./_openai_operations.ts";
import { readOpenAiError } from "./_openai_error.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/xai.ts";

const parameters = { drop: ["presence_penalty", "frequency_penalty"], refuse: ["stop"] };

/** xAI. */
export const xai: OpenAiCompatible = {
  id: "xai.grok.v1",
  vendor: "xai",
  telemetryName: "x_ai",
  baseUrl: "https://api.x.ai/v1",
  detection: { keys: ["XAI_API_KEY"], baseUrl: ["XAI_BASE_URL"] },
  parameters: { drop: ["top_k"] },
  findRules: () => ({ ...parameters, efforts: effortsFor(["none", "low", "medium", "high"]) }),
  models: () => knownModels(entries, { findRules: () => parameters }),
  // xAI reports an invalid API key as an invalid request, and an account without credits as a permission error
  readError(body, status) {
    const error = readOpenAiError(body, status);
    if (status === 400 && /incorrect api key/i.test(error.message)) return { ...error, code: "invalid_api_key" };
    const isSpent = status === 403 && /\bcredits?\b|spending limit/i.test(error.message);
    return isSpent ? { ...error, code: "insufficient_quota" } : error;
  },
  dialects: { responses: true },
  operations: {
    image: imagesLazily(async () => (await import("./_xai_images.ts")).xaiImages),
    "image-edit": imagesLazily(async () => (await import("./_xai_images.ts")).xaiImageEdits),
  },
};
