/**
 * Step 6, within one try: where a provider has several keys and refuses one, another one is used at once.
 * @module
 */
import type { KeyRejection } from "../state/limits/api_key_pool.ts";
import { readmit } from "./admission.ts";
import type { Rotate } from "./decide.ts";
import type { Failure } from "./failure.ts";
import { type AttemptScope, type FailedTry, type ServedTry, tryOnce } from "./try_once.ts";

/** A try that failed with every key that could be used. */
export interface RefusedTry extends FailedTry {
  /** What follows from it; left out where that has yet to be decided. */
  readonly next?: Rotate;
}

/**
 * Asks one model once with one key after the other, until one is not refused. That is no retry: it takes nothing of a
 * budget, waits for nothing and is no failure of the model.
 *
 * @param scope The attempt, of a provider with several keys.
 * @throws The client's abort or the deadline; a failure of the model is returned.
 */
export async function tryKeys<T>(scope: AttemptScope<T>): Promise<ServedTry<T> | RefusedTry> {
  for (let tries = 1;; tries++) {
    const end = await tryOnce(scope);
    if ("served" in end) return end;
    const { failure, reservation } = end;
    const rejection = reservation?.rejectApiKey(failure);
    if (rejection === undefined) return end;
    if (rejection.isNew) trace(rejection, failure, scope);
    // each key once, however short its standby
    if (rejection.refusal !== undefined || tries >= rejection.of) {
      return { failure: { ...failure, ...rejection.refusal } };
    }
    // in standby meanwhile: that one key of several was refused is no reason for a longer one
    if (!await readmit(scope)) return { failure, next: { step: "rotate" } };
  }
}

function trace<T>(
  { position, of, standbyMs }: KeyRejection,
  { kind }: Failure,
  { member: { state: { provider } }, context: { deps } }: AttemptScope<T>,
): void {
  const seconds = Math.ceil(standbyMs / 1000);
  const message = `Key ${position} of ${of} of the provider "${provider}" is in standby for ${seconds} s: ${kind}`;
  deps.hub.trace({ severity: "warning", component: "provider", message, provider });
}
