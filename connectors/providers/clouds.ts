/**
 * Clouds that host models of several makers, in one module, since each module adds to the duration of every start.
 * @module
 */
import type { AmbientIdentity, ProviderDeclaration } from "../../src/contracts/connector.ts";
import type { ParameterRules } from "../../src/contracts/provider.ts";
import { once } from "../../src/util/once.ts";
import { claudeRules, completeClaudePrices, findGeneration, isClaude } from "./anthropic.ts";
import { knownModels } from "./_catalogue.ts";
import { createDeclaration, dialectAttributes, type OpenAiCompatible } from "./_openai_vendor.ts";
import { findGeminiRules, findUnknownRules, geminiRules, speech, speechRules } from "./gemini.ts";
import { familyRules, findOpenAiRules } from "./openai.ts";
import {
  openAiAudioTranslation,
  openAiEmbeddings,
  openAiImageEdits,
  openAiImages,
  openAiSpeech,
  openAiTranscription,
} from "./_openai_operations.ts";
import { bedrock as bedrockEntries } from "./catalogue/clouds.ts";
import { entries as vertexEntries } from "./catalogue/vertex.ts";

/**
 * Azure OpenAI. Its models are deployments with user-defined names, so the catalogue is empty.
 *
 * Sources, read 2026-11-22: https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle (URLs),
 * /azure/ai-foundry/openai/reference (headers), /azure/ai-foundry/openai/concepts/content-filter.
 */
export const azure: OpenAiCompatible = {
  id: "azure.openai.v1",
  vendor: "azure",
  telemetryName: "azure.ai.openai",
  credentialHeader: "api-key",
  promptCache: { keyApis: ["chat", "responses"] }, // learn.microsoft.com/azure/ai-foundry/openai/how-to/prompt-caching
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
  findRules: findOpenAiRules,
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

/** Declares Azure OpenAI. */
export function declareAzure(): ProviderDeclaration {
  return { ...createDeclaration(azure), ambient: azureIdentity };
}

const azureIdentity: AmbientIdentity = {
  announcedBy: [
    ["AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"],
    ["AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE"],
    ["IDENTITY_ENDPOINT", "IDENTITY_HEADER"],
    ["AZURE_POD_IDENTITY_AUTHORITY_HOST"],
  ],
  load: async () => (await import("../clouds/azure.ts")).createAzureGrant,
};

const bedrockModels = /* @__PURE__ */ once(() =>
  knownModels(bedrockEntries, {
    features: { json_mode: false, system_prompt: true, logprobs: false },
    findRules: ({ id }) =>
      isClaude(id) && !findGeneration(id).sampling ? { drop: ["temperature", "top_p", "top_k"] } : undefined,
  })
);

/**
 * Amazon Bedrock, through Converse. Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html,
 * read 2026-11-22.
 *
 * It is detected only by its own API key, since AWS credentials in the environment serve many purposes.
 * A configured entry without a key signs its calls with AWS credentials: configured, of the environment, or of a role.
 */
export const bedrock: ProviderDeclaration = {
  kind: "provider",
  queries: [],
  completePrices: (row, model) => isClaude(model) ? completeClaudePrices(row) : row,
  promptCache: { marks: true },
  id: "aws.bedrock.v1",
  vendor: "bedrock",
  otherNames: ["aws"],
  telemetryName: "aws.bedrock",
  detection: {
    keys: ["AWS_BEARER_TOKEN_BEDROCK"],
    baseUrl: ["BEDROCK_BASE_URL", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"],
    requires: { region: ["AWS_REGION", "AWS_DEFAULT_REGION"] },
  },
  get models() {
    return bedrockModels();
  },
  keyless: true,
  ambient: { announcedBy: [] }, // its connector signs calls with the credentials that it finds
  ownState: ["anthropic"],
  attributes: {
    region: { type: "text", about: "AWS region. Defaults to `AWS_REGION` or `AWS_DEFAULT_REGION`." },
    access_key_id: { type: "text", about: "AWS access key id. Defaults to `AWS_ACCESS_KEY_ID`." },
    secret_access_key: { type: "text", about: "AWS secret access key. Defaults to `AWS_SECRET_ACCESS_KEY`." },
    session_token: { type: "text", about: "Session token of temporary credentials. Defaults to `AWS_SESSION_TOKEN`." },
  },
  parameters: {
    drop: ["frequency_penalty", "presence_penalty", "seed", "logit_bias", "verbosity", "parallel_tool_calls"],
    refuse: ["n", "logprobs", "audio", "functions", "web_search_options"],
    ...claudeRules,
    tool_names: { characters: "word", max_length: 64 }, // API_runtime_ToolSpecification.html
  },
};

const vertexModels = /* @__PURE__ */ once(() =>
  knownModels(vertexEntries, {
    features: { system_prompt: true, logprobs: false },
    findRules: ({ id, serves }) =>
      serves === undefined ? vertexRules(id) : serves.includes(speech) ? speechRules : undefined,
  })
);

/**
 * Google Vertex AI: Gemini and Claude, authorized by a service account. It must be configured and is not detected: a
 * service account, or the identity of a machine, is not an API key.
 *
 * Sources, read 2026-11-22: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference and
 * https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai.
 */
export const vertex: ProviderDeclaration = {
  kind: "provider",
  queries: [],
  completePrices: (row, model) => isClaude(model) ? completeClaudePrices(row) : row,
  promptCache: { marks: true },
  id: "google.vertex.v1",
  vendor: "vertex",
  telemetryName: "gcp.vertex_ai",
  credentialHeader: "x-goog-api-key",
  ownState: ["google", "anthropic", "images"],
  tokenScope: "https://www.googleapis.com/auth/cloud-platform",
  ambient: {
    announcedBy: [["GOOGLE_APPLICATION_CREDENTIALS"], ["GCE_METADATA_HOST"]],
    load: async () => (await import("../clouds/google.ts")).createGoogleGrant,
  },
  get models() {
    return vertexModels();
  },
  attributes: {
    project: { type: "text", about: "Project id. Defaults to `GOOGLE_VERTEX_PROJECT` or `GOOGLE_CLOUD_PROJECT`." },
    location: {
      type: "text",
      about: "A region, `us`, `eu` or `global`. Defaults to `GOOGLE_VERTEX_LOCATION` or `GOOGLE_CLOUD_LOCATION`.",
    },
  },
  findRules: ({ id }) => vertexRules(id, findUnknownRules),
  parameters: {
    drop: ["presence_penalty", "frequency_penalty", "logit_bias"],
    refuse: ["logprobs", "audio", "functions", "function_call", "web_search_options"],
  },
};

/**
 * The parameter rules of a model, in addition to those of all models.
 *
 * @param model The model id.
 * @param findRules Finds those of a Gemini model.
 */
export function vertexRules(
  model: string,
  findRules: (id: string) => ParameterRules = findGeminiRules,
): ParameterRules {
  if (isClaude(model)) {
    const dropped = findGeneration(model).sampling ? {} : { drop: ["temperature", "top_p", "top_k"] };
    return { ...claudeRules, ...dropped, refuse: ["n"] };
  }
  const { drop = [], ...rules } = findRules(model);
  return { ...rules, ...geminiRules, drop: [...drop, "parallel_tool_calls"] };
}
