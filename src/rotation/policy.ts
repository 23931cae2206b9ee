/**
 * Rotation policy of a pool: when models are deactivated, and when they recover.
 * @module
 */
import type { DeactivationSettings } from "../config/settings/settings.ts";
import type { DeactivationPolicy, ModelView, RecoveryPolicy, StandbyReason } from "../contracts/rotation.ts";
import { requireResult } from "../util/once.ts";

/** Policies that a rotation connector may implement. */
export type OwnPolicies = Partial<DeactivationPolicy & RecoveryPolicy>;

/** The policy of a pool. Its methods never throw. */
export interface RotationPolicy extends DeactivationPolicy {
  /**
   * Whether a connector implements it. It is then asked after every request; the built-in policy is asked only after
   * failures, and a failed trial request deactivates the model without asking.
   */
  readonly isOwn?: boolean;
  /** Whether a model in standby recovers now. Absent: when its standby has ended. */
  shouldRecover?(model: ModelView, now: number): boolean;
  /** End of the standby, monotonic ms; Infinity if it does not end by itself; undefined for the cooldown. */
  recoverAt?(model: ModelView): number | undefined;
}

/** Format of a reason in records and snapshots. */
const word = /^[a-z_]{1,40}$/;

/**
 * Returns the policy of a pool: the connector's methods, with the built-in policy as default and as fallback.
 *
 * @param own The connector's methods. When one throws or returns an invalid value, the built-in policy decides.
 * @param settings The pool's deactivation settings.
 * @param onFailure Called when a method has failed.
 */
export function createPolicy(own: OwnPolicies, settings: DeactivationSettings, onFailure: () => void): RotationPolicy {
  const builtIn = consecutiveFailures(settings);
  const query = <Result>(question: () => Result, otherwise: () => Result): Result => {
    try {
      return question();
    } catch {
      onFailure();
      return otherwise();
    }
  };
  const isOver = ({ retryAt = Infinity }: ModelView, now: number) => retryAt <= now;
  return {
    isOwn: own.shouldDeactivate !== undefined,
    shouldDeactivate: (model) =>
      query(
        () => (requireResult(own.shouldDeactivate?.(model)) ?? builtIn.shouldDeactivate(model)) === true,
        () => builtIn.shouldDeactivate(model),
      ),
    getReason: (model) =>
      query(() => usable(requireResult(own.getReason?.(model))), () => undefined) ?? builtIn.getReason(model),
    ...(own.shouldRecover && {
      shouldRecover: (model, now) =>
        query(() => requireResult(own.shouldRecover!(model, now)) === true, () => isOver(model, now)),
    }),
    ...(own.getRecoverySchedule && {
      recoverAt: (model) => query(() => checkTime(requireResult(own.getRecoverySchedule!(model))), () => undefined),
    }),
  };
}

function usable(reason: StandbyReason | undefined): StandbyReason | undefined {
  return typeof reason === "string" && word.test(reason) ? reason : undefined;
}

function checkTime(at: number | undefined): number | undefined {
  if (at === undefined) return Infinity;
  return typeof at === "number" && !Number.isNaN(at) ? at : undefined;
}

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
