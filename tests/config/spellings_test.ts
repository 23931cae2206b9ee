/** Spellings of the specification, and of other programs, are answered with the spelling to write. */
import { assertEquals } from "@std/assert";
import { validate } from "../../src/config/build/validate.ts";
import { catchProblems, known } from "./_known.ts";

const providers = { "acme.llm.v1": {} };
const pools = { "chat-completion": {} };
const variable = (name: string) => `is the name of a variable, which is not read here: write "\${secrets:${name}}"`;

/** Documents, and what is said of them. */
const cases: readonly (readonly [document: object, ...lines: string[]])[] = [
  [
    { "secret-store": { resolution: { cache_ttl: "1m", fail_on_missing: false } } },
    'secret-store.resolution.cache_ttl: unknown key: write "secrets.resolution.cache_ttl"',
    'secret-store.resolution.fail_on_missing: unknown key: write "secrets.resolution.fail_on_missing"',
  ],
  [
    { "secret-store.resolution.cache_ttl": "1m" },
    'secret-store.resolution.cache_ttl: unknown key: write "secrets.resolution.cache_ttl"',
  ],
  [
    { secrets: { "secret-store.resolution.cache_ttl": "1m" } },
    'secrets.secret-store.resolution.cache_ttl: unknown key: write "resolution.cache_ttl"',
  ],
  [
    { provider: { execution: { timeout: "1m" }, budget: { daily_limit: 1 } } },
    'provider.execution.timeout: unknown key: write "providers.<name>.execution.timeout"',
    'provider.budget.daily_limit: unknown key: write "providers.<name>.budget.daily_limit"',
  ],
  [
    { providers: { "acme.llm.v1": { "provider.execution.timeout": "1m", provider: { enabled: true } } } },
    'providers.acme.llm.v1.provider.execution.timeout: unknown key: write "execution.timeout"',
    'providers.acme.llm.v1.provider.enabled: unknown key: write "enabled"',
  ],
  [
    { "rotation.selection.model_priority": ["acme.small"] },
    'rotation.selection.model_priority: unknown key: write "pools.<name>.model_priority"',
  ],
  [
    { pools: { "chat-completion": { rotation: { selection: { rate_limit: { max_rpm: 1 } } } } } },
    'pools.chat-completion.rotation.selection.rate_limit.max_rpm: unknown key: write "rate_limit.max_rpm"',
  ],
  [
    { storage: { "storage.persistence.format": "json" } },
    'storage.storage.persistence.format: unknown key: write "persistence.format"',
  ],
  [
    { observability: { "observability.events.include_metadata": true } },
    'observability.observability.events.include_metadata: unknown key: write "events.include_metadata"',
  ],
  [
    { discovery: { "discovery.health.timeout": "1s" } },
    'discovery.discovery.health.timeout: unknown key: write "health.timeout"',
  ],
  [
    { proxy: { endpoints: ["/v1/chat/completions", "v1/models", "/embeddings", "/v1beta/models"] } },
    'proxy.endpoints[0]: unknown value "/v1/chat/completions": write "chat/completions"',
    'proxy.endpoints[1]: unknown value "v1/models": write "models"',
    'proxy.endpoints[2]: unknown value "/embeddings": write "embeddings"',
    'proxy.endpoints[3]: unknown value "/v1beta/models": write "v1beta/models"',
  ],
  [
    { proxy: { endpoints: ["/health", "metrics", "/mesh/status"] } },
    'proxy.endpoints[0]: "/health" is always served: leave it out',
    'proxy.endpoints[1]: "metrics" is always served: leave it out',
    'proxy.endpoints[2]: "/mesh/status" is always served: leave it out',
  ],
  [
    { proxy: { cors: true }, discovery: { health: false, sync: true } },
    'proxy.cors: expected an object, found true: write "{ enabled: true }"',
    'discovery.health: expected an object, found false: write "{ enabled: false }"',
    'discovery.sync: expected an object, found true: write "{ enabled: true }"',
  ],
  [
    {
      providers: { main: { connector: "acme.llm.v1" } },
      models: { m: { provider: "acme" }, n: { provider: "acme.llm.v1" } },
    },
    'models.m.provider: no provider "acme": write "main"',
    'models.n.provider: no provider "acme.llm.v1": write "main"',
  ],
  [
    { providers: { acme: {} }, models: { m: { provider: "acme" } } },
    'providers.acme: no connector "acme" is registered: name the entry "acme.llm.v1", or add "connector: acme.llm.v1"',
  ],
  [
    { providers: { main: { connector: "acme" } } },
    'providers.main.connector: no connector "acme" is registered: write "acme.llm.v1"',
  ],
  ...["os.environ/KEY", "$KEY", "%KEY%", "process.env.KEY", "env:KEY", "{{ env.KEY }}"].map((api_key) =>
    [{ providers: { "acme.llm.v1": { api_key } } }, `providers.acme.llm.v1.api_key: ${variable("KEY")}`] as const
  ),
  [
    { providers: { "acme.llm.v1": { api_key: ["key-0123456789", "$KEY"] } } },
    `providers.acme.llm.v1.api_key[1]: ${variable("KEY")}`,
  ],
  [{ proxy: { auth: { tokens: ["os.environ/TOKEN"] } } }, `proxy.auth.tokens[0]: ${variable("TOKEN")}`],
  [{ proxy: { auth: { admin_tokens: ["$TOKEN"] } } }, `proxy.auth.admin_tokens[0]: ${variable("TOKEN")}`],
  [{ providers: { "acme.llm.v1": { api_key: "$2b$10$abcdefg" } } }],
  [{ secrets: { resolution: { cache_ttl: "1m" } }, proxy: { cors: { enabled: true } } }],
];

for (const [document, ...lines] of cases) {
  Deno.test(`${JSON.stringify(document)} is answered with what to write`, () => {
    assertEquals(catchProblems(() => validate({ providers, pools, ...document }, { knownConnectors: known })), lines);
  });
}
