/**
 * Step 6, within one try, where a provider has several keys: one that is refused rests, another one is asked at once.
 * @module
 */
import type { KeyRejection } from "../state/limits/api_key_pool.ts";
import type { RouteDeps } from "./request.ts";
import type { RequestContext } from "./request_context.ts";
import { type FailedTry, type TryEnd, tryOnce, type TryPlan } from "./try_once.ts";

/**
 * Asks one model once; where its provider has several keys, with one after the other until one is not refused. That is
 * no retry: it takes nothing of a budget, waits for nothing and says nothing of the model.
 *
 * @param plan Whom to ask what.
 * @param context What the request has done so far.
 * @param deps What the pipeline works with.
 * @throws The client's abort or the deadline; a failure of the model is returned.
 */
export function tryKeys<T>(plan: TryPlan<T>, context: RequestContext, deps: RouteDeps): Promise<TryEnd<T>> {
  return plan.member.state.keys === undefined ? tryOnce(plan, context, deps) : tryEach(plan, context, deps);
}

async function tryEach<T>(plan: TryPlan<T>, context: RequestContext, deps: RouteDeps): Promise<TryEnd<T>> {
  for (let tries = 1;; tries++) {
    const end = await tryOnce(plan, context, deps);
    if ("served" in end) return end;
    const { failure, spending } = end;
    const verdict = spending?.rejectApiKey?.(failure);
    if (verdict === undefined) return end;
    if (verdict.isNews) tell(verdict, plan, failure, deps);
    // each key once, however short its rest
    if (verdict.refusal !== undefined || tries >= verdict.of) return { failure: { ...failure, ...verdict.refusal } };
    // none when it was set aside meanwhile: that one key of several was refused is no reason to rest
    if (!await plan.again()) return { failure, next: { step: "rotate" } };
  }
}

function tell<T>(
  { position, of, standbyMs }: KeyRejection,
  { member: { state: { provider } } }: TryPlan<T>,
  { kind }: FailedTry["failure"],
  { hub }: RouteDeps,
): void {
  const seconds = Math.ceil(standbyMs / 1000);
  const message = `Key ${position} of ${of} of the provider "${provider}" rests for ${seconds} s: ${kind}`;
  hub.trace({ severity: "warning", component: "provider", message, provider });
}
