/** The attributes of the specification and of the contract beside it, as they stand there. */
const sections: Readonly<Record<string, string>> = {
  secrets:
    "store path region resolution.cache_enabled resolution.cache_ttl resolution.reload_on_rotation resolution.fail_on_missing",
  "providers.*": "enabled api_key base_url connector auth.method auth.api_key auth.key_rotation quota.query_current " +
    "quota.query_remaining quota.reset_schedule budget.daily_limit budget.monthly_limit discovery.enumerate_models " +
    "discovery.model_details discovery.capability_query batch.supported batch.max_items files.upload files.max_size " +
    "fine_tuning.supported execution.base_url execution.timeout execution.max_retries execution.connect_timeout " +
    "catalogue.auto_discover catalogue.refresh_interval pricing.query error.retryable_codes error.non_retryable_codes " +
    "infrastructure.batch infrastructure.files infrastructure.fine_tuning auth.token_url auth.client_id " +
    "auth.client_secret auth.refresh_token auth.scope auth.credentials execution.ca config",
  "models.*": "provider model capabilities delivery.synchronous delivery.streaming delivery.batch batch.max_items " +
    "batch.max_payload batch.completion_window batch.cost_discount batch.callback batch.polling batch.partial_results " +
    "features.tool_calling features.structured_output features.json_mode features.system_prompt features.grounding " +
    "features.logprobs features.fine_tunable features.vision features.audio_input features.reasoning weight voices " +
    "constraints.context_window constraints.max_output_tokens constraints.max_images constraints.max_file_size " +
    "constraints.supported_languages pricing.input limits.rpm limits.tpm limits.rpd limits.concurrent embedding_space",
  "pools.*": "capability models providers excluded_providers model_priority provider_priority strategy " +
    "fallback_strategy balance_mode provider_deactivation provider_recovery budget.daily_limit retry.max_attempts " +
    "retry.backoff retry.initial_delay retry.max_delay retry.retryable_codes retry.non_retryable_codes retry.scope " +
    "retry.honor_retry_after rate_limit.threshold rate_limit.min_delta rate_limit.max_rpm deactivation.retry_limit " +
    "deactivation.error_rate_threshold deactivation.error_codes deactivation.request_limit deactivation.token_limit " +
    "deactivation.budget_limit deactivation.quota_window deactivation.maintenance_window recovery.cooldown " +
    "deactivation.maintenance_duration deactivation.error_rate_window deactivation.error_rate_min_requests " +
    "recovery.probe_on_start recovery.probe_interval recovery.on_quota_reset recovery.quota_reset_schedule",
  storage:
    "connector sync_policy sync_interval on_unavailable persistence.sync_policy persistence.sync_interval persistence.format " +
    "persistence.compression persistence.encryption locking.enabled locking.timeout locking.retry_interval",
  observability: "routing.connector routing.url routing.path routing.secret logging.connector " +
    "logging.level logging.path logging.redact_secrets logging.max_payload_size statistics.connector " +
    "statistics.path statistics.flush_interval statistics.retention statistics.scopes events.filter " +
    "events.include_metadata tracing.min_severity",
  discovery:
    "sync.enabled sync.interval sync.auto_register sync.providers sync.on_new_model sync.on_deprecated_model " +
    "health.enabled health.interval health.timeout health.failure_threshold health.providers",
  connectors: "packages",
  proxy: "host port endpoints auth.method auth.tokens auth.admin_tokens cors.enabled cors.origins cors.headers " +
    "cors.methods cors.max_age max_concurrent request_timeout drain_delay heartbeat allowed_hosts listener tls.cert tls.key",
};

/** Their paths; `*` stands for names. */
export const specifiedKeys: readonly string[] = [
  "aliases",
  "capabilities",
  "budget",
  ...Object.entries(sections).flatMap(([section, keys]) => keys.split(" ").map((key) => `${section}.${key}`)),
];

/** Their defaults, as the contract has them. */
export const specifiedDefaults: Readonly<Record<string, unknown>> = {
  "secrets.store": "mesh.env.v1",
  "secrets.resolution.cache_enabled": true,
  "secrets.resolution.cache_ttl": "300s",
  "secrets.resolution.reload_on_rotation": true,
  "secrets.resolution.fail_on_missing": true,
  "providers.*.enabled": true,
  "providers.*.execution.timeout": "240s",
  "providers.*.execution.connect_timeout": "10s",
  "providers.*.execution.max_retries": 0,
  "providers.*.retry.budget.ratio": 0.2,
  "providers.*.retry.budget.min": 10,
  "providers.*.retry.budget.window": "10s",
  "models.*.weight": 1,
  "pools.*.strategy": "mesh.stick-until-failure.v1",
  "pools.*.retry.max_attempts": 2,
  "pools.*.retry.backoff": "exponential_jitter",
  "pools.*.retry.initial_delay": "500ms",
  "pools.*.retry.max_delay": "10s",
  "pools.*.retry.scope": "any",
  "pools.*.retry.honor_retry_after": true,
  "pools.*.retry.retryable_codes": [408, 409, 425, 429, 500, 502, 503, 504, 529],
  "pools.*.retry.non_retryable_codes": [400, 401, 403, 404, 413, 422],
  "pools.*.rate_limit.threshold": 0.8,
  "pools.*.deactivation.retry_limit": 3,
  "pools.*.deactivation.error_rate_threshold": undefined,
  "pools.*.deactivation.error_rate_window": "60s",
  "pools.*.deactivation.error_rate_min_requests": 10,
  "pools.*.deactivation.maintenance_duration": "1h",
  "pools.*.recovery.cooldown": "60s",
  "pools.*.recovery.probe_interval": undefined,
  "pools.*.recovery.on_quota_reset": true,
  "pools.*.provider_deactivation": undefined,
  "pools.*.provider_recovery": undefined,
  "storage.connector": "mesh.local-file.v1",
  "storage.sync_policy": "sync-on-boundary",
  "storage.sync_interval": "5s",
  "storage.on_unavailable": "open",
  "storage.persistence.format": "json",
  "storage.persistence.compression": false,
  "storage.persistence.encryption": false,
  "storage.locking.timeout": "30s",
  "storage.locking.retry_interval": "1s",
  "observability.routing.connector": "mesh.console.v1",
  "observability.logging.level": "metadata",
  "observability.logging.redact_secrets": true,
  "observability.logging.max_payload_size": 65_536,
  "observability.statistics.flush_interval": "60s",
  "observability.statistics.retention": "7d",
  "observability.events.include_metadata": true,
  "observability.tracing.min_severity": "info",
  "discovery.sync.enabled": true,
  "discovery.sync.interval": undefined,
  "discovery.sync.auto_register": true,
  "discovery.sync.on_new_model": "register",
  "discovery.sync.on_deprecated_model": "notify",
  "discovery.health.enabled": true,
  "discovery.health.interval": undefined,
  "discovery.health.timeout": "10s",
  "discovery.health.failure_threshold": 3,
  "proxy.host": "127.0.0.1",
  "proxy.port": 8080,
  "proxy.cors.enabled": true,
  "proxy.body_limit": "32MiB",
  "proxy.body_memory": "256MiB",
  "proxy.upload_limit": "512MiB",
  "proxy.max_concurrent": 1000,
  "proxy.request_timeout": "600s",
  "proxy.drain_delay": "0s",
  "proxy.heartbeat": "15s",
};
