import { allowedEndpoints } from "../support/_endpoints.ts";
import { assertEquals } from "@std/assert";
import { acme, allowed, describeFile, type MalformedFile } from "./_malformed.ts";

/** Documents in which something is not what its key takes. */
const malformed: readonly MalformedFile[] = [
  [
    "several mistakes at once",
    `providers:
  acme.lm.v1:
    api_key: k
    execution: { timeout: 30, max_retries: many }
models:
  fast: { provider: acme.lm.v1, features: { vison: true } }
pools:
  chat: { capability: chat-completion, models: [fast, slow], strategy: roundrobin, retry.max_attempt: 1 }
aliases: { gpt: chatt }
proxy: { port: 80800, cors: { origins: "*" } }
polls: {}
`,
    'providers.acme.lm.v1.execution.timeout: expected a duration above 0 such as "500ms" or "1h30m", found 30: write "30s" or "30ms"',
    'providers.acme.lm.v1.execution.max_retries: expected an integer from 0 to 10, found "many"',
    `models.fast.features.vison: unknown key, did you mean "vision"? (${allowed("models.*.features", "vison")})`,
    `pools.chat.retry.max_attempt: unknown key, did you mean "max_attempts"? (${
      allowed("pools.*.retry", "max_attempt")
    })`,
    "proxy.port: expected an integer from 0 to 65535, found 80800",
    "proxy.cors.origins: expected a list, found a string",
    `polls: unknown key, did you mean "pools"? (${allowed("", "polls")})`,
    'providers.acme.lm.v1: no connector "acme.lm.v1" is registered, did you mean "acme.llm.v1"? (allowed: "acme.llm.v1", "zeta.api.v1", "open.compatible.v1", "home.local.v1")',
    'pools.chat.strategy: no strategy "roundrobin" is registered, did you mean "round-robin"? (allowed: "stick-until-failure", "round-robin", "priority-selection")',
    'pools.chat.models[1]: no model "slow"; allowed: "fast"',
    'aliases.gpt: no pool or model "chatt", did you mean "chat"? (allowed: "chat", "fast")',
  ],
  [
    "wrong types of whole sections",
    `providers: []
models: none
pools: 5
aliases: [a]
capabilities: legal.review
budget: 10
storage: true
observability: []
discovery: no
connectors: x
proxy: 8080
secrets: mesh.env.v1
`,
    "providers: expected an object, found a list: write the name of each entry as its key",
    "models: expected an object, found a string",
    "pools: expected an object, found a number",
    "aliases: expected an object, found a list: write the name of each entry as its key",
    "capabilities: expected a list, found a string",
    "budget: expected an object, found a number",
    "storage: expected an object, found a boolean",
    "observability: expected an object, found a list",
    "discovery: expected an object, found a string",
    "connectors: expected an object, found a string",
    "proxy: expected an object, found a number",
    "secrets: expected an object, found a string",
  ],
  [
    "keys of other programs",
    `${acme}model_list: []
router_settings: { routing_strategy: simple }
`,
    'model_list: unknown key, which is LiteLLM\'s: write "providers", "models" and "pools" (see docs/migrating.md)',
    'router_settings: unknown key, which is LiteLLM\'s: write "pools.<name>", "aliases" and ' +
    '"providers.<name>.budget" (see docs/migrating.md)',
  ],
  [
    "camel case",
    `${acme}pools: { chat-completion: { maxAttempts: 2, modelPriority: [acme.small] } }
`,
    'pools.chat-completion.maxAttempts: unknown key, did you mean "retry.max_attempts"?',
    `pools.chat-completion.modelPriority: unknown key, did you mean "model_priority"? (${
      allowed("pools.*", "model_priority")
    })`,
  ],
  [
    "dotted keys, misspelt",
    `${acme}pools: { chat-completion: { retry.max_atempts: 2, deactivation.retrylimit: 3 } }
proxy.cors.enable: false
proxy.hots: x
provider.execution.timeout: 30s
`,
    `pools.chat-completion.retry.max_atempts: unknown key, did you mean "max_attempts"? (${
      allowed("pools.*.retry", "max_atempts")
    })`,
    `pools.chat-completion.deactivation.retrylimit: unknown key, did you mean "retry_limit"? (${
      allowed("pools.*.deactivation", "retrylimit")
    })`,
    `proxy.cors.enable: unknown key, did you mean "enabled"? (${allowed("proxy.cors", "enable")})`,
    `proxy.hots: unknown key, did you mean "host"? (${allowed("proxy", "hots")})`,
    'provider.execution.timeout: unknown key: write "providers.<name>.execution.timeout"',
  ],
  [
    "a key given dotted and nested",
    `${acme}proxy: { port: 1 }
proxy.port: 2
`,
    "proxy.port: is set twice, with different values",
  ],
  [
    "a key with an invisible mark",
    "\ufeffpools\u200b: {}\nproxy\u00a0: {}\n",
    `"pools\\u{200b}": unknown key, did you mean "pools"? (${allowed("", "pools\u{200b}")})`,
    `"proxy\\u{a0}": unknown key, did you mean "proxy"? (${allowed("", "proxy\u{a0}")})`,
  ],
  [
    "durations and sizes without units, in words, negative, too long",
    `${acme}pools:
  chat-completion:
    retry: { initial_delay: 500, max_delay: 10 s }
    recovery: { cooldown: 1.5m, probe_interval: -5m }
    rate_limit: { min_delta: 1 minute }
    deactivation: { error_rate_window: 99999w }
proxy: { body_limit: 32, upload_limit: 512 MB, request_timeout: "600", drain_delay: 5M }
`,
    'pools.chat-completion.retry.initial_delay: expected a duration such as "500ms" or "1h30m", found 500: write "500s" or "500ms"',
    'pools.chat-completion.retry.max_delay: expected a duration such as "500ms" or "1h30m", found "10 s"',
    'pools.chat-completion.recovery.cooldown: expected a duration above 0 such as "500ms" or "1h30m", found "1.5m"',
    'pools.chat-completion.recovery.probe_interval: expected a duration above 0 such as "500ms" or "1h30m", found "-5m"',
    'pools.chat-completion.rate_limit.min_delta: expected a duration such as "500ms" or "1h30m", found "1 minute"',
    'pools.chat-completion.deactivation.error_rate_window: expected a duration above 0 such as "500ms" or "1h30m", found "99999w"',
    'proxy.body_limit: expected a size such as "512MB" or "64KiB", found 32: write "32B" or "32KiB"',
    'proxy.upload_limit: expected a size such as "512MB" or "64KiB", found "512 MB"',
    'proxy.request_timeout: expected a duration above 0 such as "500ms" or "1h30m", found "600"',
    'proxy.drain_delay: expected a duration such as "500ms" or "1h30m", found "5M"',
  ],
  [
    "booleans of YAML 1.1",
    `${acme}proxy: { cors: { enabled: yes } }
secrets: { resolution: { fail_on_missing: off } }
`,
    'proxy.cors.enabled: expected true or false, found "yes"',
    'secrets.resolution.fail_on_missing: expected true or false, found "off"',
  ],
  [
    "numbers in quotes and beyond",
    `${acme}pools: { chat-completion: { retry: { max_attempts: "2" }, rate_limit: { max_rpm: 1.5 }, budget: { daily_limit: 5$ } } }
proxy: { port: -1, max_concurrent: 1e9999 }
`,
    'pools.chat-completion.retry.max_attempts: expected an integer from 0 to 10, found "2"',
    "pools.chat-completion.rate_limit.max_rpm: expected an integer of 1 or more, found 1.5",
    'pools.chat-completion.budget.daily_limit: expected a number of 0 or more, found "5$"',
    "proxy.port: expected an integer from 0 to 65535, found -1",
    "proxy.max_concurrent: expected an integer of 1 or more, found Infinity",
  ],
  [
    "references where none can stand",
    `providers:
  acme.llm.v1: { enabled: "\${secrets:ON}", connector: "\${secrets:C}", execution: { timeout: "\${secrets:T}" } }
pools: { "chat-completion": { strategy: "\${secrets:S}", retry: { backoff: "\${secrets:B}" } } }
secrets: { store: mesh.dotenv.v1, path: "\${secrets:P}", nested: { token: "\${secrets:X}" } }
`,
    "providers.acme.llm.v1.connector: must be a literal: a secret reference is not supported here",
    "pools.chat-completion.strategy: must be a literal: a secret reference is not supported here",
    'pools.chat-completion.retry.backoff: expected one of "fixed", "exponential_jitter", "retry_after", found a secret reference, which must be a string',
    "secrets.path: must be a literal: a secret reference is not supported here",
    "secrets.nested.token: cannot be a secret reference: this section configures the secret store",
  ],
  [
    "references that are none",
    `providers:
  acme.llm.v1:
    api_key: [ '\${ACME_KEY}', '\${env:ACME_KEY}', '\${secrets:', '\${secrets:}', '\${secrets:a b}' ]
    config: { deep: [ { x: '\${secret:A}' } ] }
`,
    'providers.acme.llm.v1.api_key[0]: "${ACME_KEY}" refers to nothing: write "${secrets:ACME_KEY}"',
    'providers.acme.llm.v1.api_key[1]: "${ACME_KEY}" refers to nothing: write "${secrets:ACME_KEY}"',
    'providers.acme.llm.v1.api_key[2]: unclosed secret reference: write "${secrets:NAME}", or "$${secrets:" for the literal characters',
    'providers.acme.llm.v1.api_key[3]: secret reference without a name: write "${secrets:NAME}", or "$${secrets:" for the literal characters',
    'providers.acme.llm.v1.api_key[4]: invalid character in a secret\'s name: write "${secrets:NAME}", or "$${secrets:" for the literal characters',
    'providers.acme.llm.v1.config.deep[0].x: "${A}" refers to nothing: write "${secrets:A}"',
  ],
  [
    "names with blanks and controls",
    `${acme}pools: { " chat": { models: [acme.small] } }
aliases: { "": acme.small, "a\\tb": acme.small }
`,
    'pools." chat": a name has 1 to 200 characters, no control characters and no surrounding spaces',
    'aliases."": a name has 1 to 200 characters, no control characters and no surrounding spaces',
    'aliases."a\\tb": a name has 1 to 200 characters, no control characters and no surrounding spaces',
  ],
  [
    "a proxy that cannot listen",
    `proxy:
  host: http://localhost:8080/
  port: 99999
  endpoints: [chat, /v1/models]
  listener: bun
  allowed_hosts: [ 'a b' ]
  auth: { method: basic, tokens: [ 12345, ' ', 'zwei wörter', { name: x } ] }
  cors: { origins: [ 'https://a.example/path' ], methods: [ get ], max_age: 600 }
`,
    'proxy.host: expected a host name or an IP address without scheme, port or path, such as "127.0.0.1", found "http://localhost:8080/"',
    "proxy.port: expected an integer from 0 to 65535, found 99999",
    `proxy.endpoints[0]: unknown value "chat", did you mean "chat/completions"? ${allowedEndpoints}`,
    'proxy.endpoints[1]: unknown value "/v1/models": write "models"',
    'proxy.listener: unknown value "bun"; allowed: "deno", "node"',
    'proxy.allowed_hosts[0]: expected a host name or an IP address without scheme, port or path, such as "127.0.0.1", found "a b"',
    'proxy.auth.method: unknown value "basic"; allowed: "bearer"',
    "proxy.auth.tokens[0]: expected a string, found a number: put it in quotes",
    "proxy.auth.tokens[1]: expected a string, found a blank one",
    "proxy.auth.tokens[2]: has a space, a control or a non-ASCII character at position 5, which a key must not contain",
    'proxy.auth.tokens[3].token: missing: this key is required, or "token_hash"',
    'proxy.cors.origins[0]: expected "*" or an origin such as "https://app.example.com", in lower case and without a path, found "https://a.example/path"',
    'proxy.cors.methods[0]: unknown value "get", did you mean "GET"? (allowed: "GET", "POST", "DELETE", "OPTIONS")',
    'proxy.cors.max_age: expected a duration such as "500ms" or "1h30m", found 600: write "600s" or "600ms"',
  ],
  [
    "addresses that are none",
    `providers:
  acme.llm.v1: { base_url: api.acme.example }
  zeta.api.v1: { base_url: 'https://me:secret@zeta.example/v1' }
  open.compatible.v1: { api_key: 'line\\nbreak' }
`,
    'providers.acme.llm.v1.base_url: expected an http or https URL such as "https://api.example.com/v1", found "api.acme.example"',
    'providers.zeta.api.v1.base_url: expected an http or https URL such as "https://api.example.com/v1" without a user name or password, found a string',
    'providers.open.compatible.v1.base_url: missing: the connector "open.compatible.v1" has no default URL',
  ],
  [
    "a model of nothing",
    `${acme}models:
  a:
  b: { provider: acme.llm.v1, weight: 0, constraints: { context_window: 128k, max_file_size: 20 }, pricing: { input: free }, limits: { rpm: 0 } }
`,
    "models.a.provider: missing: this key is required",
    "models.b.weight: expected a number above 0, up to 1000, found 0",
    'models.b.constraints.context_window: expected an integer of 1 or more, found "128k"',
    'models.b.constraints.max_file_size: expected a size such as "512MB" or "64KiB", found 20: write "20B" or "20KiB"',
    'models.b.pricing.input: expected a number of 0 or more, found "free"',
    "models.b.limits.rpm: expected an integer of 1 or more, found 0",
  ],
  [
    "a text over several lines where a key stands",
    `providers:
  acme.llm.v1:
    api_key: |
      first
      second
`,
    "providers.acme.llm.v1.api_key: contains a line break or another control character",
  ],
];

Deno.test("a document with values and keys that are none is refused with everything that is wrong with it", async () => {
  for (const [what, content, ...problems] of malformed) assertEquals(await describeFile(content), problems, what);
});
