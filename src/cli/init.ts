/**
 * `modelmesh init`: writes a commented configuration for the providers detected.
 * @module
 */
import { detectProviders } from "../config/detect/detect.ts";
import { detectFormat, loadDocument } from "../config/load/load.ts";
import { readSettings } from "../config/load/sources.ts";
import { Engine } from "../engine/engine.ts";
import type { Environment } from "../contracts/runtime.ts";
import { MeshError, NoProvidersError } from "../errors.ts";
import { createConfigContext } from "../registry/catalogue.ts";
import { describeDenial, toFolder } from "../util/denial.ts";
import { type Command, type CommandParts, UsageError } from "./command.ts";
import { counted } from "./table.ts";

const defaultPath = "modelmesh.yaml";

export const init: Command = {
  help: `Usage: modelmesh init [file] [options]

Writes a commented configuration (${defaultPath}) for the providers whose API keys are in the environment, or a template if
there are none. Keys are referenced by name and not written. The file is valid, and its comments describe further settings.

Options:
  --force            Overwrite an existing file
  --env-file <file>  Load variables from a dotenv file; repeatable. Variables already set take precedence
  --json             Print {"ok", "path", "providers", "pools"} as JSON
  --help             Show this help

Examples:
  modelmesh init
  modelmesh init --env-file .env config/mesh.yaml
  modelmesh init --force

Exit code: 0 done, 1 failed, 2 usage error
`,
  values: [],
  switches: ["force"],
  maxArguments: 1,
  async run({ positional: [path = defaultPath], json, has }, parts) {
    if (!/\.ya?ml$/i.test(path)) {
      throw new UsageError("The configuration has comments: the file name has to end in .yaml or .yml");
    }
    const { text, providers } = textFor(parts);
    const pools = await checkedPools(text, path, parts);
    await write(path, text, { parts, isForced: has("force") });
    const { shell } = parts;
    if (json) shell.stdout.write(`${JSON.stringify({ ok: true, path, providers, pools })}\n`);
    else {
      const found = providers.length === 0
        ? "No provider was detected: set OPENAI_API_KEY, or add another provider to the file"
        : `${counted(providers.length, "provider")}: ${providers.join(", ")}`;
      shell.stdout.write(`Wrote ${path}. ${found}\n`);
      shell.stderr.write(`Next: modelmesh check ${path} --secrets --probe, then modelmesh proxy --config ${path}\n`);
    }
    return 0;
  },
};

function textFor(parts: CommandParts): { text: string; providers: string[] } {
  const { providers: connectors, env } = createConfigContext(new Engine(parts));
  try {
    const { providers } = detectProviders(connectors, env);
    return { text: configText(providers, env), providers: providers.map(({ entry }) => entry.id) };
  } catch (error) {
    if (!NoProvidersError.isInstance(error)) throw error;
    return { text: configText([], env), providers: [] };
  }
}

/** Parses the text as the proxy will, and returns the names of its pools. */
async function checkedPools(text: string, path: string, parts: CommandParts): Promise<string[]> {
  detectFormat(path);
  const files = { ...parts.runtime.files!, readText: () => Promise.resolve(text) };
  const document = await loadDocument(path, files);
  const settings = readSettings(document, createConfigContext(new Engine(parts)), {
    source: path,
    mayLackProviders: true,
  });
  return [...settings.pools.keys()];
}

async function write(
  path: string,
  text: string,
  { parts: { runtime }, isForced }: { readonly parts: CommandParts; readonly isForced: boolean },
): Promise<void> {
  const files = runtime.files!;
  const isThere = await files.readText(path).then(() => true, () => false);
  if (isThere && !isForced) {
    throw new MeshError(`"${path}" already exists: use another name, or --force to overwrite it`);
  }
  try {
    await (isThere ? files.replaceText(path, text) : files.writeText(path, text, { createNew: true }));
  } catch (error) {
    const reason = describeDenial(error, { path: isThere ? toFolder(path) : path }) ??
      "its directory does not exist, or it is not writable";
    throw new MeshError(`Cannot write "${path}": ${reason}`, {
      cause: error,
    });
  }
}

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
function configText(providers: readonly Detected[], env: Environment): string {
  return `# ModelMesh configuration, created by "modelmesh init". Reference of all keys: docs/configuration.md
#   modelmesh check <this file> --secrets --probe    validates it, and probes each provider once
#   modelmesh proxy --config <this file>             serves it

# \${secrets:NAME} is read from the environment. "modelmesh secrets --help" describes other stores.
secrets:
  store: mesh.env.v1

providers:
${providers.length === 0 ? exampleProvider : providers.map((provider) => providerText(provider, env)).join("\n")}
# Requests use the name of a pool as "model". A pool contains all models with its capability, or those in "models: [a, b]".
pools:
${formatInitPools(providers)}
# Maximum total cost in USD. Providers, pools and clients can have their own budgets.
# budget:
#   daily_limit: 20
#   monthly_limit: 300

# Standby states, limits and budgets persist here. Several proxies can share a Redis or PostgreSQL: connector:
# redis.redis.v1 or mesh.postgres.v1
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
