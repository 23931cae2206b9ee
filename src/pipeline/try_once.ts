/**
 * Step 6, within one attempt: one call to one model.
 * @module
 */
import { NetworkError } from "../errors.ts";
import type { AdmittedCall } from "../state/model/admitted_call.ts";
import type { AdmissionDenial } from "../state/counters/admission_denial.ts";
import { isOverload } from "../util/resource_lack.ts";
import { untilAborted } from "../util/until_aborted.ts";
import type { AdmittedModel } from "./admission.ts";
import { Connection } from "./connection.ts";
import { type Failure, toFailure } from "./failure.ts";
import type { Call, SentRequest, Served } from "./routed.ts";

/** An attempt: one model for one request. */
export interface AttemptScope<T> extends AdmittedModel, SentRequest {
  /** Parameters omitted because the model rejects them. */
  readonly dropped?: readonly string[];
  /** Members that ModelMesh has added to the request. */
  readonly added?: readonly string[];
  readonly call: Call<T>;
}

/** A successful try. */
export interface ServedTry<T> {
  readonly served: Served<T>;
  /** The connection, open until the response ends. */
  readonly connection: Connection;
  /** Parameters omitted because the model rejects them. */
  readonly dropped: readonly string[];
}

/** A failed try. */
export interface FailedTry {
  readonly failure: Failure;
  /** The reservation of the call. */
  readonly reservation?: AdmittedCall | undefined;
  /** Why it was not sent: other processes have taken what it had reserved. */
  readonly denial?: AdmissionDenial;
}

/**
 * Calls one model once.
 *
 * @throws The client's abort reason or the deadline. A failure of the model is returned.
 */
export async function tryOnce<T>(
  { context, member, permit, completion, clientNames, dropped = [], call }: AttemptScope<T>,
): Promise<ServedTry<T> | FailedTry> {
  const { clock, deps: { runtime } } = context;
  const { instance } = member.model;
  context.unansweredMs = 0; // not the wait of an earlier model
  context.check();
  const reservation = permit.take();
  const connection = new Connection(runtime, instance, completion.stream ? "stream" : "sync", reservation);
  const trace = context.beginSpan();
  if (trace !== undefined) connection.trace = trace;
  connection.userAgent = context.plan.request.userAgent;
  context.follow(connection);
  const from = clock.monotonic();
  try {
    const answer = call(member, { completion, clientNames }, connection);
    const served = await untilAborted(answer, connection.stop);
    context.addTry(member, {
      outcome: served.empty ? "empty" : "ok",
      ms: clock.monotonic() - from,
      model: served.model,
      trace,
    });
    return { served, connection, dropped };
  } catch (error) {
    const ms = clock.monotonic() - from;
    return fail(error, { context, member, connection, reservation, ms, trace });
  } finally {
    context.attempts += connection.calls;
    context.upstreamMs += clock.monotonic() - from;
  }
}

interface BrokenTry extends Pick<AdmittedModel, "context" | "member"> {
  readonly connection: Connection;
  readonly reservation: AdmittedCall;
  /** Its duration. */
  readonly ms: number;
  readonly trace: Connection["trace"];
}

/** Ends a try that has thrown. Rethrows what is no failure of the model. */
function fail(
  error: unknown,
  { context, member, connection, reservation, ms, trace }: BrokenTry,
): FailedTry {
  const { denial } = connection;
  const { deps: { redact } } = context;
  if (denial !== undefined && !context.isStopped) {
    reservation.cancel();
    return { failure: toFailure(error, member.model.instance.provider!, redact), denial };
  }
  const lacksResources = isOverload(error);
  const isUnsent = lacksResources || NetworkError.isInstance(error) && error.neverSent;
  const wasSent = connection.calls > 0 && !isUnsent;
  context.possiblyBilled ||= wasSent && !connection.answered;
  context.unansweredMs = connection.answered ? 0 : ms;
  if (lacksResources) reservation.cancel(); // not an outage of the provider
  else if (wasSent && context.isStopped) reservation.end({}); // may be billed: it counts as reserved
  else reservation.fail(wasSent);
  if (context.isStopped || lacksResources) context.addTry(member, { outcome: "aborted", ms, trace });
  context.check();
  if (lacksResources) throw error;
  const reason = connection.stop.aborted ? connection.stop.reason : error;
  const failure = { ...toFailure(reason, member.model.instance.provider!, redact), host: connection.host };
  context.addTry(member, { outcome: failure.kind, status: failure.status, ms, trace });
  connection.abort(error); // releases the socket of a response that is not read completely
  return { failure, reservation };
}
