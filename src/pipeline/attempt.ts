/**
 * Step 6, first half: calls to one model, until one succeeds or the request rotates.
 * @module
 */
import { retryFor } from "../config/settings/routing.ts";
import { readmit } from "./admission.ts";
import { decide } from "./decide.ts";
import type { FailedAttempt } from "./request_context.ts";
import { tryAdapted } from "./try_adapted.ts";
import type { AttemptScope, ServedTry } from "./try_once.ts";

/**
 * Calls one model, and retries after a delay as the decision requires.
 *
 * @throws The client's abort reason or the deadline. A failure of the model is returned.
 */
export async function attempt<T>(scope: AttemptScope<T>): Promise<ServedTry<T> | FailedAttempt> {
  const { context, member, alone, completion } = scope;
  const { clock, plan, deps: { runtime: { random } } } = context;
  const { entry, retryBudget } = member.model.instance;
  const settings = retryFor(plan.pool.routing, entry.id);
  retryBudget.deposit(clock.monotonic());
  let last: FailedAttempt | undefined;
  for (let retries = 0;; retries++) {
    const end = await tryAdapted(scope);
    if ("served" in end) return end;
    const { failure, denial } = end;
    if (denial !== undefined) return last ?? { member, failure, denial, next: { step: "rotate" } };
    const next = end.next ?? decide(failure, {
      retries,
      settings,
      alone,
      remainingMs: context.remainingMs,
      tryLimitMs: completion.stream ? entry.silenceMs : entry.timeoutMs,
      random,
    });
    if (next.step === "rotate") return { member, failure, next };
    last = { member, failure, next: next.otherwise };
    if (retryBudget.withdraw(clock.monotonic())) {
      await context.wait(next.delayMs);
      // not if it is in standby by now, or if another call would exceed a limit
      if (await readmit(scope)) continue;
    }
    return last;
  }
}
