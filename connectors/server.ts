/**
 * The built-in connectors for servers.
 * @module
 */
import type {
  Connector,
  LazyConnector,
  LazyProviderConnector,
  PluggableConnector,
  ProviderDeclaration,
} from "../src/contracts/connector.ts";
import { createDeclaration, type OpenAiCompatible, withDialectAttributes } from "./providers/_openai_vendor.ts";
import { anthropic } from "./providers/anthropic.ts";
import { bedrock, declareAzure, vertex } from "./providers/clouds.ts";
import { gemini } from "./providers/gemini.ts";
import { groq } from "./providers/groq.ts";
import { lmstudio, localai, vllm } from "./providers/local_servers.ts";
import { mistral } from "./providers/mistral.ts";
import { cerebras, cloudflare, fireworks, huggingface, nvidia, sambanova, together } from "./providers/model_hosts.ts";
import { cohere, deepseek, jina, perplexity, voyage, xai } from "./providers/model_makers.ts";
import { ollama } from "./providers/ollama.ts";
import { openModelVendors } from "./providers/open_models.ts";
import { openai } from "./providers/openai.ts";
import { openaiCompatible } from "./providers/openai_compatible.ts";
import { openrouter } from "./providers/openrouter.ts";
import {
  assemblyai,
  azureSpeech,
  deepgram,
  elevenlabs,
  firecrawl,
  serper,
  tavily,
} from "./providers/speech_and_search.ts";
import { envSecrets } from "./secrets/declarations.ts";
import { memorySecretsConnector } from "./secrets/memory.ts";
import { memoryStorageConnector } from "./storage/memory.ts";
import * as guards from "./guards/declarations.ts";
import * as sinks from "./observability/declarations.ts";
import * as secrets from "./secrets/declarations.ts";
import * as storage from "./storage/declarations.ts";

/**
 * All connectors. Providers are detected, and placed in pools, in this order. Connectors with `load` are imported only
 * when a configuration names them.
 */
export const serverConnectors: readonly PluggableConnector[] = [
  lazyOpenAiCompatible(openai),
  loadedBy(anthropic, async () => (await import("./providers/_anthropic_provider.ts")).anthropicConnector()),
  loadedBy(gemini, async () => (await import("./providers/_gemini_provider.ts")).geminiConnector),
  lazyOpenAiCompatible(groq),
  lazyOpenAiCompatible(mistral),
  lazyOpenAiCompatible(deepseek),
  lazyOpenAiCompatible(together),
  lazyOpenAiCompatible(openrouter),
  lazyOpenAiCompatible(xai),
  lazyOpenAiCompatible(cohere),
  lazyOpenAiCompatible(perplexity),
  lazyOpenAiCompatible(cerebras),
  loadedBy(
    createDeclaration(fireworks),
    async () => (await import("./providers/_fireworks_provider.ts")).fireworksConnector,
  ),
  lazyOpenAiCompatible(sambanova),
  lazyOpenAiCompatible(nvidia),
  lazyOpenAiCompatible(huggingface),
  lazyOpenAiCompatible(cloudflare),
  loadedBy(declareAzure(), async () => (await import("./providers/_azure_provider.ts")).azureConnector),
  loadedBy(bedrock, async () => (await import("./providers/_bedrock_provider.ts")).bedrockConnector),
  loadedBy(vertex, async () => (await import("./providers/_vertex_provider.ts")).vertexConnector),
  ...openModelVendors.map(lazyOpenAiCompatible),
  lazyOpenAiCompatible(elevenlabs),
  lazyOpenAiCompatible(azureSpeech),
  lazyOpenAiCompatible(deepgram),
  lazyOpenAiCompatible(assemblyai),
  loadedBy(createDeclaration(jina), async () => (await import("./providers/_jina_provider.ts")).jinaConnector),
  lazyOpenAiCompatible(voyage),
  lazyOpenAiCompatible(tavily),
  lazyOpenAiCompatible(serper),
  lazyOpenAiCompatible(firecrawl),
  lazyOpenAiCompatible(ollama),
  lazyOpenAiCompatible(lmstudio),
  lazyOpenAiCompatible(vllm),
  lazyOpenAiCompatible(localai),
  lazyOpenAiCompatible(openaiCompatible),
  ...allStrategies(),
  envSecrets,
  { ...secrets.dotenvDeclaration, load: async () => (await import("./secrets/dotenv.ts")).dotenvSecrets },
  memorySecretsConnector,
  {
    ...secrets.encryptedFileDeclaration,
    load: async () => (await import("./secrets/encrypted_file.ts")).encryptedFileSecrets,
  },
  { ...secrets.awsDeclaration, load: async () => (await import("./secrets/aws.ts")).awsSecrets },
  { ...secrets.googleDeclaration, load: async () => (await import("./secrets/google.ts")).googleSecrets },
  { ...secrets.keyVaultDeclaration, load: async () => (await import("./secrets/key_vault.ts")).keyVaultSecrets },
  {
    ...secrets.onePasswordDeclaration,
    load: async () => (await import("./secrets/onepassword.ts")).onePasswordSecrets,
  },
  { ...storage.redisDeclaration, load: async () => (await import("./storage/redis.ts")).redis },
  { ...storage.postgresDeclaration, load: async () => (await import("./storage/postgres.ts")).postgres },
  { ...storage.localFileDeclaration, load: async () => (await import("./storage/local_file.ts")).localFileStorage },
  memoryStorageConnector,
  { ...storage.s3Declaration, load: async () => (await import("./storage/s3.ts")).s3Storage },
  { ...storage.driveDeclaration, load: async () => (await import("./storage/drive.ts")).driveStorage },
  { ...storage.denoKvDeclaration, load: async () => (await import("./storage/deno_kv.ts")).denoKvStorage },
  { ...sinks.consoleDeclaration, load: async () => (await import("./observability/console.ts")).consoleObservability },
  sinks.nullObservability,
  { ...sinks.storageDeclaration, load: async () => (await import("./observability/storage.ts")).storageObservability },
  { ...sinks.webhookDeclaration, load: async () => (await import("./observability/webhook.ts")).webhookObservability },
  {
    ...sinks.prometheusDeclaration,
    load: async () => (await import("./observability/prometheus.ts")).prometheusObservability,
  },
  {
    ...sinks.openTelemetryDeclaration,
    load: async () => (await import("./observability/opentelemetry.ts")).openTelemetryObservability,
  },
  { ...sinks.s3LogDeclaration, load: async () => (await import("./observability/s3_log.ts")).s3LogObservability },
  {
    ...sinks.clickHouseDeclaration,
    load: async () => (await import("./observability/clickhouse.ts")).clickHouseObservability,
  },
  {
    ...sinks.localFileDeclaration,
    load: async () => (await import("./observability/local_file.ts")).localFileObservability,
  },
  { ...guards.regexDeclaration, load: async () => await (await import("./guards/regex.ts")).loadRegexGuard() },
  { ...guards.piiDeclaration, load: async () => (await import("./guards/pii.ts")).piiGuard },
  { ...guards.moderationDeclaration, load: async () => (await import("./guards/moderation.ts")).moderationGuard },
  { ...guards.webhookGuardDeclaration, load: async () => (await import("./guards/webhook.ts")).webhookGuard },
  {
    ...guards.registrySyncDeclaration,
    load: async () => (await import("./discovery/registry_sync.ts")).registrySync,
  },
  {
    ...guards.healthMonitorDeclaration,
    load: async () => (await import("./discovery/health_monitor.ts")).healthMonitor,
  },
];

/** The lazy connector of an OpenAI-compatible vendor. */
function lazyOpenAiCompatible(vendor: OpenAiCompatible): LazyProviderConnector {
  const declared = withDialectAttributes(vendor);
  const load = async () => (await import("./providers/_openai_compatible.ts")).openAiCompatible(declared);
  return Object.assign(createDeclaration(declared), { load });
}

/**
 * A lazy connector, whose implementation is imported when a configuration names it.
 *
 * @param declaration Its declaration; the model list is not evaluated.
 * @param load Imports the implementation.
 */
function loadedBy(
  declaration: ProviderDeclaration,
  load: LazyProviderConnector["load"],
): LazyProviderConnector {
  const members = Object.getOwnPropertyDescriptors(declaration);
  return Object.defineProperties({ load }, members) as LazyProviderConnector;
}

/** All strategies. */
function allStrategies(): readonly LazyConnector<"strategy">[] {
  return [
    lazyStrategy(
      "mesh.stick-until-failure.v1",
      async () => (await import("./strategies/stick_until_failure.ts")).stickUntilFailure,
    ),
    lazyStrategy("mesh.round-robin.v1", async () => (await import("./strategies/round_robin.ts")).roundRobin),
    lazyStrategy("mesh.cost-first.v1", async () => (await import("./strategies/cost_first.ts")).costFirst),
    lazyStrategy("mesh.latency-first.v1", async () => (await import("./strategies/latency_first.ts")).latencyFirst),
    lazyStrategy(
      "mesh.priority-selection.v1",
      async () => (await import("./strategies/priority_selection.ts")).prioritySelection,
    ),
    lazyStrategy(
      "mesh.rate-limit-aware.v1",
      async () => (await import("./strategies/rate_limit_aware.ts")).rateLimitAware,
    ),
    lazyStrategy("mesh.load-balanced.v1", async () => (await import("./strategies/load_balanced.ts")).loadBalanced),
    lazyStrategy(
      "mesh.session-stickiness.v1",
      async () => (await import("./strategies/session_stickiness.ts")).sessionStickiness,
    ),
  ];
}

function lazyStrategy(id: string, load: () => Promise<Connector<"strategy">>): LazyConnector<"strategy"> {
  return { kind: "strategy", id, load };
}
