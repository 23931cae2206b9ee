/**
 * When the models of a pool are put into standby, and when they are reconsidered.
 * @module
 */
import type { DeactivationSettings } from "../config/settings/settings.ts";
import type { DeactivationPolicy, ModelView, RecoveryPolicy, StandbyReason } from "../contracts/rotation.ts";
import { consecutiveFailures } from "./deactivation.ts";

/** What a rotation connector may bring. */
export type OwnPolicies = Partial<DeactivationPolicy & RecoveryPolicy>;

/** A pool's policy. Nothing in it throws. */
export interface RotationPolicy extends DeactivationPolicy {
  /** Asked after every request, and alone; the built-in one is asked after failures, and a failed trial request decides itself. */
  readonly isOwn?: boolean;
  /** Whether a model in standby is reconsidered now; left out: once its time is over. */
  shouldRecover?(model: ModelView, now: number): boolean;
  /** Until when it is in standby, monotonic ms; Infinity: not by itself; undefined: for the cooldown. */
  recoverAt?(model: ModelView): number | undefined;
}

/** A reason as it stands in records and saved states. */
const word = /^[a-z_]{1,40}$/;

/**
 * The policy of a pool: what its rotation connector brings, in place of the built-in one.
 *
 * @param own What it brings. Where that fails, the built-in one decides.
 * @param settings The pool's.
 * @param onFailure Called when it fails.
 */
export function policyOf(own: OwnPolicies, settings: DeactivationSettings, onFailure: () => void): RotationPolicy {
  const builtIn = consecutiveFailures(settings);
  const ask = <Answer>(question: () => Answer, otherwise: () => Answer): Answer => {
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
      ask(
        () => (own.shouldDeactivate?.(model) ?? builtIn.shouldDeactivate(model)) === true,
        () => builtIn.shouldDeactivate(model),
      ),
    getReason: (model) => ask(() => usable(own.getReason?.(model)), () => undefined) ?? builtIn.getReason(model),
    ...(own.shouldRecover && {
      shouldRecover: (model, now) => ask(() => own.shouldRecover!(model, now) === true, () => isOver(model, now)),
    }),
    ...(own.getRecoverySchedule && {
      recoverAt: (model) => ask(() => timeOf(own.getRecoverySchedule!(model)), () => undefined),
    }),
  };
}

/** The policies that a rotation connector brings, bound to it. */
export function policiesIn(strategy: OwnPolicies): OwnPolicies {
  return {
    ...(strategy.shouldDeactivate && { shouldDeactivate: (model) => strategy.shouldDeactivate!(model) }),
    ...(strategy.getReason && { getReason: (model) => strategy.getReason!(model) }),
    ...(strategy.shouldRecover && { shouldRecover: (model, now) => strategy.shouldRecover!(model, now) }),
    ...(strategy.getRecoverySchedule && { getRecoverySchedule: (model) => strategy.getRecoverySchedule!(model) }),
  };
}

function usable(reason: StandbyReason | undefined): StandbyReason | undefined {
  return typeof reason === "string" && word.test(reason) ? reason : undefined;
}

function timeOf(at: number | undefined): number | undefined {
  if (at === undefined) return Infinity;
  return typeof at === "number" && !Number.isNaN(at) ? at : undefined;
}
