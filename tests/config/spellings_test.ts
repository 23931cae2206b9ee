/** Spellings of the specification, and of other programs, are answered with the spelling to write. */
import { assertEquals, assertMatch } from "@std/assert";
import { validate } from "../../src/config/build/validate.ts";
import { catchProblems, known } from "./_known.ts";

const providers = { "acme.llm.v1": {} };
const pools = { "chat-completion": {} };
const variable = (name: string) => `is the name of a variable, which is not read here: write "\${secrets:${name}}"`;

const foreign = (program: string, instead: string) =>
  `unknown key, which is ${program}'s: write ${instead} (see docs/migrating.md)`;

/** Documents, and what is said of them. */
const cases: readonly (readonly [document: object, ...lines: (string | RegExp)[]])[] = [
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
  ],
  [{ providers: { acme: {} }, models: { m: { provider: "acme" } } }],
  [{ providers: { main: { connector: "acme" } } }],
  ...[
    ...["os.environ/KEY", "os.environ.KEY", 'os.environ["KEY"]', "process.env.KEY", "env:KEY", "env/KEY", "$env:KEY"],
    ...["$KEY", "$(KEY)", "%KEY%", "{KEY}", "{env:KEY}", "{{KEY}}", "{{ env.KEY }}", "secrets:KEY", "{secrets:KEY}"],
  ].map((api_key) =>
    [{ providers: { "acme.llm.v1": { api_key } } }, `providers.acme.llm.v1.api_key: ${variable("KEY")}`] as const
  ),
  ...["${KEY}", "${env:KEY}", "${env.KEY}", "${secret:KEY}", "${secrets.KEY}", "${KEY:-none}", "${{ secrets.KEY }}"]
    .map((
      api_key,
    ) =>
      [
        { providers: { "acme.llm.v1": { api_key } } },
        'providers.acme.llm.v1.api_key: "${KEY}" refers to nothing: write "${secrets:KEY}"',
      ] as const
    ),
  [
    { providers: { "acme.llm.v1": { api_key: "ACME_API_KEY" } } },
    `providers.acme.llm.v1.api_key: ${variable("ACME_API_KEY")}`,
  ],
  [
    {
      providers: { "acme.llm.v1": { base_url: "os.environ/ACME_BASE", execution: { timeout: "$TIMEOUT" } } },
      proxy: { port: "$PORT", host: "%HOST%", cors: { enabled: "{{CORS}}", origins: ["$ORIGIN"] } },
    },
    `providers.acme.llm.v1.base_url: ${variable("ACME_BASE")}`,
    `providers.acme.llm.v1.execution.timeout: ${variable("TIMEOUT")}`,
    `proxy.port: ${variable("PORT")}`,
    `proxy.host: ${variable("HOST")}`,
    `proxy.cors.enabled: ${variable("CORS")}`,
    `proxy.cors.origins[0]: ${variable("ORIGIN")}`,
  ],
  [
    { providers: { "acme.llm.v1": { api_key: ["key-0123456789", "$KEY"] } } },
    `providers.acme.llm.v1.api_key[1]: ${variable("KEY")}`,
  ],
  [{ proxy: { auth: { tokens: ["os.environ/TOKEN"] } } }, `proxy.auth.tokens[0]: ${variable("TOKEN")}`],
  [{ proxy: { auth: { admin_tokens: ["$TOKEN"] } } }, `proxy.auth.admin_tokens[0]: ${variable("TOKEN")}`],
  ...["$2b$10$abcdefg", "ABC_KEY_1", "key-of-acme", "MIIB_x"].map((api_key) =>
    [{ providers: { "acme.llm.v1": { api_key } } }] as const
  ),
  [{ providers: { "acme.llm.v1": {} }, models: { TOKEN_KEY: { provider: "acme.llm.v1" } } }],
  [
    { model_list: [{ model_name: "x" }], litellm_settings: {}, general_settings: null, router_settings: {} },
    `model_list: ${foreign("LiteLLM", '"providers", "models" and "pools"')}`,
    `litellm_settings: ${foreign("LiteLLM", '"pools.<name>.retry", "proxy.request_timeout" and "observability"')}`,
    `general_settings: ${foreign("LiteLLM", '"proxy.auth" and "storage"')}`,
    `router_settings: ${foreign("LiteLLM", '"pools.<name>", "aliases" and "providers.<name>.budget"')}`,
  ],
  [
    { targets: [{ provider: "acme" }], virtual_key: "x", cb_config: {} },
    `targets: ${foreign("Portkey", '"providers" and "pools.<name>.models"')}`,
    `virtual_key: ${foreign("Portkey", '"providers.<name>.api_key"')}`,
    `cb_config: ${foreign("Portkey", '"pools.<name>.deactivation" and "recovery"')}`,
  ],
  [
    {
      providers: { "acme.llm.v1": { api_base: "https://a.example", custom_host: "https://b.example" } },
      models: { m: { provider: "acme.llm.v1", litellm_params: { model: "acme/small" }, api_key: "k" } },
      pools: { "chat-completion": { fallbacks: ["m"], targets: [], num_retries: 2 } },
    },
    `providers.acme.llm.v1.api_base: ${foreign("LiteLLM", '"base_url"')}`,
    `providers.acme.llm.v1.custom_host: ${foreign("Portkey", '"base_url"')}`,
    `models.m.litellm_params: ${
      foreign("LiteLLM", '"provider", "model", "limits" and "pricing", and the key in "providers"')
    }`,
    `models.m.api_key: ${foreign("LiteLLM", '"providers.<name>.api_key"')}`,
    `pools.chat-completion.fallbacks: ${foreign("LiteLLM", '"models" and "model_priority"')}`,
    `pools.chat-completion.targets: ${foreign("Portkey", '"models"')}`,
    `pools.chat-completion.num_retries: ${foreign("LiteLLM", '"retry.max_attempts"')}`,
  ],
  [
    { providers: null, "acme.llm.v1": { api_key: "k" }, proxy: null, port: 8080 },
    'acme.llm.v1: unknown key: indent it if it belongs to "providers", which is empty',
    'port: unknown key: indent it if it belongs to "proxy", which is empty',
  ],
  [
    { providers: null, "acme.llm.v1": { api_key: "k" }, pools: { "chat-completion": {} }, other: 1 },
    'acme.llm.v1: unknown key: indent it if it belongs to "providers", which is empty',
    /^other: unknown key; allowed: /,
  ],
  [
    { providers: { "acme.llm.v1": null, api_key: "k" }, pools: { "chat-completion": null, strategy: "round-robin" } },
    'providers.api_key: is a key of an entry: indent it below "acme.llm.v1", which is empty',
    'pools.strategy: is a key of an entry: indent it below "chat-completion", which is empty',
  ],
  [
    { pools: { p: { models: ["zeta/large", "zeta.any", "acme/large-2", "home.x"] } } },
    'pools.p.models[0]: no model "zeta/large": add "zeta.api.v1" to "providers"',
    'pools.p.models[1]: no model "zeta.any": add "zeta.api.v1" to "providers"',
    /^pools\.p\.models\[2\]: no model "acme\/large-2", did you mean /,
    'pools.p.models[3]: no model "home.x": add "home.local.v1" to "providers"',
  ],
  [
    { providers: { "zeta.api.v1": {} }, pools: { p: { models: ["acme/large", "large", "small", "zeta/none"] } } },
    'pools.p.models[1]: no model "large": add "acme.llm.v1" to "providers"',
    /^pools\.p\.models\[3\]: no model "zeta\/none"; allowed: /,
  ],
  [
    { providers: ["openai"], pools: [{ name: "chat" }] },
    "providers: expected an object, found a list: write the name of each entry as its key",
    "pools: expected an object, found a list: write the name of each entry as its key",
  ],
  [
    { providers: { "acme.llm.v1": "api_key:sk-0123456789" } },
    "providers.acme.llm.v1: expected an object, found a string: write a space after the colon",
  ],
  [{ secrets: { resolution: { cache_ttl: "1m" } }, proxy: { cors: { enabled: true } } }],
];

/** In the order of the document: what follows an empty section may belong to it. */
const withDefaults = (document: object) => ({ ...document, ...{ providers, pools, ...document } });

for (const [document, ...lines] of cases) {
  Deno.test(`${JSON.stringify(document)} is answered with what to write`, () => {
    const problems = catchProblems(() => validate(withDefaults(document), { knownConnectors: known }));
    assertEquals(problems.length, lines.length, problems.join("\n"));
    lines.forEach((line, index) => {
      if (typeof line === "string") assertEquals(problems[index], line);
      else assertMatch(problems[index]!, line);
    });
  });
}
