/**
 * Defaults of the configuration, defined once for schema, validation and detection.
 * @module
 */
import type { Severity } from "../../contracts/events.ts";
import type { BalanceMode } from "../../contracts/rotation.ts";
import type {
  CorsSettings,
  ErrorRateSettings,
  ProxySettings,
  RateLimitSettings,
  RecoverySettings,
  RetryBudgetSettings,
  RetrySettings,
} from "./settings.ts";
import type { LoggingSettings } from "./observability.ts";
import type { StorageSettings } from "./storage.ts";

export const defaultStrategy = "mesh.stick-until-failure.v1";

export const defaultSecretStore = "mesh.env.v1";

/** Cache time of resolved secrets, ms. */
export const defaultSecretTtlMs = 300_000;

/** Connector of a sink that names none. */
export const defaultSink = "mesh.console.v1";

/** Default log level and payload handling. */
export const defaultLogging: LoggingSettings = { level: "metadata", redactSecrets: true, maxPayloadBytes: 65_536 };

/** Default flush interval and retention of statistics, ms. */
export const defaultStatistics = { flushIntervalMs: 60_000, retentionMs: 604_800_000 };

/** Minimum severity of trace entries. */
export const defaultMinSeverity: Severity = "info";

/** Statuses retried by default. */
export const defaultRetryableCodes: readonly number[] = [408, 409, 425, 429, 500, 502, 503, 504, 529];

/** Statuses not retried by default. */
export const defaultNonRetryableCodes: readonly number[] = [400, 401, 403, 404, 413, 422];

/** Retry defaults, except the lists of HTTP statuses. */
export const defaultRetry: Omit<RetrySettings, "retryableCodes" | "nonRetryableCodes"> = {
  maxAttempts: 2,
  backoff: "exponential_jitter",
  initialDelayMs: 500,
  maxDelayMs: 10_000,
  scope: "any",
  honorRetryAfter: true,
};

/** Retry budget of a provider. */
export const defaultRetryBudget: RetryBudgetSettings = { ratio: 0.2, min: 10, windowMs: 10_000 };

/** Fractions of a budget at which an event is emitted. */
export const defaultAlertAt: readonly number[] = [0.5, 0.8, 1];

/** Consecutive failures that deactivate a model. */
export const defaultRetryLimit = 3;

/** Applies if an error rate threshold is configured. */
export const defaultErrorRate: Omit<ErrorRateSettings, "threshold"> = { windowMs: 60_000, minRequests: 10 };

/** Applies if the section `storage` exists. */
export const defaultStorage: Pick<StorageSettings, "connector" | "policy" | "intervalMs" | "format"> = {
  connector: "mesh.local-file.v1",
  policy: "sync-on-boundary",
  intervalMs: 5_000,
  format: "json",
};

export const defaultLocking: Required<StorageSettings>["locking"] = { timeoutMs: 30_000, retryIntervalMs: 1_000 };

/** Duration of scheduled maintenance, ms. */
export const defaultMaintenanceMs = 3_600_000;

/** Cooldown of a model in standby, ms. */
export const defaultCooldownMs = 60_000;

export const defaultRecovery: Required<Pick<RecoverySettings, "probeOnStart" | "onQuotaReset">> = {
  probeOnStart: false,
  onQuotaReset: true,
};

export const defaultRateLimit: RateLimitSettings = { threshold: 0.8 };

export const defaultBalanceMode: BalanceMode = "absolute";

/** Retries within one attempt. */
export const defaultMaxRetries = 0;

/** Weight of a model under weighted strategies. */
export const defaultWeight = 1;

/** Timeouts of calls to a provider, ms. */
export const defaultTimeouts: { readonly answer: number; readonly silence: number; readonly connect: number } = {
  answer: 240_000,
  silence: 60_000,
  connect: 10_000,
};

export const defaultCors: CorsSettings = { enabled: true, maxAgeSeconds: 600 };

/** Deadline of a request, ms. */
export const defaultDeadlineMs = 600_000;

export const defaultProxy: {
  readonly host: string;
  readonly port: number;
  readonly maxConcurrent: number;
  readonly maxConnections: number;
  readonly bodyLimit: number;
  readonly bodyMemory: number;
  readonly uploadLimit: number;
  readonly drainDelayMs: number;
  readonly heartbeatMs: number;
  readonly listener: "http1" | "node" | "deno";
} = {
  host: "127.0.0.1",
  port: 8080,
  maxConcurrent: 1000,
  maxConnections: 10_000,
  bodyLimit: 33_554_432,
  bodyMemory: 268_435_456,
  uploadLimit: 536_870_912,
  drainDelayMs: 0,
  heartbeatMs: 15_000,
  listener: "http1",
};

/** The proxy settings without configuration. */
export function builtInProxy(): ProxySettings {
  return { ...defaultProxy, clients: [], tokenRequired: false, cors: defaultCors, allowedHosts: [] };
}

/** Timeout of a storage call, ms: above the timeouts of the built-in connectors, whose errors are more specific. */
export const storageTimeoutMs = 20_000;
