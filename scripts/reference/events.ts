/**
 * The meaning of each kind of event and each reason of a standby. A missing entry does not compile.
 * @module
 */
import type { EventKind } from "../../src/contracts/events.ts";
import type { FailureKind } from "../../src/contracts/provider.ts";
import type { StandbyReason } from "../../src/contracts/rotation.ts";
import type { RotationCause } from "../../src/pipeline/apply_strategy.ts";
import type { AdmissionDenial } from "../../src/state/counters/admission_denial.ts";

/** When an event is emitted, and the meaning of its members `from`, `to` and `reason`. */
export const eventKinds: Readonly<Record<EventKind, readonly [when: string, change: string, reason: string]>> = {
  rotation: [
    "A pool has changed its current model; once per change. A request that goes on to another model by its own fault, or " +
    "by its own routing, has one as well; the current model stays.",
    "models",
    "one of [these](#reasons-of-rotations)",
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

/** What a failed attempt is called in records if its kind does not say it. */
type AttemptCause = "content_filter" | "first_token_timeout" | "min_rate" | "empty";

/** Why a rotation happens, besides the reasons of a standby. */
export const rotationReasons: Readonly<
  Record<
    Exclude<FailureKind | AttemptCause | RotationCause | AdmissionDenial["reason"], StandbyReason>,
    readonly [string]
  >
> = {
  network: ["the provider could not be reached"],
  timeout: ["the provider did not respond in time"],
  first_token_timeout: ["a stream had no content in time: `first_token_timeout`"],
  min_rate: ["a stream was too slow: `execution.min_rate`"],
  server: ["the provider failed: 500, 502, 503, 504, 529, 408, 409, 425"],
  auth: ["the provider refused the API key: 401, 403"],
  request: [
    "the model refused the request itself: 400, 413, 422. Another model may accept it; at most three are tried",
  ],
  content_filter: ["the provider refused the content: `on_content_filter: rotate`"],
  misconfigured: ["the address is probably wrong: 404, 405, 415, 451, a redirect"],
  invalid_response: ["the response was unreadable or cut off"],
  empty: ["the response was empty"],
  budget: ["what is left of a budget is too little for the request"],
  client_limit: ["the tokens per minute of the client, its team, a tag or the end user do not suffice"],
  storage_unavailable: ["the budget is shared, and its storage is unavailable: `storage.on_unavailable: closed`"],
  min_delta: ["the last request to the model was a moment ago: `rate_limit.min_delta`"],
  max_rpm: ["the model has received its requests of this minute: `rate_limit.max_rpm`"],
  threshold: ["the model approaches its rate limit: `rate_limit.threshold`"],
  failure: ["a stream of the model broke"],
  half_open: ["the model is on its trial request"],
  recovery: ["a model that takes precedence is active again"],
};
