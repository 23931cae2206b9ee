/**
 * Step 6, within one attempt: one model, asked once.
 * @module
 */
import type { OperationRequest } from "../contracts/provider.ts";
import { NetworkError } from "../errors.ts";
import type { CallReservation } from "../state/call_reservation.ts";
import { untilAborted } from "../util/until_aborted.ts";
import type { AdmittedModel } from "./admission.ts";
import { Connection } from "./connection.ts";
import { type Failure, failureOf } from "./failure.ts";
import type { Call, Served } from "./routed.ts";

/** One model that is asked for one request. */
export interface AttemptScope<T> extends AdmittedModel {
  /** The request in the model's words. */
  readonly completion: OperationRequest;
  readonly call: Call<T>;
}

/** A try that the model answered. */
export interface ServedTry<T> {
  readonly served: Served<T>;
  /** Open as long as a stream is. */
  readonly connection: Connection;
}

/** A try that failed. */
export interface FailedTry {
  readonly failure: Failure;
  /** Its share in the counts. */
  readonly reservation?: CallReservation | undefined;
}

/**
 * Asks one model once.
 *
 * @param scope The attempt.
 * @throws The client's abort or the deadline; a failure of the model is returned.
 */
export async function tryOnce<T>(
  { context, member, permit, completion, call }: AttemptScope<T>,
): Promise<ServedTry<T> | FailedTry> {
  const { clock, deps: { runtime, redact } } = context;
  const { instance } = member.model;
  context.unansweredMs = 0; // the wait for another model is not this one's
  context.check();
  const reservation = permit.take();
  const connection = new Connection(runtime, instance, completion.stream ? "stream" : "sync", reservation);
  if (context.plan.request.traceparent !== undefined) connection.traceparent = context.plan.request.traceparent;
  context.follow(connection);
  const from = clock.monotonic();
  try {
    const answer = call(member, completion, connection);
    const served = await untilAborted(answer, connection.stop);
    context.addTry(member, { outcome: served.empty ? "empty" : "ok", ms: clock.monotonic() - from });
    return { served, connection };
  } catch (error) {
    const wasSent = connection.calls > 0 && !(NetworkError.isInstance(error) && error.neverSent);
    context.possiblyBilled ||= wasSent && !connection.answered;
    const ms = clock.monotonic() - from;
    context.unansweredMs = connection.answered ? 0 : ms;
    if (wasSent && context.isStopped) reservation.end({}); // a client that left may be billed for what was reserved
    else reservation.fail(wasSent);
    if (context.isStopped) context.addTry(member, { outcome: "aborted", ms });
    context.check();
    const failure = failureOf(connection.stop.aborted ? connection.stop.reason : error, instance.provider!, redact);
    context.addTry(member, { outcome: failure.kind, status: failure.status, ms });
    connection.abort(error); // frees a socket whose response is not read to its end
    return { failure, reservation };
  } finally {
    context.attempts += connection.calls;
    context.upstreamMs += clock.monotonic() - from;
  }
}
