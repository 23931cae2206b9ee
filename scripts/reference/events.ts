/**
 * What each kind of event and each reason of a standby means. One without a line here does not compile.
 * @module
 */
import type { EventKind } from "../../src/contracts/events.ts";
import type { StandbyReason } from "../../src/contracts/rotation.ts";

/** When it is emitted, its members `from` and `to`, its `reason`. */
export const eventKinds: Readonly<Record<EventKind, readonly [when: string, change: string, reason: string]>> = {
  rotation: ["A pool is with another model, once per change.", "models", "[why](routing.md#active-and-standby)"],
  deactivation: ["A model or a provider goes into standby.", "`active`, `standby`", "one of those below"],
  recovery: ["A model or a provider is active again.", "`standby`, `active`", "the reason that has ended"],
  health: ["A provider fails its probes, or passes them again.", "`healthy`, `unhealthy`", "how the probe failed"],
  budget: [
    "A budget has reached a step of `budget.alert_at`, once per window; `metadata` has `scope`, `id`, `spent`, `limit`, " +
    "`window_end`.",
    "",
    "`alert_at`",
  ],
  outage: ["A pool has no active model left, or has one again.", "`up`, `down`", "that of the last change"],
  batch: ["A batch is over whose model has `batch.callback`; `metadata` has its id and counts.", "", "its status"],
};

/** Why, and the setting that decides it. */
export const standbyReasons: Readonly<Record<StandbyReason, readonly [cause: string, setting: string]>> = {
  retry_limit: ["it failed requests in a row", "`deactivation.retry_limit`"],
  error_rate: ["too many of its requests failed", "`deactivation.error_rate_threshold`"],
  error_code: ["it answered with a status that counts", "`deactivation.error_codes`"],
  request_limit: ["it has had its requests", "`deactivation.request_limit`"],
  token_limit: ["it has had its tokens", "`deactivation.token_limit`"],
  budget_limit: ["the money for it is spent", "`deactivation.budget_limit`, `pools.<name>.budget`, `budget`"],
  quota_window: ["it has had what one window allows", "`deactivation.quota_window`"],
  maintenance_window: ["it is being maintained", "`deactivation.maintenance_window`"],
  provider_budget: ["its provider's money is spent", "`providers.<id>.budget`"],
  provider_auth_failure: ["its provider refuses every key", "`provider_deactivation`"],
  provider_outage: ["its provider does not respond", "`provider_deactivation`"],
  health_probe: ["its provider fails probes", "`discovery.health.failure_threshold`"],
  rate_limited: ["its vendor says to wait", ""],
  quota_exhausted: ["its vendor says that the account is used up", "`recovery.on_quota_reset`"],
  model_not_found: ["its vendor does not know it", "`recovery.cooldown`"],
  no_price: [
    "there is a budget, and its price is unknown: it is left out rather than in standby",
    "`models.<name>.pricing`",
  ],
  manual: ["it was deactivated by hand", "`POST /mesh/deactivate`, `mesh.deactivate()`"],
};
