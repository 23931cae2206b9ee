/**
 * Step 6, within one try: if one of several API keys is rejected, the next one is used immediately.
 * @module
 */
import type { KeyRejection } from "../state/limits/api_key_pool.ts";
import { readmit } from "./admission.ts";
import type { Rotate } from "./decide.ts";
import type { Failure } from "./failure.ts";
import { type AttemptScope, type FailedTry, type ServedTry, tryOnce } from "./try_once.ts";

/** A try that failed with every available API key. */
export interface RefusedTry extends FailedTry {
  /** The decision; undefined if not yet made. */
  readonly next?: Rotate;
}

/**
 * Calls one model with one API key after the other, until a key is accepted. This is not a retry: it does not use the
 * retry budget, has no delay, and does not count as a failure of the model.
 *
 * @param scope The attempt, at a provider with several keys.
 * @throws The client's abort reason or the deadline. A failure of the model is returned.
 */
export async function tryKeys<T>(scope: AttemptScope<T>): Promise<ServedTry<T> | RefusedTry> {
  let last: RefusedTry | undefined;
  for (let tries = 1;; tries++) {
    const end = await tryOnce(scope);
    if ("served" in end) return end;
    if (end.denial !== undefined) return last ?? end;
    const { failure, reservation } = end;
    const rejection = reservation?.rejectApiKey(failure);
    if (rejection === undefined) return end;
    if (rejection.isNew) trace(rejection, failure, scope);
    // each key once, however short its standby
    if (rejection.refusal !== undefined || tries >= rejection.of) {
      return { failure: { ...failure, ...rejection.refusal } };
    }
    // in standby by now: the rejection of one of several keys does not extend it
    last = { failure, next: { step: "rotate" } };
    if (!await readmit(scope)) return last;
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
