/**
 * The connectors that come with the package on servers.
 * @module
 */
import type { Connector, ProviderConnector } from "../src/contracts/connector.ts";
import { consoleObservability } from "./observability/console.ts";
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
import { awsSecrets } from "./secrets/aws.ts";
import { dotenvSecrets } from "./secrets/dotenv.ts";
import { encryptedFileSecrets } from "./secrets/encrypted_file.ts";
import { envSecrets } from "./secrets/env.ts";
import { googleSecrets } from "./secrets/google.ts";
import { keyVaultSecrets } from "./secrets/key_vault.ts";
import { memorySecretsConnector } from "./secrets/memory.ts";
import { onePasswordSecrets } from "./secrets/onepassword.ts";
import { redis } from "./storage/redis.ts";
import { denoKvStorage } from "./storage/deno_kv.ts";
import { driveStorage } from "./storage/drive.ts";
import { localFileStorage } from "./storage/local_file.ts";
import { memoryStorageConnector } from "./storage/memory.ts";
import { s3Storage } from "./storage/s3.ts";
import { costFirst } from "./strategies/cost_first.ts";
import { latencyFirst } from "./strategies/latency_first.ts";
import { loadBalanced } from "./strategies/load_balanced.ts";
import { prioritySelection } from "./strategies/priority_selection.ts";
import { rateLimitAware } from "./strategies/rate_limit_aware.ts";
import { roundRobin } from "./strategies/round_robin.ts";
import { sessionStickiness } from "./strategies/session_stickiness.ts";
import { stickUntilFailure } from "./strategies/stick_until_failure.ts";

/** A connector of any kind; its `kind` tells which. */
export type AnyConnector =
  | ProviderConnector
  | Connector<"strategy">
  | Connector<"secretStore">
  | Connector<"storage">
  | Connector<"observability">;

/** All connectors; the providers in the order in which they are detected and take their place in a pool. */
export const serverConnectors: readonly AnyConnector[] = [
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
  stickUntilFailure,
  roundRobin,
  costFirst,
  latencyFirst,
  prioritySelection,
  rateLimitAware,
  loadBalanced,
  sessionStickiness,
  envSecrets,
  dotenvSecrets,
  memorySecretsConnector,
  encryptedFileSecrets,
  awsSecrets,
  googleSecrets,
  keyVaultSecrets,
  onePasswordSecrets,
  redis,
  localFileStorage,
  memoryStorageConnector,
  s3Storage,
  driveStorage,
  denoKvStorage,
  consoleObservability,
];
