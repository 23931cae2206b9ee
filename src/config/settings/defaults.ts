/**
 * The defaults of the configuration. Written once: the schema, the validation and the detection of
 * providers all read it here.
 * @module
 */
import type { BalanceMode } from "../../contracts/rotation.ts";
import type {
  CorsSettings,
  ErrorRateSettings,
  HealthSettings,
  ProxySettings,
  RateLimitSettings,
  RecoverySettings,
  RetryBudgetSettings,
  RetrySettings,
} from "./settings.ts";
import type { StorageSettings } from "./storage.ts";

/** Built-in strategy of a pool. */
export const defaultStrategy = "mesh.stick-until-failure.v1";

/** Built-in secret store: environment variables. */
export const defaultSecretStore = "mesh.env.v1";

/** Resolved secrets are kept for so long, ms. */
export const defaultSecretTtlMs = 300_000;

/** Built-in sink of routing events, once they are configured. */
export const defaultSink = "mesh.console.v1";

/** Statuses that are retried unless configured otherwise. */
export const defaultRetryableCodes: readonly number[] = [408, 409, 425, 429, 500, 502, 503, 504, 529];

/** Statuses that are not retried unless configured otherwise. */
export const defaultNonRetryableCodes: readonly number[] = [400, 401, 403, 404, 413, 422];

/** Built-in retrying, but for the lists of codes. */
export const defaultRetry: Omit<RetrySettings, "retryableCodes" | "nonRetryableCodes"> = {
  maxAttempts: 2,
  backoff: "exponential_jitter",
  initialDelayMs: 500,
  maxDelayMs: 10_000,
  scope: "any",
  honorRetryAfter: true,
};

/** Built-in retry budget of a provider. */
export const defaultRetryBudget: RetryBudgetSettings = { ratio: 0.2, min: 10, windowMs: 10_000 };

/** Failures in a row that deactivate a model. */
export const defaultRetryLimit = 3;

/** The share of failures that deactivates a model, once its threshold is given. */
export const defaultErrorRate: Omit<ErrorRateSettings, "threshold"> = { windowMs: 60_000, minRequests: 10 };

/** Where state is kept, once there is a section for it. */
export const defaultStorage: Pick<StorageSettings, "connector" | "policy" | "intervalMs" | "format"> = {
  connector: "mesh.local-file.v1",
  policy: "sync-on-boundary",
  intervalMs: 5_000,
  format: "json",
};

/** How processes wait for each other. */
export const defaultLocking: Required<StorageSettings>["locking"] = { timeoutMs: 30_000, retryIntervalMs: 1_000 };

/** How long maintenance lasts, ms, once its start is given. */
export const defaultMaintenanceMs = 3_600_000;

/** Time in standby, ms. */
export const defaultCooldownMs = 60_000;

/** When a model recovers. */
export const defaultRecovery: Required<Pick<RecoverySettings, "probeOnStart" | "onQuotaReset">> = {
  probeOnStart: false,
  onQuotaReset: true,
};

/** Keeping clear of the vendors' limits. */
export const defaultRateLimit: RateLimitSettings = { threshold: 0.8 };

/** How load-balanced shares requests out. */
export const defaultBalanceMode: BalanceMode = "absolute";

/** Tries within one attempt beyond the first. */
export const defaultMaxRetries = 0;

/** Probing providers, once an interval is given. */
export const defaultHealth: HealthSettings = { enabled: true, timeoutMs: 10_000, failureThreshold: 3 };

/** Share of a model under strategies that weigh. */
export const defaultWeight = 1;

/** Time limits of calls to a provider, ms. */
export const defaultTimeouts: { readonly answer: number; readonly silence: number; readonly connect: number } = {
  answer: 240_000,
  silence: 60_000,
  connect: 10_000,
};

/** Built-in cross-origin rules. */
export const defaultCors: CorsSettings = { enabled: true, maxAgeSeconds: 600 };

/** Deadline of a request, ms. */
export const defaultDeadlineMs = 600_000;

/** The proxy's limits and address. */
export const defaultProxy: {
  readonly host: string;
  readonly port: number;
  readonly maxConcurrent: number;
  readonly bodyLimit: number;
  readonly bodyMemory: number;
  readonly drainDelayMs: number;
} = {
  host: "127.0.0.1",
  port: 8080,
  maxConcurrent: 1000,
  bodyLimit: 33_554_432,
  bodyMemory: 268_435_456,
  drainDelayMs: 0,
};

/** A proxy of which nothing is configured. */
export function builtInProxy(): ProxySettings {
  return { ...defaultProxy, clients: [], tokenRequired: false, cors: defaultCors, allowedHosts: [] };
}
