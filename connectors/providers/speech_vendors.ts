/**
 * Vendors of speech: text to speech and speech to text, in one module, since each module adds to the duration of every start.
 * @module
 */
import type { ProviderSettings } from "../../src/contracts/connector.ts";
import { ConfigError } from "../../src/errors.ts";
import { knownModels } from "./_catalogue.ts";
import { readOpenAiError } from "./_openai_error.ts";
import { lazily } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import {
  assemblyai as assemblyaiEntries,
  azure as azureSpeechEntries,
  deepgram as deepgramEntries,
  elevenlabs as elevenlabsEntries,
} from "./catalogue/speech_vendors.ts";

/**
 * ElevenLabs: text to speech, with voices identified by id, and speech to text.
 *
 * Source: elevenlabs.io/docs/api-reference, `POST /text-to-speech/{voice_id}/stream` and `POST /speech-to-text`.
 */
export const elevenlabs: OpenAiCompatible = {
  id: "elevenlabs.tts.v1",
  vendor: "elevenlabs",
  baseUrl: "https://api.elevenlabs.io/v1",
  detection: { keys: ["ELEVENLABS_API_KEY", "ELEVEN_API_KEY"], baseUrl: ["ELEVENLABS_BASE_URL"] },
  authorize: (credential) => ({ "xi-api-key": credential }),
  parameters: { refuse: ["stream_format"] },
  withoutChat: true,
  list: { path: "models" },
  models: () => knownModels(elevenlabsEntries),
  readError(body, status) {
    const { detail } = Object(body);
    const { message, status: code } = Object(detail);
    const error = readOpenAiError(message === undefined ? body : { message, code }, status);
    return error.code === "quota_exceeded" ? { ...error, code: "insufficient_quota" } : error;
  },
  operations: {
    speech: lazily(async () => (await import("./_elevenlabs.ts")).elevenLabsSpeech),
    transcription: lazily(async () => (await import("./_elevenlabs.ts")).elevenLabsTranscription),
  },
};

/**
 * Azure Speech: text to speech. The setting `region` is part of the URL.
 *
 * Source: learn.microsoft.com/azure/ai-services/speech-service/rest-text-to-speech (MicrosoftDocs/azure-ai-docs).
 */
export const azureSpeech: OpenAiCompatible = {
  id: "azure.tts.v1",
  vendor: "azure-speech",
  baseUrl: findSpeechAddress,
  detection: {
    keys: ["AZURE_SPEECH_KEY"],
    baseUrl: ["AZURE_SPEECH_BASE_URL"],
    requires: { region: ["AZURE_SPEECH_REGION"] },
  },
  authorize: (credential) => ({ "ocp-apim-subscription-key": credential }),
  parameters: { refuse: ["stream_format"] },
  withoutChat: true,
  list: { path: "voices/list" },
  models: () => knownModels(azureSpeechEntries),
  attributes: {
    region: {
      type: "text",
      about: "Region of the resource, such as `westeurope`. Defaults to `AZURE_SPEECH_REGION`.",
    },
  },
  operations: { speech: lazily(async () => (await import("./_azure_speech.ts")).azureSpeechCall) },
};

function findSpeechAddress(settings: ProviderSettings, env?: (name: string) => string | undefined): string {
  const { region = (settings.config as Record<string, unknown> | undefined)?.region } = settings;
  const name = region ?? env?.("AZURE_SPEECH_REGION")?.trim();
  if (typeof name === "string" && /^[a-z0-9]+$/i.test(name)) {
    return `https://${name}.tts.speech.microsoft.com/cognitiveservices`;
  }
  throw new ConfigError([{
    path: `providers.${settings.id}.config.region`,
    message: !name
      ? "The resource's region is missing: set it, or the variable AZURE_SPEECH_REGION, or a base_url"
      : 'Expected a region such as "westeurope"',
  }]);
}

/**
 * Deepgram: speech to text and text to speech.
 *
 * Source: developers.deepgram.com, `POST /speak` and `POST /listen`.
 */
export const deepgram: OpenAiCompatible = {
  id: "deepgram.audio.v1",
  vendor: "deepgram",
  baseUrl: "https://api.deepgram.com/v1",
  detection: { keys: ["DEEPGRAM_API_KEY"], baseUrl: ["DEEPGRAM_BASE_URL"] },
  authorize: (credential) => ({ authorization: `Token ${credential}` }),
  parameters: { refuse: ["stream_format"] },
  withoutChat: true,
  list: { path: "projects" },
  models: () => knownModels(deepgramEntries),
  readError: (body, status) => readOpenAiError({ message: Object(body).err_msg, ...Object(body) }, status),
  operations: {
    speech: lazily(async () => (await import("./_deepgram.ts")).deepgramSpeech),
    transcription: lazily(async () => (await import("./_deepgram.ts")).deepgramTranscription),
  },
};

/**
 * AssemblyAI: speech to text.
 *
 * Source: www.assemblyai.com/docs/api-reference, by AssemblyAI/assemblyai-api-spec, `openapi.yml`.
 */
export const assemblyai: OpenAiCompatible = {
  id: "assemblyai.stt.v1",
  vendor: "assemblyai",
  baseUrl: "https://api.assemblyai.com/v2",
  detection: { keys: ["ASSEMBLYAI_API_KEY"], baseUrl: ["ASSEMBLYAI_BASE_URL"] },
  authorize: (credential) => ({ authorization: credential }),
  withoutChat: true,
  list: { path: "transcript?limit=1" },
  models: () => knownModels(assemblyaiEntries),
  operations: { transcription: lazily(async () => (await import("./_assemblyai.ts")).assemblyAiTranscription) },
};
