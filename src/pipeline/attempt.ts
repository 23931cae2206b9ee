/**
 * Step 6, first half: one model, asked until it serves or is to be left.
 * @module
 */
import { retryFor } from "../config/settings/routing.ts";
import { readmit } from "./admission.ts";
import { decide } from "./decide.ts";
import type { FailedAttempt } from "./request_context.ts";
import { type RefusedTry, tryKeys } from "./try_keys.ts";
import { type AttemptScope, type ServedTry, tryOnce } from "./try_once.ts";

/**
 * Asks one model, again after a wait where that makes sense.
 *
 * @param scope The attempt.
 * @throws The client's abort or the deadline; a failure of the model is returned.
 */
export async function attempt<T>(scope: AttemptScope<T>): Promise<ServedTry<T> | FailedAttempt> {
  const { context, member, alone, completion } = scope;
  const { clock, plan, deps: { runtime: { random } } } = context;
  const { entry, retryBudget } = member.model.instance;
  const settings = retryFor(plan.pool.routing, entry.id);
  const hasKeys = member.state.keys !== undefined;
  retryBudget.deposit(clock.monotonic());
  for (let retries = 0;; retries++) {
    const end: ServedTry<T> | RefusedTry = await (hasKeys ? tryKeys(scope) : tryOnce(scope));
    if ("served" in end) return end;
    const { failure } = end;
    const next = end.next ?? decide(failure, {
      retries,
      settings,
      alone,
      remainingMs: context.remainingMs,
      tryLimitMs: completion.stream ? entry.silenceMs : entry.timeoutMs,
      random,
    });
    if (next.step === "rotate") return { member, failure, next };
    if (retryBudget.withdraw(clock.monotonic())) {
      await context.wait(next.delayMs);
      // not when it went to standby meanwhile, or another call would exceed a limit
      if (await readmit(scope)) continue;
    }
    return { member, failure, next: next.otherwise };
  }
}
