/**
 * The text of a commented configuration.
 * @module
 */
import type { detectProviders, Environment } from "../config/detect/detect.ts";

type Detected = ReturnType<typeof detectProviders>["providers"][number];

/** Pools offered when a provider serves them: name, capability, endpoint. */
const pools = [
  ["chat", "chat-completion", "POST /v1/chat/completions, /v1/messages and other chat APIs"],
  ["embeddings", "text-embeddings", "POST /v1/embeddings"],
  ["images", "text-to-image", "POST /v1/images/generations"],
  ["speech", "text-to-speech", "POST /v1/audio/speech"],
  ["transcription", "speech-to-text", "POST /v1/audio/transcriptions"],
  ["moderation", "content-moderation", "POST /v1/moderations"],
  ["rerank", "reranking", "POST /v1/rerank"],
  ["web", "web-search", "POST /v1/search"],
] as const;

/**
 * Returns the text of a configuration.
 *
 * @param providers Detected providers; without any, the text has a template for one.
 * @param env The environment they were detected in.
 */
export function configText(providers: readonly Detected[], env: Environment): string {
  return `# ModelMesh configuration, created by "modelmesh init". Reference of all keys: docs/configuration.md
#   modelmesh check <this file> --secrets --probe    validates it, and probes each provider once
#   modelmesh proxy --config <this file>             serves it

# \${secrets:NAME} is read from the environment. "modelmesh secrets --help" describes other stores.
secrets:
  store: mesh.env.v1

providers:
${providers.length === 0 ? exampleProvider : providers.map((one) => providerText(one, env)).join("\n")}
# Requests use the name of a pool as "model". A pool contains all models with its capability, or those in "models: [a, b]".
pools:
${formatInitPools(providers)}
# Maximum total cost in USD. Providers, pools and clients can have their own budgets.
# budget:
#   daily_limit: 20
#   monthly_limit: 300

# Standby states, limits and budgets persist here. Several proxies can share a Redis: connector: redis.redis.v1
storage:
  connector: mesh.local-file.v1
  path: ./.modelmesh/state.json

# Records of requests and events, in addition to the proxy's output on standard error.
# observability:
#   logging:
#     connector: mesh.local-file.v1
#     path: ./.modelmesh/requests.jsonl

proxy:
  host: 127.0.0.1 # 0.0.0.0 for access from other machines: then require a token
  port: 8080
  # auth:
  #   tokens:
  #     - \${secrets:MESH_TOKEN} # administrator
  #     - { token: "\${secrets:WEBSITE_TOKEN}", name: website, pools: [chat], rpm: 60, budget: { daily_limit: 5 } }
`;
}

const exampleProvider =
  `  # No provider's API key was found in the environment. Set OPENAI_API_KEY, or use another connector id here.
  openai.llm.v1:
    api_key: \${secrets:OPENAI_API_KEY}
`;

function providerText({ connector, entry, source }: Detected, env: Environment): string {
  const lines = [`  ${entry.id}: # by ${source}`];
  if (entry.apiKeys.length > 0) lines.push(`    api_key: \${secrets:${source}}`);
  if (entry.baseUrl !== undefined) lines.push(`    base_url: ${JSON.stringify(entry.baseUrl)}`);
  const required = Object.entries(connector.detection?.requires ?? {}).flatMap(([setting, variables]) => {
    const variable = variables.find((name) => (env(name)?.trim() ?? "") !== "");
    return variable === undefined ? [] : [`      ${setting}: \${secrets:${variable}}`];
  });
  if (required.length > 0) lines.push("    config:", ...required);
  if (!connector.local) {
    lines.push(
      "    # budget: { daily_limit: 5 } # USD; when exhausted, its models are in standby until the next UTC day",
    );
  }
  return `${lines.join("\n")}\n`;
}

/** Returns a pool for each capability that a detected provider has a default model for; else one for chat. */
function formatInitPools(providers: readonly Detected[]): string {
  const isServed = (capability: string) =>
    providers.some(({ connector: { models } }) =>
      (models.length === 0 && capability === "chat-completion") ||
      models.some(({ defaultFor = [] }) => defaultFor.includes(capability))
    );
  const served = pools.filter(([, capability]) => isServed(capability));
  return (served.length === 0 ? pools.slice(0, 1) : served).map(([name, capability, purpose], index) =>
    `  ${name}: # ${purpose}
    capability: ${capability}
    strategy: stick-until-failure
${index > 0 ? "" : chatComments}`
  ).join("\n");
}

const chatComments =
  `    # others: round-robin, cost-first, latency-first, priority, rate-limit-aware, load-balanced, session-stickiness
    # retry: { max_attempts: 2 }        # retries on the same model
    # deactivation: { retry_limit: 3 }  # consecutive failures before standby
    # recovery: { cooldown: 60s }       # duration of the standby
`;
