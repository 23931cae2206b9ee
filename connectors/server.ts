/**
 * The connectors that come with the package on servers.
 * @module
 */
import type { Connector, LazyConnector, PluggableConnector } from "../src/contracts/connector.ts";
import { consoleDeclaration } from "./observability/declarations.ts";
import { anthropic } from "./providers/anthropic.ts";
import { cerebras } from "./providers/cerebras.ts";
import { cloudflare } from "./providers/cloudflare.ts";
import { cohere } from "./providers/cohere.ts";
import { deepseek } from "./providers/deepseek.ts";
import { fireworks } from "./providers/fireworks.ts";
import { gemini } from "./providers/gemini.ts";
import { groq } from "./providers/groq.ts";
import { huggingface } from "./providers/huggingface.ts";
import { lmstudio } from "./providers/lmstudio.ts";
import { localai } from "./providers/localai.ts";
import { mistral } from "./providers/mistral.ts";
import { nvidia } from "./providers/nvidia.ts";
import { ollama } from "./providers/ollama.ts";
import { openai } from "./providers/openai.ts";
import { openaiCompatible } from "./providers/openai_compatible.ts";
import { openrouter } from "./providers/openrouter.ts";
import { perplexity } from "./providers/perplexity.ts";
import { sambanova } from "./providers/sambanova.ts";
import { together } from "./providers/together.ts";
import { vllm } from "./providers/vllm.ts";
import { xai } from "./providers/xai.ts";
import * as secrets from "./secrets/declarations.ts";
import { envSecrets } from "./secrets/env.ts";
import { memorySecretsConnector } from "./secrets/memory.ts";
import * as storage from "./storage/declarations.ts";
import { memoryStorageConnector } from "./storage/memory.ts";

/**
 * All connectors; the providers in the order in which they are detected and take their place in a pool. What has a
 * `load` is imported once it is named.
 */
export const serverConnectors: readonly PluggableConnector[] = [
  openai,
  anthropic,
  gemini,
  groq,
  mistral,
  deepseek,
  together,
  openrouter,
  xai,
  cohere,
  perplexity,
  cerebras,
  fireworks,
  sambanova,
  nvidia,
  huggingface,
  cloudflare,
  ollama,
  lmstudio,
  vllm,
  localai,
  openaiCompatible,
  strategy(
    "mesh.stick-until-failure.v1",
    async () => (await import("./strategies/stick_until_failure.ts")).stickUntilFailure,
  ),
  strategy("mesh.round-robin.v1", async () => (await import("./strategies/round_robin.ts")).roundRobin),
  strategy("mesh.cost-first.v1", async () => (await import("./strategies/cost_first.ts")).costFirst),
  strategy("mesh.latency-first.v1", async () => (await import("./strategies/latency_first.ts")).latencyFirst),
  strategy(
    "mesh.priority-selection.v1",
    async () => (await import("./strategies/priority_selection.ts")).prioritySelection,
  ),
  strategy("mesh.rate-limit-aware.v1", async () => (await import("./strategies/rate_limit_aware.ts")).rateLimitAware),
  strategy("mesh.load-balanced.v1", async () => (await import("./strategies/load_balanced.ts")).loadBalanced),
  strategy(
    "mesh.session-stickiness.v1",
    async () => (await import("./strategies/session_stickiness.ts")).sessionStickiness,
  ),
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
  { ...consoleDeclaration, load: async () => (await import("./observability/console.ts")).consoleObservability },
];

function strategy(id: string, load: () => Promise<Connector<"strategy">>): LazyConnector<"strategy"> {
  return { kind: "strategy", id, load };
}
