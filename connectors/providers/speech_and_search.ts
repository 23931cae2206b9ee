/**
 * Vendors of speech and of search, in one module, since each module adds to the duration of every start.
 * @module
 */
import type { ProviderSettings } from "../../src/contracts/connector.ts";
import { ConfigError } from "../../src/errors.ts";
import { knownModels } from "./_catalogue.ts";
import { readOpenAiError } from "./_openai_error.ts";
import { documentsLazily, lazily, searchLazily } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import {
  firecrawl as firecrawlEntries,
  serper as serperEntries,
  tavily as tavilyEntries,
} from "./catalogue/retrieval.ts";
import {
  assemblyai as assemblyaiEntries,
  azure as azureSpeechEntries,
  deepgram as deepgramEntries,
  elevenlabs as elevenlabsEntries,
} from "./catalogue/speech_and_images.ts";

const loadElevenLabs = () => import("./_elevenlabs.ts");
const loadDeepgram = () => import("./_deepgram.ts");

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
  credentialHeader: "xi-api-key",
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
    speech: lazily(async () => (await loadElevenLabs()).elevenLabsSpeech),
    transcription: lazily(async () => (await loadElevenLabs()).elevenLabsTranscription),
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
  credentialHeader: "ocp-apim-subscription-key",
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
    speech: lazily(async () => (await loadDeepgram()).deepgramSpeech),
    transcription: lazily(async () => (await loadDeepgram()).deepgramTranscription),
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

/**
 * Tavily: web search.
 *
 * Sources: docs.tavily.com, `POST /search` and `GET /usage`; 432 and 433 for an exhausted plan or account, as reported
 * by several projects. Errors have the shape `{detail: {error}}`.
 */
export const tavily: OpenAiCompatible = {
  id: "tavily.search.v1",
  vendor: "tavily",
  baseUrl: "https://api.tavily.com",
  detection: { keys: ["TAVILY_API_KEY"], baseUrl: ["TAVILY_BASE_URL"] },
  withoutChat: true,
  list: { path: "usage" },
  models: () => knownModels(tavilyEntries),
  readError(body, status) {
    const error = readOpenAiError(Object(Object(body).detail).error === undefined ? body : Object(body).detail, status);
    return status === 432 || status === 433 ? { ...error, code: "insufficient_quota" } : error;
  },
  operations: {
    search: searchLazily({
      path: "search",
      maxResults: 20,
      write: ({ query, count, model }) => ({
        query,
        search_depth: model === "search-advanced" ? "advanced" : "basic",
        ...(count === undefined ? {} : { max_results: count }),
      }),
      resultsIn: ({ results }) => results,
      names: { snippet: "content", published: "published_date", score: "score" },
    }),
  },
};

/**
 * Serper: Google search results.
 *
 * Sources: serper.dev's playground, `POST /search` and `GET /account`, from public clients; 400 with "Not enough
 * credits" for an exhausted account, as reported by several projects.
 */
export const serper: OpenAiCompatible = {
  id: "serper.search.v1",
  vendor: "serper",
  baseUrl: "https://google.serper.dev",
  detection: { keys: ["SERPER_API_KEY"], baseUrl: ["SERPER_BASE_URL"] },
  withoutChat: true,
  list: { path: "account" },
  models: () => knownModels(serperEntries),
  credentialHeader: "x-api-key",
  readError(body, status) {
    const error = readOpenAiError(body, status);
    return /not enough credits/i.test(error.message) ? { ...error, code: "insufficient_quota" } : error;
  },
  operations: {
    search: searchLazily({
      path: "search",
      maxResults: 100,
      write: ({ query, count }) => ({ q: query, ...(count === undefined ? {} : { num: count }) }),
      resultsIn: ({ organic }) => organic,
      names: { url: "link", published: "date" },
      usageIn: ({ credits = 1 }) => ({ searches: credits }),
    }),
  },
};

/**
 * Firecrawl: web search, and web pages as Markdown.
 *
 * Source: docs.firecrawl.dev, `POST /v2/search` (two credits for ten results), `POST /v2/scrape` and
 * `GET /v2/team/credit-usage`.
 */
export const firecrawl: OpenAiCompatible = {
  id: "firecrawl.scrape.v1",
  vendor: "firecrawl",
  baseUrl: "https://api.firecrawl.dev/v2",
  detection: { keys: ["FIRECRAWL_API_KEY"], baseUrl: ["FIRECRAWL_BASE_URL"] },
  withoutChat: true,
  list: { path: "team/credit-usage" },
  models: () => knownModels(firecrawlEntries),
  operations: {
    search: searchLazily({
      path: "search",
      maxResults: 100,
      write: ({ query, count }) => ({ query, ...(count === undefined ? {} : { limit: count }) }),
      resultsIn: ({ data }) => Object(data).web,
      names: { snippet: "description" },
      usageIn: ({ creditsUsed }) => ({ searches: typeof creditsUsed === "number" ? Math.ceil(creditsUsed / 2) : 1 }),
    }),
    documents: documentsLazily({
      path: "scrape",
      write: ({ url }) => ({ url, formats: ["markdown"] }),
      pagesIn: ({ data }) => [Object(data).markdown],
    }),
  },
};
