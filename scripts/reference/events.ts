/**
 * The meaning of each kind of event and each reason of a standby. A missing entry does not compile.
 * @module
 */
import type { EventKind } from "../../src/contracts/events.ts";
import type { StandbyReason } from "../../src/contracts/rotation.ts";

/** When an event is emitted, and the meaning of its members `from`, `to` and `reason`. */
export const eventKinds: Readonly<Record<EventKind, readonly [when: string, change: string, reason: string]>> = {
  rotation: [
    "A pool has changed its current model; once per change.",
    "models",
    "[the cause](routing.md#active-and-standby)",
  ],
  deactivation: ["A model or provider goes into standby.", "`active`, `standby`", "one of the reasons below"],
  recovery: ["A model or provider is active again.", "`standby`, `active`", "the reason of the standby"],
  health: [
    "A provider starts to fail its probes, or passes them again.",
    "`healthy`, `unhealthy`",
    "how the probe failed; `probe`, `request`: what succeeded",
  ],
  budget: [
    "Spending has reached a share of `budget.alert_at`; once per window. `metadata` contains `scope`, `id`, `window`, `spent`, `limit`, " +
    "`window_end`.",
    "",
    "`alert_at`",
  ],
  outage: [
    "A pool has no active model left, or has one again. Without `pool`: a provider has none left in any pool.",
    "`up`, `down`",
    "the reason of the last change",
  ],
  batch: [
    "A batch has ended whose model has `batch.callback`. `metadata` contains its id and counts.",
    "",
    "the status of the batch",
  ],
  guard: [
    "A guard has acted on a request or its response; once per text and rule. `metadata` contains `guard`, `stage`, `path` and " +
    "`rule`, never a part of the text.",
    "",
    "`block`, `replace`; `error`: it could not check, and its `on_error` is `allow`",
  ],
};

/** The cause of a standby, and the related setting. */
export const standbyReasons: Readonly<Record<StandbyReason, readonly [cause: string, setting: string]>> = {
  retry_limit: ["it failed consecutive requests", "`deactivation.retry_limit`"],
  error_rate: ["its error rate reached the threshold", "`deactivation.error_rate_threshold`"],
  error_code: ["it returned a status that counts as a failure", "`deactivation.error_codes`"],
  request_limit: ["it reached its limit of requests", "`deactivation.request_limit`"],
  token_limit: ["it reached its limit of tokens", "`deactivation.token_limit`"],
  budget_limit: [
    "a budget that applies to it is exhausted",
    "`deactivation.budget_limit`, `pools.<name>.budget`, `budget`",
  ],
  quota_window: ["it reached its limit for the current window", "`deactivation.quota_window`"],
  maintenance_window: ["a maintenance window is active", "`deactivation.maintenance_window`"],
  provider_budget: ["its provider's budget is exhausted", "`providers.<id>.budget`"],
  provider_auth_failure: ["its provider rejects every API key", "`provider_deactivation`"],
  provider_outage: ["its provider does not respond", "`provider_deactivation`"],
  health_probe: ["its provider fails probes", "`discovery.health.failure_threshold`"],
  rate_limited: ["its vendor reported a rate limit", ""],
  quota_exhausted: ["its vendor reported that the account's quota is exhausted", "`recovery.on_quota_reset`"],
  model_not_found: ["its vendor reported that the model does not exist", "`recovery.cooldown`"],
  no_price: [
    "its price is unknown and a budget applies; it is excluded rather than in standby",
    "`models.<name>.pricing`",
  ],
  manual: ["it was deactivated manually", "`POST /mesh/deactivate`, `mesh.deactivate()`"],
};
