/**
 * Step 6, first half: one model, asked until it serves or is to be left.
 * @module
 */
import type { RetrySettings } from "../config/settings/settings.ts";
import type { Connection } from "./connection.ts";
import { decide, type Rotate } from "./decide.ts";
import type { Failure } from "./failure.ts";
import type { RouteDeps, Served } from "./request.ts";
import type { RequestContext } from "./request_context.ts";
import { tryKeys } from "./try_keys.ts";
import type { TryPlan } from "./try_once.ts";

/** One model to be asked. */
export interface AttemptPlan<T> extends TryPlan<T> {
  readonly settings: RetrySettings;
  /** Nobody else could take the request. */
  readonly alone: boolean;
}

/** What asking a model came to. */
export type AttemptEnd<T> =
  | { readonly served: Served<T>; readonly connection: Connection }
  | { readonly failure: Failure; readonly next: Rotate };

/**
 * Asks one model, again after a wait where that makes sense.
 *
 * @param plan Whom to ask what.
 * @param context What the request has done so far.
 * @param deps What the pipeline works with.
 * @throws The client's abort or the deadline; a failure of the model is returned.
 */
export async function attempt<T>(
  plan: AttemptPlan<T>,
  context: RequestContext,
  deps: RouteDeps,
): Promise<AttemptEnd<T>> {
  const { clock, random } = deps.runtime;
  const { instance } = plan.member.model;
  instance.retryBudget.deposit(clock.monotonic());
  for (let retries = 0;; retries++) {
    const end = await tryKeys(plan, context, deps);
    if ("served" in end) return end;
    const { failure } = end;
    const next = end.next ?? decide(failure, {
      retries,
      settings: plan.settings,
      alone: plan.alone,
      remainingMs: context.remainingMs,
      tryLimitMs: plan.completion.stream ? instance.entry.silenceMs : instance.entry.timeoutMs,
      random,
    });
    if (next.step === "rotate") return { failure, next };
    if (instance.retryBudget.withdraw(clock.monotonic())) {
      await context.wait(next.delayMs);
      // not when it went to standby meanwhile, or another call would exceed a limit
      if (await plan.again()) continue;
    }
    return { failure, next: next.otherwise };
  }
}
