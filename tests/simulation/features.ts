/**
 * What of the engine the simulation plays with and holds it to. A feature is switched on here, in one place, as soon as
 * the engine has it.
 * @module
 */

/** One thing the engine may or may not do yet. */
export type Feature =
  /** `models.<name>.limits` and rate-limit headers. */
  | "limits"
  /** `rate_limit.min_delta` and `rate_limit.max_rpm`. */
  | "spacing"
  /** `budget` of providers, of pools and over all. */
  | "budgets"
  /** `deactivation.error_rate_threshold`. */
  | "error_rate"
  /** `deactivation.{request,token,budget}_limit`. */
  | "usage_limits"
  /** `deactivation.quota_window`. */
  | "quota_windows"
  /** `deactivation.maintenance_window`. */
  | "maintenance"
  /** `mesh.deactivate` and `mesh.activate`. */
  | "manual"
  /** `provider_deactivation`. */
  | "provider_actions"
  /** Lists of models that change: `discovery.enumerate_models` and `discovery.sync`. */
  | "lists"
  /** `pools.<name>.hedge`. */
  | "hedging"
  /** `pools.<name>.queue`. */
  | "queues"
  /** A retry of a model that was deactivated in the meantime goes elsewhere. */
  | "retries_heed_standby";

/** What the engine does today. */
export const wired: ReadonlySet<Feature> = new Set<Feature>([
  "retries_heed_standby",
  "limits",
  "budgets",
  "spacing",
  "error_rate",
  "usage_limits",
  "quota_windows",
  "maintenance",
  "provider_actions",
  "manual",
  "lists",
  "hedging",
  "queues",
]);
