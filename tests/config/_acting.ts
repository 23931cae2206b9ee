/** A document in which every key can act, and what each key is set to there. */
import type { Field } from "../../src/config/schema/field.ts";

/** The document. Names stand for what is special about an entry. */
export const acting: Readonly<Record<string, unknown>> = {
  providers: {
    hosted: { connector: "openai.llm.v1", api_key: ["key-one-0123456789", "key-two-0123456789"] },
    server: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:9/v1", batch: { supported: true } },
    gateway: { connector: "openrouter.gateway.v1", api_key: "key-one-0123456789" },
    oauth: {
      connector: "openai.compatible.v1",
      base_url: "http://127.0.0.1:9/v1",
      auth: {
        method: "oauth",
        token_url: "https://login.example.com/token",
        client_id: "mesh",
        client_secret: "secret-0123456789",
      },
    },
    account: {
      connector: "openai.compatible.v1",
      base_url: "http://127.0.0.1:9/v1",
      auth: { method: "service_account", credentials: "${secrets:ACCOUNT}" },
    },
  },
  models: {
    chat: { provider: "hosted", capabilities: ["chat-completion"], pricing: { input: 1, output: 1 } },
    embedder: { provider: "hosted", capabilities: ["text-embeddings"], pricing: { input: 1 } },
    voice: { provider: "hosted", capabilities: ["text-to-speech"], pricing: { per_million_characters: 1 } },
    scribe: { provider: "hosted", capabilities: ["speech-to-text"], pricing: { per_minute: 1 } },
    painter: { provider: "hosted", capabilities: ["text-to-image"], pricing: { per_image: 1 } },
    finder: { provider: "hosted", capabilities: ["web-search"], pricing: { per_search: 1 } },
    reader: { provider: "hosted", capabilities: ["document-parsing"], pricing: { per_page: 1 } },
  },
  guards: { personal: { connector: "mesh.guard.pii.v1" } },
  pools: {
    "*": { guards: ["personal"] },
    talk: {
      models: ["chat", "embedder", "voice", "scribe", "painter", "finder", "reader"],
      strategy: "load-balanced",
      fallback_strategy: "rate-limit-aware",
      model_priority: ["chat"],
      deactivation: { error_rate_threshold: 0.5, request_limit: 9, maintenance_window: "0 3 * * 0" },
      provider_deactivation: "on_api_outage",
    },
  },
  budget: { daily_limit: 1 },
  teams: { red: {}, blue: {} },
  tags: { beta: {} },
  storage: { connector: "mesh.local-file.v1", sync_policy: "periodic" },
  cache: {},
  observability: {
    routing: { connector: "mesh.local-file.v1", path: "./routing.jsonl" },
    logging: { connector: "mesh.local-file.v1", path: "./log.jsonl", level: "full" },
    statistics: { connector: "mesh.local-file.v1", path: "./statistics.jsonl" },
  },
  discovery: {
    sync: { interval: "1h" },
    health: { interval: "1h" },
    catalogue: { url: "https://one.example.com/c.json", public_key: "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=" },
  },
  proxy: {},
};

/** Where a key of an entry acts, if not in the first one that the document has. */
export const locations: Readonly<Record<string, string>> = {
  "providers.*": "providers.hosted",
  "providers.*.base_url": "providers.server.base_url",
  "providers.*.connector": "providers.server.connector",
  ...Object.fromEntries(
    [
      "discovery.model_details",
      "discovery.capability_query",
      "pricing.query",
      "quota.query_current",
      "quota.query_remaining",
    ]
      .map((key) => [`providers.*.${key}`, `providers.gateway.${key}`]),
  ),
  "providers.*.auth.token_url": "providers.oauth.auth.token_url",
  "providers.*.auth.client_id": "providers.oauth.auth.client_id",
  "providers.*.auth.client_secret": "providers.oauth.auth.client_secret",
  "providers.*.auth.refresh_token": "providers.oauth.auth.refresh_token",
  "providers.*.auth.scope": "providers.oauth.auth.scope",
  "providers.*.auth.credentials": "providers.account.auth.credentials",
  "models.*": "models.chat",
  "models.*.embedding_space": "models.embedder.embedding_space",
  "models.*.voices": "models.voice.voices",
  "models.*.response_formats": "models.voice.response_formats",
  "models.*.pricing.per_character": "models.voice.pricing.per_character",
  "models.*.pricing.per_page": "models.reader.pricing.per_page",
  "models.*.pricing.per_million_characters": "models.voice.pricing.per_million_characters",
  "models.*.pricing.per_minute": "models.scribe.pricing.per_minute",
  "models.*.pricing.per_image": "models.painter.pricing.per_image",
  "models.*.pricing.per_search": "models.finder.pricing.per_search",
  "guards.*": "guards.personal",
  "pools.*": "pools.talk",
  "teams.*": "teams.red",
  "tags.*": "tags.beta",
};

const provider = { complete: () => {}, stream: () => {}, getPricing: () => undefined };
const strategy = { select: () => undefined, score: () => 0 };

/** Two values of keys for which any two will not do, and what has to be beside them. */
export const values: Readonly<Record<string, readonly [one: unknown, other: unknown]>> = {
  "secrets.store": ["mesh.env.v1", "mesh.dotenv.v1"],
  "secrets.path": ["./one.env", "./two.env"],
  "secrets.region": ["eu-central-1", "us-east-1"],
  "providers.*.connector": ["openai.compatible.v1", "vllm.local.v1"],
  "providers.*.instance": [provider, { ...provider }],
  "providers.*.api_key": ["key-one-0123456789", "key-two-0123456789"],
  "providers.*.auth.api_key": ["key-one-0123456789", "key-two-0123456789"],
  "providers.*.auth.credentials": ["${secrets:ONE}", "${secrets:TWO}"],
  "providers.*.auth.method": ["api_key", "oauth"],
  "providers.*.base_url": ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"],
  "providers.*.execution.base_url": ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"],
  "providers.*.auth.token_url": ["https://one.example.com", "https://two.example.com"],
  "providers.*.headers": [{ "x-team": "one" }, { "x-team": "two" }],
  "providers.*.config": [{ responses: true }, { responses: false }],
  "models.*.provider": ["hosted", "server"],
  "models.*.base_model": ["gpt-4o", "gpt-4o-mini"],
  "models.*.capabilities": [["chat-completion"], ["translation"]],
  "models.*.voices": [{ alloy: "Anna" }, { alloy: "Bert" }],
  "models.*.parameters.rename": [{ seed: "random_seed" }, { seed: "seeds" }],
  "models.*.parameters.fill": [{ store: true }, { store: false }],
  "models.*.parameters.apis": [["chat"], ["chat", "responses"]],
  "models.*.parameters.efforts": [{ none: { a: 1 } }, { none: { a: 2 } }],
  "pools.*.capability": ["chat-completion", "text-generation"],
  "pools.*.models": [["chat", "embedder"], ["chat"]],
  "pools.*.providers": [["hosted"], ["hosted", "server"]],
  "pools.*.excluded_providers": [["server"], ["oauth"]],
  "pools.*.model_priority": [["chat"], ["voice"]],
  "pools.*.provider_priority": [["hosted"], ["openai"]],
  "pools.*.strategy": [strategy, "round-robin"],
  "pools.*.fallback_strategy": ["cost-first", "latency-first"],
  "pools.*.deactivation.maintenance_window": ["0 3 * * 0", "0 4 * * 0"],
  "pools.*.provider_recovery": ["on_manual", undefined],
  "pools.*.retry.non_retryable_codes": [[418], [419]],
  "providers.*.error.non_retryable_codes": [[418], [419]],
  aliases: [{ other: "chat" }, { other: "voice" }],
  capabilities: [["understanding.text-understanding.reading"], ["understanding.text-understanding.rating"]],
  "storage.connector": ["mesh.local-file.v1", "mesh.deno-kv.v1"],
  "cache.storage.connector": ["mesh.memory.v1", "redis.redis.v1"],
  "cache.scope": ["team", "all"],
  "cache.pools": [["talk"], ["chat-completion"]],
  "discovery.sync.providers": [["hosted"], ["server"]],
  "discovery.health.providers": [["hosted"], ["server"]],
  "discovery.catalogue.url": ["https://one.example.com/c.json", "https://two.example.com/c.json"],
  "discovery.catalogue.public_key": [
    "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=",
    "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=",
  ],
  "observability.routing.connector": ["mesh.console.v1", "mesh.null.v1"],
  "observability.logging.connector": ["mesh.console.v1", "mesh.null.v1"],
  "observability.statistics.connector": ["mesh.console.v1", "mesh.null.v1"],
  "observability.tracing.connector": ["mesh.console.v1", "mesh.null.v1"],
  "observability.routing.url": ["https://one.example.com", "https://two.example.com"],
  "observability.statistics.url": ["https://one.example.com", "https://two.example.com"],
  "teams.*.pools": [["talk"], undefined],
  "proxy.auth.tokens[].team": ["red", "blue"],
  "proxy.auth.tokens[].pools": [["talk"], undefined],
  "proxy.auth.jwt.jwks_uri": ["https://one.example.com", "https://two.example.com"],
  "proxy.auth.jwt.allow": [{ email_verified: true }, { groups: ["ai"] }],
  "proxy.tools.web_search.pool": ["web-search", "semantic-search"],
};

/** What has to be beside a key so that it can be set; undefined removes a key. */
export const beside: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "secrets.path": { "secrets.store": "mesh.dotenv.v1" },
  "secrets.region": { "secrets.store": "aws.secrets-manager.v1" },
  "providers.*.budget.alert_at": { "providers.hosted.budget.daily_limit": 9 },
  "teams.*.budget.alert_at": { "teams.red.budget.daily_limit": 9 },
  "tags.*.budget.alert_at": { "tags.beta.budget.daily_limit": 9 },
  "users.budget.alert_at": { "users.budget.daily_limit": 9 },
  "pools.*.budget.alert_at": { "pools.talk.budget.daily_limit": 9 },
  "proxy.auth.resource": { "proxy.auth.jwt": [{ issuer: "https://login.example.com", audience: "mesh" }] },
  "proxy.tools.web_search.max_uses": { "proxy.tools": { web_search: { pool: "web-search" } } },
  "providers.*.prompt_cache.ttl": {
    "providers.hosted.connector": "anthropic.claude.v1",
    "providers.hosted.prompt_cache": { auto: true },
  },
  "proxy.responses.ttl": { "proxy.responses": { state: true } },
  "proxy.responses.max_bytes": { "proxy.responses": { state: true } },
  "storage.on_unavailable": { "storage.connector": "redis.redis.v1" },
  "observability.routing.url": { "observability.routing": { connector: "mesh.webhook.v1" } },
  "observability.routing.secret": {
    "observability.routing": { connector: "mesh.webhook.v1", url: "https://one.example.com" },
  },
  "observability.statistics.url": { "observability.statistics": { connector: "mesh.prometheus.v1" } },
  "observability.tracing.path": { "observability.tracing": { connector: "mesh.local-file.v1" } },
};

/** Two values of a field. */
export function twoValues(field: Field): readonly [one: unknown, other: unknown] {
  const { type, min = field.above ?? 0, max = Infinity, values, item, options } = field;
  switch (type) {
    case "flag":
      return [true, false];
    case "integer":
      return [min + 3, min + 4];
    case "number":
      return max <= 1 ? [0.25, 0.75] : [min + 3, min + 4];
    case "duration":
      return ["7s", "9s"];
    case "size":
      return ["3MiB", "5MiB"];
    case "choice":
      return [values![0], values![1]];
    case "list": {
      const [one, other] = twoValues(item!);
      return [[one], [other]];
    }
    case "either":
      return twoValues(options![0]!);
    default:
      return field.isSecret ? ["secret-one-0123456789", "secret-two-0123456789"] : ["one.example", "two.example"];
  }
}
