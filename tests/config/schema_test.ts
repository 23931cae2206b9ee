import { assert, assertEquals } from "@std/assert";
import type { Field } from "../../src/config/_field.ts";
import { Report } from "../../src/config/_report.ts";
import { schema } from "../../src/config/schema.ts";
import { formatDuration, parseDuration, parseSize } from "../../src/config/units.ts";

function* fieldsOf(field: Field, path = ""): Generator<[path: string, field: Field]> {
  yield [path, field];
  const { fields = {}, item, options = [] } = field.shape;
  for (const [key, inner] of Object.entries(fields)) yield* fieldsOf(inner, path === "" ? key : `${path}.${key}`);
  for (const inner of [...options, ...(item === undefined ? [] : [item])]) yield* fieldsOf(inner, `${path}[]`);
}

Deno.test("every key of the schema says what it is for", async () => {
  for await (const { name } of Deno.readDir("src/config")) {
    if (!name.startsWith("schema")) continue;
    const lines = (await Deno.readTextFile(`src/config/${name}`)).split("\n");
    let objects = 0;
    lines.forEach((line, place) => {
      if (/\bobject(<.*>)?\(\{$/.test(line)) objects++;
      const key = /^ {2,}([a-z_0-9]+)(?:: (?!.*;$)|,$)/.exec(line)?.[1];
      if (objects === 0 || key === undefined || /^(retryable|non_retryable)_codes\?/.test(line.trim())) return;
      const isSchemaKey = /^ {2,}[a-z_0-9]+(: (later\(|[a-zA-Z]+(<.*)?[(,])|,$)/.test(line);
      if (isSchemaKey) assert(lines[place - 1]?.trim().endsWith("*/"), `${name}:${place + 1} ${key}`);
    });
  }
});

Deno.test("the defaults of the schema fit their own fields", () => {
  for (const [path, field] of fieldsOf(schema)) {
    const { type, default: standard } = field.shape;
    if (standard === undefined) continue;
    const written = type === "duration"
      ? formatDuration(Number(standard))
      : type === "size"
      ? `${standard}B`
      : standard;
    const report = new Report();
    assertEquals(field.read(written, path, report), standard, path);
    assertEquals(report.problems, [], path);
  }
});

Deno.test("the schema has every attribute of the specification", () => {
  const paths = new Set([...fieldsOf(schema)].map(([path]) => path));
  const sections: Readonly<Record<string, string>> = {
    secrets:
      "store path region resolution.cache_enabled resolution.cache_ttl resolution.reload_on_rotation resolution.fail_on_missing",
    "providers[]":
      "enabled api_key base_url connector auth.method auth.api_key auth.key_rotation quota.query_current " +
      "quota.query_remaining quota.reset_schedule budget.daily_limit budget.monthly_limit discovery.enumerate_models " +
      "discovery.model_details discovery.capability_query batch.supported batch.max_items files.upload files.max_size " +
      "fine_tuning.supported execution.base_url execution.timeout execution.max_retries execution.connect_timeout " +
      "catalogue.auto_discover catalogue.refresh_interval pricing.query error.retryable_codes error.non_retryable_codes " +
      "infrastructure.batch infrastructure.files infrastructure.fine_tuning auth.token_url auth.client_id " +
      "auth.client_secret auth.refresh_token auth.scope auth.credentials execution.ca instance config",
    "models[]": "provider model capabilities delivery.synchronous delivery.streaming delivery.batch batch.max_items " +
      "batch.max_payload batch.completion_window batch.cost_discount batch.callback batch.polling batch.partial_results " +
      "features.tool_calling features.structured_output features.json_mode features.system_prompt features.grounding " +
      "features.logprobs features.fine_tunable features.vision features.audio_input features.reasoning weight voices " +
      "constraints.context_window constraints.max_output_tokens constraints.max_images constraints.max_file_size " +
      "constraints.supported_languages pricing.input limits.rpm limits.tpm limits.rpd limits.concurrent embedding_space",
    "pools[]": "capability models providers excluded_providers model_priority provider_priority strategy " +
      "fallback_strategy balance_mode provider_deactivation provider_recovery budget.daily_limit retry.max_attempts " +
      "retry.backoff retry.initial_delay retry.max_delay retry.retryable_codes retry.non_retryable_codes retry.scope " +
      "retry.honor_retry_after rate_limit.threshold rate_limit.min_delta rate_limit.max_rpm deactivation.retry_limit " +
      "deactivation.error_rate_threshold deactivation.error_codes deactivation.request_limit deactivation.token_limit " +
      "deactivation.budget_limit deactivation.quota_window deactivation.maintenance_window recovery.cooldown " +
      "deactivation.maintenance_duration deactivation.error_rate_window deactivation.error_rate_min_requests " +
      "recovery.probe_on_start recovery.probe_interval recovery.on_quota_reset recovery.quota_reset_schedule",
    storage:
      "connector sync_policy sync_interval persistence.sync_policy persistence.sync_interval persistence.format " +
      "persistence.compression persistence.encryption locking.enabled locking.timeout locking.retry_interval",
    observability: "routing[].connector routing[].url routing[].path routing[].secret logging[].connector " +
      "logging[].level logging[].path logging[].redact_secrets logging[].max_payload_size statistics[].connector " +
      "statistics[].path statistics[].flush_interval statistics[].retention statistics[].scopes events.filter " +
      "events.include_metadata tracing[].min_severity",
    discovery:
      "sync.enabled sync.interval sync.auto_register sync.providers sync.on_new_model sync.on_deprecated_model " +
      "health.enabled health.interval health.timeout health.failure_threshold health.providers",
    connectors: "packages",
    proxy: "host port endpoints auth.method auth.tokens auth.admin_tokens cors.enabled cors.origins cors.headers " +
      "cors.methods cors.max_age max_concurrent request_timeout drain_delay allowed_hosts listener",
  };
  for (const [section, keys] of Object.entries(sections)) {
    for (const key of keys.split(" ")) assert(paths.has(`${section}.${key}`), `${section}.${key}`);
  }
  for (const key of ["aliases", "capabilities", "budget"]) assert(paths.has(key), key);
});

Deno.test("parseDuration() reads integers with units, the largest first", () => {
  const readable: readonly (readonly [text: string, ms: number])[] = [
    ["500ms", 500],
    ["60s", 60_000],
    ["5m", 300_000],
    ["1h", 3_600_000],
    ["24h", 86_400_000],
    ["7d", 604_800_000],
    ["2w", 1_209_600_000],
    ["1h30m", 5_400_000],
    ["1m5ms", 60_005],
    ["0s", 0],
  ];
  for (const [text, ms] of readable) assertEquals(parseDuration(text), ms, text);
  for (
    const text of ["", "10", "s", "-1s", "1.5h", "5 s", "1e3s", "30m1h", "1s1s", "999999d", "1S", "٣s", "9".repeat(39)]
  ) {
    assertEquals(parseDuration(text), undefined, text);
  }
  assertEquals([0, 500, 5_400_000, 90_061_001].map(formatDuration), ["0s", "500ms", "1h30m", "1d1h1m1s1ms"]);
});

Deno.test("parseSize() reads integers with decimal and binary units", () => {
  const readable: readonly (readonly [text: string, bytes: number])[] = [
    ["512MB", 512_000_000],
    ["64KiB", 65_536],
    ["1GB", 1_000_000_000],
    ["1TiB", 1_099_511_627_776],
    ["7B", 7],
  ];
  for (const [text, bytes] of readable) assertEquals(parseSize(text), bytes, text);
  for (const text of ["", "10", "1.5MB", "1 MB", "-1MB", "1mb", "MB", "9999999TB"]) {
    assertEquals(parseSize(text), undefined, text);
  }
});
