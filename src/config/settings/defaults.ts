/**
 * Defaults of what works without a configuration document: instances in pages, providers of the environment. The schema
 * refers to them; all other defaults are in the schema alone.
 * @module
 */

/** Strategy of a pool. */
export const defaultStrategy = "mesh.stick-until-failure.v1";

/** Connector of a sink that names none. */
export const defaultSink = "mesh.console.v1";

/** Statuses retried by default. */
export const defaultRetryableCodes: readonly number[] = [408, 409, 425, 429, 500, 502, 503, 504, 529];

/** Statuses not retried by default. */
export const defaultNonRetryableCodes: readonly number[] = [400, 401, 403, 404, 413, 422];

/** Retry defaults, except the lists of HTTP statuses. */
export const defaultRetry = {
  maxAttempts: 2,
  backoff: "exponential_jitter",
  initialDelayMs: 500,
  maxDelayMs: 10_000,
  scope: "any",
  honorRetryAfter: true,
} as const;

/** Retry budget of a provider. */
export const defaultRetryBudget = { ratio: 0.2, min: 10, windowMs: 10_000 } as const;

/** Fractions of a budget at which an event is emitted. */
export const defaultAlertAt: readonly number[] = [0.5, 0.8, 1];

/** Consecutive failures that deactivate a model. */
export const defaultRetryLimit = 3;

/** State in a storage. */
export const defaultStorage = { policy: "sync-on-boundary", intervalMs: 5_000, format: "json" } as const;

/** Cooldown of a model in standby, ms. */
export const defaultCooldownMs = 60_000;

/** Timeouts of calls to a provider, ms. */
export const defaultTimeouts = {
  response: 240_000,
  silence: 60_000,
  firstToken: 60_000,
  /** A local server may load the model first, and processes long prompts slowly. */
  firstTokenOfLocal: 300_000,
  connect: 10_000,
} as const;

/** Deadline of a request, ms. */
export const defaultDeadlineMs = 600_000;

/** Health probes, which run if an interval is configured. */
export const defaultHealth = {
  connector: "mesh.health-monitor.v1",
  enabled: true,
  timeoutMs: 10_000,
  failureThreshold: 3,
} as const;

/** Synchronization of the list of models, which runs if an interval is configured. */
export const defaultSync = {
  connector: "mesh.registry-sync.v1",
  enabled: true,
  actions: { auto_register: true, on_new_model: "register", on_deprecated_model: "notify" },
} as const;

/** Timeout of a storage call, ms: above the timeouts of the built-in connectors, whose errors are more specific. */
export const storageTimeoutMs = 20_000;

/** Maximum priority of a request in a queue; the minimum is 0. */
export const maxPriority = 100;
