/**
 * The table of ClickHouse that records are inserted into: its columns, rows and definition.
 * @module
 */
import { toPortableJson } from "./_portable_json.ts";

/** A record, as a sink receives it. */
export type SinkRecord = { readonly type: string; readonly timestamp: string } & Readonly<Record<string, unknown>>;

/** Types of columns, and whether a value fits. Other values are only part of `record`. */
const fits = {
  "LowCardinality(String)": isShortString,
  "String": isShortString,
  "Nullable(UInt16)": (value: unknown) => isCount(value) && value < 65_536,
  "Nullable(UInt64)": isCount,
  "Nullable(Float64)": (value: unknown) => typeof value === "number" && Number.isFinite(value),
} as const;

/** Columns besides `timestamp` and `record`, by the members of records that fill them. */
const columns: Readonly<Record<string, keyof typeof fits>> = {
  type: "LowCardinality(String)",
  request_id: "String",
  client: "LowCardinality(String)",
  client_id: "LowCardinality(String)",
  team: "LowCardinality(String)",
  user: "String",
  pool: "LowCardinality(String)",
  model: "LowCardinality(String)",
  provider: "LowCardinality(String)",
  operation: "LowCardinality(String)",
  event: "LowCardinality(String)",
  reason: "LowCardinality(String)",
  level: "LowCardinality(String)",
  severity: "LowCardinality(String)",
  component: "LowCardinality(String)",
  message: "String",
  scope: "LowCardinality(String)",
  id: "String",
  status: "Nullable(UInt16)",
  code: "LowCardinality(String)",
  attempts: "Nullable(UInt16)",
  duration_ms: "Nullable(Float64)",
  latency_ms: "Nullable(Float64)",
  ttft_ms: "Nullable(Float64)",
  routing_latency_ms: "Nullable(Float64)",
  tokens_in: "Nullable(UInt64)",
  tokens_out: "Nullable(UInt64)",
  tokens_cached: "Nullable(UInt64)",
  cost_usd: "Nullable(Float64)",
  cost: "Nullable(Float64)",
};

/** Maximum length of a string in a column of its own. */
const maxStringLength = 4_096;

function isShortString(value: unknown): value is string {
  return typeof value === "string" && value.length <= maxStringLength;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Formats a record as a row of `JSONEachRow`: the columns, and the complete record in the column `record`. */
export function formatRow(record: SinkRecord): string {
  const row: Record<string, unknown> = { timestamp: record.timestamp };
  for (const [name, type] of Object.entries(columns)) if (fits[type](record[name])) row[name] = record[name];
  return `${toPortableJson({ ...row, record: toPortableJson(record) })}\n`;
}

/**
 * The statement that creates a table unless it exists.
 *
 * @param table Its name, quoted.
 * @param ttlMs How long it keeps records, ms; forever when omitted.
 */
export function formatTableDefinition(table: string, ttlMs: number | undefined): string {
  const defined = Object.entries(columns).map(([name, type]) => `  \`${name}\` ${type}`);
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (`,
    ["  `timestamp` DateTime64(3, 'UTC')", ...defined, "  `record` String CODEC(ZSTD(3))"].join(",\n"),
    ") ENGINE = MergeTree PARTITION BY toYYYYMM(timestamp) ORDER BY (type, timestamp)",
    ...(ttlMs === undefined ? [] : [`TTL toDateTime(timestamp) + INTERVAL ${Math.ceil(ttlMs / 1000)} SECOND`]),
  ].join("\n");
}
