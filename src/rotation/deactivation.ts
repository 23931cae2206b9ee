/**
 * The built-in deactivation policy.
 * @module
 */
import type { DeactivationSettings } from "../config/settings/settings.ts";
import type { DeactivationPolicy, ModelView, StandbyReason } from "../contracts/rotation.ts";

/** Deactivates a model after `retry_limit` consecutive failed requests. */
export function consecutiveFailures(settings: DeactivationSettings): DeactivationPolicy {
  const isOver = (model: ModelView) => model.consecutiveFailures >= settings.retryLimit;
  return {
    shouldDeactivate: isOver,
    getReason(model): StandbyReason | undefined {
      if (!isOver(model)) return undefined;
      return model.lastStatus !== undefined && settings.errorCodes.has(model.lastStatus) ? "error_code" : "retry_limit";
    },
  };
}
