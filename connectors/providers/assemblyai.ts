/**
 * AssemblyAI: speech to text.
 *
 * Source: www.assemblyai.com/docs/api-reference, by AssemblyAI/assemblyai-api-spec, `openapi.yml`.
 * @module
 */
import { knownModels } from "./_catalogue.ts";
import { lazily } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/assemblyai.ts";

/** AssemblyAI. */
export const assemblyai: OpenAiCompatible = {
  id: "assemblyai.stt.v1",
  vendor: "assemblyai",
  baseUrl: "https://api.assemblyai.com/v2",
  detection: { keys: ["ASSEMBLYAI_API_KEY"], baseUrl: ["ASSEMBLYAI_BASE_URL"] },
  authorize: (credential) => ({ authorization: credential }),
  withoutChat: true,
  list: { path: "transcript?limit=1" },
  models: () => knownModels(entries),
  operations: { transcription: lazily(async () => (await import("./_assemblyai.ts")).assemblyAiTranscription) },
};
