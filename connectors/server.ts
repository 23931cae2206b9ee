/**
 * The built-in connectors for servers.
 * @module
 */
import type { PluggableConnector } from "../src/contracts/connector.ts";
import * as discovery from "./discovery/declarations.ts";
import * as sinks from "./observability/declarations.ts";
import { lazyOpenAiCompatible, loadedBy } from "./providers/_lazy.ts";
import { createDeclaration } from "./providers/_openai_vendor.ts";
import { anthropic } from "./providers/anthropic.ts";
import { assemblyai } from "./providers/assemblyai.ts";
import { azure } from "./providers/azure.ts";
import { azureSpeech } from "./providers/azure_speech.ts";
import { bedrock } from "./providers/bedrock.ts";
import { cerebras } from "./providers/cerebras.ts";
import { cloudflare } from "./providers/cloudflare.ts";
import { cohere } from "./providers/cohere.ts";
import { deepgram } from "./providers/deepgram.ts";
import { deepseek } from "./providers/deepseek.ts";
import { fireworks } from "./providers/fireworks.ts";
import { elevenlabs } from "./providers/elevenlabs.ts";
import { firecrawl } from "./providers/firecrawl.ts";
import { gemini } from "./providers/gemini.ts";
import { groq } from "./providers/groq.ts";
import { huggingface } from "./providers/huggingface.ts";
import { jina } from "./providers/jina.ts";
import { lmstudio } from "./providers/lmstudio.ts";
import { localai } from "./providers/localai.ts";
import { mistral } from "./providers/mistral.ts";
import { nvidia } from "./providers/nvidia.ts";
import { ollama } from "./providers/ollama.ts";
import { openModelVendors } from "./providers/open_models.ts";
import { openai } from "./providers/openai.ts";
import { openaiCompatible } from "./providers/openai_compatible.ts";
import { openrouter } from "./providers/openrouter.ts";
import { perplexity } from "./providers/perplexity.ts";
import { sambanova } from "./providers/sambanova.ts";
import { serper } from "./providers/serper.ts";
import { tavily } from "./providers/tavily.ts";
import { together } from "./providers/together.ts";
import { vertex } from "./providers/vertex.ts";
import { vllm } from "./providers/vllm.ts";
import { voyage } from "./providers/voyage.ts";
import { xai } from "./providers/xai.ts";
import * as secrets from "./secrets/declarations.ts";
import { envSecrets } from "./secrets/env.ts";
import { memorySecretsConnector } from "./secrets/memory.ts";
import * as storage from "./storage/declarations.ts";
import { memoryStorageConnector } from "./storage/memory.ts";
import { allStrategies } from "./strategies/all.ts";

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
  loadedBy(createDeclaration(azure), async () => (await import("./providers/_azure_provider.ts")).azureConnector),
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
  { ...storage.localFileDeclaration, load: async () => (await import("./storage/local_file.ts")).localFileStorage },
  memoryStorageConnector,
  { ...storage.s3Declaration, load: async () => (await import("./storage/s3.ts")).s3Storage },
  { ...storage.driveDeclaration, load: async () => (await import("./storage/drive.ts")).driveStorage },
  { ...storage.denoKvDeclaration, load: async () => (await import("./storage/deno_kv.ts")).denoKvStorage },
  { ...sinks.consoleDeclaration, load: async () => (await import("./observability/console.ts")).consoleObservability },
  { ...sinks.nullDeclaration, load: async () => (await import("./observability/null.ts")).nullObservability },
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
  {
    ...sinks.localFileDeclaration,
    load: async () => (await import("./observability/local_file.ts")).localFileObservability,
  },
  {
    ...discovery.registrySyncDeclaration,
    load: async () => (await import("./discovery/registry_sync.ts")).registrySync,
  },
  {
    ...discovery.healthMonitorDeclaration,
    load: async () => (await import("./discovery/health_monitor.ts")).healthMonitor,
  },
];
