/**
 * Step 6, within one attempt: one model, asked once.
 * @module
 */
import type { CompletionRequest } from "../contracts/provider.ts";
import { NetworkError } from "../errors.ts";
import type { Member } from "../registry/registry.ts";
import type { CallReservation } from "../state/call_reservation.ts";
import type { Permit } from "../state/limits/permit.ts";
import { untilAborted } from "../util/until_aborted.ts";
import { Connection } from "./connection.ts";
import type { Rotate } from "./decide.ts";
import { type Failure, failureOf } from "./failure.ts";
import type { Call, RouteDeps, Served } from "./request.ts";
import type { RequestContext } from "./request_context.ts";

/** What asking it once came to. */
export type TryEnd<T> = { readonly served: Served<T>; readonly connection: Connection } | FailedTry;

/** A try that failed. */
export interface FailedTry {
  readonly failure: Failure;
  /** Its share in the counts. */
  readonly spending?: CallReservation | undefined;
  /** What follows from it; left out where that has yet to be decided. */
  readonly next?: Rotate;
}

/** One model to be asked. */
export interface TryPlan<T> {
  readonly member: Member;
  /** Its right to be asked. */
  readonly permit: Permit;
  readonly completion: CompletionRequest;
  readonly call: Call<T>;
  /** Whether it may be asked once more; if so, that call is counted. */
  readonly again: () => Promise<boolean>;
}

/**
 * Asks one model once.
 *
 * @param plan Whom to ask what.
 * @param context What the request has done so far.
 * @param deps What the pipeline works with.
 * @throws The client's abort or the deadline; a failure of the model is returned.
 */
export async function tryOnce<T>(
  { member, permit, completion, call }: TryPlan<T>,
  context: RequestContext,
  { runtime, redact }: RouteDeps,
): Promise<TryEnd<T>> {
  context.unansweredMs = 0; // what another model was waited for is not this one's
  context.check();
  const { instance } = member.model;
  const spending = permit.take();
  const connection = new Connection(runtime, instance, completion.stream ? "stream" : "sync", spending);
  context.follow(connection);
  const from = runtime.clock.monotonic();
  try {
    const answer = call(member, completion, connection);
    return { served: await untilAborted(answer, connection.stop), connection };
  } catch (error) {
    const wasSent = connection.calls > 0 && !(NetworkError.isInstance(error) && error.neverSent);
    context.possiblyBilled ||= wasSent && !connection.answered;
    context.unansweredMs = connection.answered ? 0 : runtime.clock.monotonic() - from;
    if (wasSent && context.isStopped) spending?.end({}); // who went away may be billed for what was set aside
    else spending?.fail(wasSent);
    context.check();
    const failure = failureOf(connection.stop.aborted ? connection.stop.reason : error, instance.provider!, redact);
    connection.abort(error); // frees a socket whose answer nobody will read to its end
    return { failure, spending };
  } finally {
    context.attempts += connection.calls;
    context.awayMs += runtime.clock.monotonic() - from;
  }
}
