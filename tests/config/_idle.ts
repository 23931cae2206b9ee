/** Documents in which a key cannot act: changes of the one in which it can, and the key with its value. */

/** Members of the document by dotted path; undefined removes one. */
export type Changes = Readonly<Record<string, unknown>>;

/** What is changed, where the key is, and its values. */
type Idle = readonly [changes: Changes, path: string, ...values: unknown[]];

const local = { "providers.hosted.connector": "ollama.local.v1", "providers.hosted.api_key": undefined, budget: {} };
const byCallers = { "providers.hosted.credentials": "header", "providers.hosted.api_key": undefined };
const claude = { "providers.hosted.connector": "anthropic.claude.v1" };
const noRetries = { "pools.*.retry.max_attempts": 0 };
const instance = { "providers.server": { instance: { complete: () => {}, stream: () => {} } } };
const redis = { "storage.connector": "redis.redis.v1" };
const memory = { "storage.connector": "mesh.memory.v1" };
const inMemory = { "storage.sync_policy": "in-memory" };
const chatFields = ["tool_calling", "structured_output", "json_mode", "system_prompt", "grounding", "logprobs"];

export const idle: readonly Idle[] = [
  [{ "secrets.resolution.cache_enabled": false }, "secrets.resolution.cache_ttl", "1m"],
  [{ "secrets.resolution.reload_on_rotation": false }, "secrets.resolution.cache_ttl", "1m"],

  [instance, "providers.server.connector", "openai.compatible.v1"],
  [instance, "providers.server.base_url", "http://127.0.0.1:9/v1"],
  [instance, "providers.server.execution.base_url", "http://127.0.0.1:9/v1"],
  [instance, "providers.server.execution.ca", "./ca.pem"],
  [instance, "providers.server.config", { a: 1 }],
  [{ "providers.server.headers": { "User-Agent": "fleet/1" } }, "providers.server.execution.user_agent", "client"],
  [{ "providers.hosted.api_key": "key-one-0123456789" }, "providers.hosted.auth.key_rotation", true],
  [{ "providers.hosted.api_key": undefined }, "providers.hosted.auth.key_rotation", true],
  ...["batch.supported", "infrastructure.batch", "files.upload", "infrastructure.files", "fine_tuning.supported"]
    .map((key): Idle => [claude, `providers.hosted.${key}`, true]),
  [claude, "providers.hosted.infrastructure.fine_tuning", true],
  ...["discovery.model_details", "discovery.capability_query", "pricing.query"].flatMap((key): Idle[] => [
    [{}, `providers.hosted.${key}`, true],
    [claude, `providers.hosted.${key}`, true],
    [instance, `providers.server.${key}`, true],
  ]),
  ...["quota.query_current", "quota.query_remaining"].map((key): Idle => [claude, `providers.hosted.${key}`, true]),
  [claude, "providers.hosted.batch.max_items", 5],
  [claude, "providers.hosted.files.max_size", "1MB"],
  [{ "providers.hosted.batch.supported": false }, "providers.hosted.batch.max_items", 5],
  [{}, "providers.oauth.batch.max_items", 5],
  [{}, "providers.oauth.files.max_size", "1MB"],
  [{ "pools.*.retry.retryable_codes": [500] }, "providers.hosted.error.retryable_codes", [502]],
  [{ "pools.*.retry.non_retryable_codes": [418] }, "providers.hosted.error.non_retryable_codes", [419]],
  [{ "pools.*.recovery.quota_reset_schedule": "monthly" }, "providers.hosted.quota.reset_schedule", "daily"],
  [{ "pools.*.recovery.on_quota_reset": false }, "providers.hosted.quota.reset_schedule", "daily"],
  [
    { "models.chat.provider": "server", "providers.hosted.discovery.enumerate_models": false },
    "providers.hosted.execution.min_rate",
    5,
  ],
  [{ "pools.*.first_token_timeout": "9s" }, "providers.hosted.execution.first_token_timeout", "20s"],
  [{ "providers.hosted.execution.timeout": "20s" }, "providers.hosted.execution.first_token_timeout", "21s"],
  [{ "proxy.request_timeout": "20s" }, "providers.hosted.execution.first_token_timeout", "20s"],
  [{ "proxy.request_timeout": "20s" }, "pools.talk.first_token_timeout", "20s"],
  [{ "pools.talk.retry.scope": "same_model" }, "pools.talk.on_content_filter", "rotate"],
  [{ "pools.talk.models": ["chat"] }, "pools.talk.on_content_filter", "rotate"],
  [{ "pools.talk.models": ["embedder", "painter"] }, "pools.talk.first_token_timeout", "20s"],
  [{}, "providers.server.prompt_cache.auto", true],
  [{ "providers.hosted.prompt_cache": { auto: true } }, "providers.hosted.prompt_cache.ttl", "1h"],
  [claude, "providers.hosted.prompt_cache.ttl", "1h"],
  [noRetries, "providers.hosted.retry.budget.ratio", 0.5],
  [noRetries, "providers.hosted.retry.budget.min", 5],
  [noRetries, "providers.hosted.retry.budget.window", "5s"],
  [{ "discovery.sync.enabled": false }, "providers.hosted.catalogue.refresh_interval", "1h"],
  [{ "pools.talk": undefined, models: undefined, ...local }, "providers.hosted.budget.daily_limit", 1],
  [{ "pools.talk": undefined, models: undefined, ...local }, "providers.hosted.budget.monthly_limit", 1],
  [{ "pools.talk": undefined, models: undefined, ...local }, "providers.hosted.budget", [{ limit: 1, window: "1w" }]],

  [{}, "models.chat.voices", { alloy: "Anna" }],
  [{}, "models.chat.response_formats", ["mp3"]],
  [{}, "models.chat.embedding_space", "space"],
  ...[...chatFields, "audio_input", "reasoning", "vision"]
    .flatMap((name): Idle[] => [[{}, `models.embedder.features.${name}`, true, false]]),
  [{}, "models.voice.constraints.context_window", 5],
  [{}, "models.embedder.constraints.max_output_tokens", 5],
  [{}, "models.embedder.constraints.max_images", 5],
  [{}, "models.embedder.constraints.max_file_size", "1MB"],
  [{}, "models.embedder.constraints.supported_languages", ["de"]],
  ...[
    ...["cached_input", "cached_audio_input", "cached_image_input", "cache_write", "cache_write_1h", "cache_write_12h"],
    ...["audio_input", "audio_output", "image_input", "image_output", "reasoning", "per_tool_call", "per_search"],
  ].map((name): Idle => [{}, `models.embedder.pricing.${name}`, 1]),
  ...["per_image", "per_page", "per_minute", "per_character", "per_million_characters"]
    .map((name): Idle => [{}, `models.chat.pricing.${name}`, 1]),
  [{}, "models.voice.parameters.rename", { a: "b" }],
  [{}, "models.voice.parameters.fill", { a: 1 }],
  [{}, "models.voice.parameters.apis", ["responses"]],
  [{}, "models.voice.parameters.tools_via", "responses"],
  [{}, "models.voice.parameters.default_effort", "none"],
  [{}, "models.voice.api", "responses"],
  [claude, "models.chat.api", "responses"],
  [{}, "models.voice.parameters.efforts", { none: { a: 1 } }],
  [{}, "models.voice.parameters.thoughts", "none"],
  [{}, "models.voice.parameters.cache_control", false],
  [{}, "models.voice.parameters.max_stop_sequences", 4],
  [{}, "models.voice.parameters.developer_role", false],
  [{}, "models.voice.parameters.system", "first"],
  [{}, "models.voice.parameters.refuse_with_tools", ["response_format"]],
  [{}, "models.voice.parameters.blank_stop_sequences", false],
  [{}, "models.voice.parameters.user_after_tool", false],
  [{}, "models.voice.parameters.tool_call_ids", { characters: "word" }],
  [{}, "models.voice.parameters.repeated_call_ids", false],
  [{}, "models.voice.parameters.tool_names", { characters: "word" }],
  [{}, "models.voice.parameters.invalid_arguments", false],
  [{}, "models.voice.parameters.combined_parameters", false],
  [{}, "models.voice.parameters.incomplete_schemas", false],
  [{ "pools.talk.strategy": "cost-first" }, "models.chat.weight", 2],
  [{ ...claude }, "models.chat.features.fine_tunable", true],
  [{}, "models.embedder.delivery.streaming", true],
  [claude, "models.chat.delivery.batch", true],
  [{}, "models.finder.delivery.batch", true],
  ...[{ ...claude }, { "models.chat.delivery.batch": false }, { "models.chat.capabilities": ["web-search"] }]
    .flatMap((changes): Idle[] => [
      [changes, "models.chat.batch.max_items", 5],
      [changes, "models.chat.batch.max_payload", "1MB"],
      [changes, "models.chat.batch.completion_window", "1h"],
      [changes, "models.chat.batch.cost_discount", 0.5],
      [changes, "models.chat.batch.callback", true],
      [changes, "models.chat.batch.polling", true],
      [changes, "models.chat.batch.partial_results", true],
    ]),
  [{ "models.chat.batch.polling": false }, "models.chat.batch.callback", true],

  [{ "pools.talk.deactivation.error_rate_threshold": undefined }, "pools.talk.deactivation.error_rate_window", "1m"],
  [
    { "pools.talk.deactivation.error_rate_threshold": undefined },
    "pools.talk.deactivation.error_rate_min_requests",
    5,
  ],
  [{ "pools.talk.deactivation.request_limit": undefined }, "pools.talk.deactivation.quota_window", "daily"],
  [{ "pools.talk.deactivation.maintenance_window": undefined }, "pools.talk.deactivation.maintenance_duration", "2h"],
  [{ "pools.talk.provider_deactivation": undefined }, "pools.talk.provider_recovery", "on_manual"],
  [{ "pools.talk.recovery.on_quota_reset": false }, "pools.talk.recovery.quota_reset_schedule", "monthly"],
  [{ "pools.talk.retry.max_attempts": 0 }, "pools.talk.retry.backoff", "fixed"],
  [{ "pools.talk.retry.max_attempts": 0 }, "pools.talk.retry.initial_delay", "1s"],
  [{ "pools.talk.retry.max_attempts": 0 }, "pools.talk.retry.retryable_codes", [500]],
  [{ "pools.talk.retry.max_attempts": 0 }, "pools.talk.retry.non_retryable_codes", [418]],
  [{ "pools.talk.retry.backoff": "retry_after" }, "pools.talk.retry.honor_retry_after", false],
  [{ "pools.talk.fallback_strategy": "cost-first" }, "pools.talk.rate_limit.threshold", 0.5],
  [{ "pools.*.strategy": "cost-first", "pools.talk.rate_limit.threshold": 0.6 }, "pools.*.rate_limit.threshold", 0.5],
  [{ "pools.talk.strategy": "cost-first" }, "pools.talk.balance_mode", "relative"],
  [{ "pools.talk.models": ["voice"], "pools.talk.model_priority": ["voice"] }, "pools.talk.commit", "complete"],
  [{ "pools.talk.retry.scope": "same_model" }, "pools.talk.hedge", { after: "2s" }],
  [{ "pools.talk.models": ["voice"], "pools.talk.model_priority": ["voice"] }, "pools.talk.hedge", { after: "2s" }],
  [{ "pools.talk.hedge": { after: "off" } }, "pools.talk.hedge.max_share", 0.1],
  [{ "proxy.request_timeout": "1m" }, "pools.talk.hedge.after", "60s"],
  [{ "pools.talk.models": ["voice"], "pools.talk.model_priority": ["voice"] }, "pools.talk.affinity", { by: "prompt" }],
  [{ "pools.talk.strategy": { select: () => {}, score: () => 0 } }, "pools.talk.affinity", { by: "prompt" }],
  [{ "pools.talk.strategy": "cost-first" }, "pools.talk.fallback_strategy", "cost-first"],
  [{ "pools.talk.model_priority": undefined }, "pools.talk.fallback_strategy", "cost-first"],

  [{ "budget.daily_limit": undefined }, "budget.alert_at", [0.5]],
  [byCallers, "providers.hosted.budget.daily_limit", 1],
  [byCallers, "providers.hosted.batch.supported", true],
  [{}, "providers.hosted.budget.alert_at", [0.5]],
  [{}, "pools.talk.budget.alert_at", [0.5]],

  ...[memory, inMemory].flatMap((changes): Idle[] => [
    [changes, "storage.persistence.format", "yaml"],
    [changes, "storage.persistence.compression", true],
    [changes, "storage.persistence.encryption", true],
    [changes, "storage.locking.enabled", true],
    [changes, "storage.locking.timeout", "1s"],
    [changes, "storage.locking.retry_interval", "1s"],
    [changes, "storage.sync_interval", "1s"],
  ]),
  [{ ...memory, "storage.sync_policy": undefined }, "storage.sync_policy", "periodic", "immediate"],
  [{ ...memory, "storage.sync_policy": undefined }, "storage.persistence.sync_policy", "periodic"],
  [{ "storage.sync_policy": "immediate" }, "storage.persistence.sync_interval", "1s"],
  [redis, "storage.sync_interval", "1s"],
  [redis, "storage.locking.enabled", true],
  [redis, "storage.locking.timeout", "1s"],
  [redis, "storage.locking.retry_interval", "1s"],
  [{ "storage.locking.enabled": false }, "storage.locking.timeout", "1s"],
  [{ "storage.sync_policy": "sync-on-boundary" }, "storage.locking.retry_interval", "1s"],
  [{}, "storage.on_unavailable", "closed"],

  [{ "observability.logging.level": "metadata" }, "observability.logging.max_payload_size", 100],
  [{ "observability.logging.level": "metadata" }, "observability.logging.redact_secrets", false],
  [{ "observability.logging.level": "summary" }, "observability.logging.max_payload_size", 65_536],
  [{ "observability.routing": undefined }, "observability.events.filter", ["rotation"]],
  [{ "observability.routing": undefined }, "observability.events.include_metadata", false],

  ...["connector", "auto_register", "providers", "on_new_model", "on_deprecated_model"].flatMap((key): Idle[] => {
    const value = { connector: "mesh.registry-sync.v1", auto_register: false, providers: ["hosted"] }[key] ?? "notify";
    return [
      [{ "discovery.sync.interval": undefined }, `discovery.sync.${key}`, value],
      [{ "discovery.sync.enabled": false }, `discovery.sync.${key}`, value],
    ];
  }),
  ...["connector", "timeout", "failure_threshold", "providers"].flatMap((key): Idle[] => {
    const value = { connector: "mesh.health-monitor.v1", timeout: "1s", providers: ["hosted"] }[key] ?? 5;
    return [
      [{ "discovery.health.interval": undefined }, `discovery.health.${key}`, value],
      [{ "discovery.health.enabled": false }, `discovery.health.${key}`, value],
    ];
  }),
  ...["sync", "health"].flatMap((section): Idle[] => [
    [{ [`discovery.${section}.interval`]: undefined }, `discovery.${section}.enabled`, true],
    [{ [`discovery.${section}.enabled`]: false }, `discovery.${section}.interval`, "1h"],
  ]),
  [
    {
      "discovery.sync.providers": ["hosted", "server"],
      "providers.hosted.catalogue.refresh_interval": "1h",
      "providers.server.catalogue.refresh_interval": "2h",
    },
    "discovery.sync.interval",
    "1h",
  ],

  [{ "proxy.cors.enabled": false }, "proxy.cors.origins", ["https://app.example.com"]],
  [{ "proxy.cors.enabled": false }, "proxy.cors.headers", ["x-one"]],
  [{ "proxy.cors.enabled": false }, "proxy.cors.methods", ["GET"]],
  [{ "proxy.cors.enabled": false }, "proxy.cors.max_age", "1m"],
  [{ "storage.sync_policy": "sync-on-boundary" }, "proxy.address", "10.0.0.7:8080"],
  [{ storage: undefined }, "proxy.address", "10.0.0.7:8080"],
  [{ "proxy.auth.tokens": ["token-0123456789"] }, "proxy.allowed_hosts", ["ai.example.com"]],
  [{ "proxy.auth.admin_tokens": ["token-0123456789"] }, "proxy.allowed_hosts", ["ai.example.com"]],
  [{ "proxy.auth.jwt": [{ issuer: "https://a.example", audience: "a" }] }, "proxy.allowed_hosts", ["ai.example.com"]],
  [{ "proxy.auth.tokens": ["token-0123456789"] }, "proxy.auth.resource", "https://ai.example.com"],
  [{ "proxy.responses.state": false }, "proxy.responses.ttl", "1h"],
  [{}, "proxy.responses.max_bytes", "1MB"],
  [{ "pools.only": { models: ["chat"] } }, "proxy.tools.web_search.pool", "only"],
  [{ "proxy.tls": { cert: "./cert.pem", key: "./key.pem" } }, "proxy.listener", "deno"],
];
