/**
 * The result of a request: the response of a model, from its receipt until it is settled.
 * @module
 */
import type { RoutingRecord } from "../contracts/events.ts";
import type { OperationRequest } from "../contracts/provider.ts";
import { UnsupportedRequestError } from "../errors.ts";
import { limitsIn } from "../registry/queried_facts.ts";
import { notifySafely, requireResult } from "../util/once.ts";
import type { Member } from "../registry/registry.ts";
import type { Outcome, RequestEnd, Usage } from "../state/counters/usage.ts";
import { isSameLimits } from "../state/limits/rate_limiter.ts";
import type { Permit } from "../state/model/permit.ts";
import type { AdmittedModel } from "./admission.ts";
import { reportFailure, reportServed } from "./apply_strategy.ts";
import { charge, countCacheUse, sumTokens } from "./charge.ts";
import type { ClientNames } from "./client_names.ts";
import type { Connection } from "./connection.ts";
import { type Failure, findWords, isOfCallerKey, recordProviderError } from "./failure.ts";
import type { ReportedUsage, ResponseUsage } from "./operation.ts";
import { readStatedCost } from "./read_usage.ts";
import type { RequestContext } from "./request_context.ts";
import { createRoutingRecord, emitRecord, readFault, type RequestFault } from "./routing_record.ts";

/** A response as the call of a model returns it. */
export interface Received {
  /** Whether it is empty and contains no reason for that. */
  readonly isEmpty: boolean;
  /** Usage as reported by the provider, unless the response is to be read first. */
  readonly usage?: ReportedUsage;
  /** The model id in the response. */
  readonly modelId?: string | undefined;
}

/** An adapted request. */
export interface SentRequest {
  readonly completion: OperationRequest;
  /** The client's names of tools, which the response has to have; undefined if they are sent. */
  readonly clientNames?: ClientNames | undefined;
  /** Whether a response of which a filter has left nothing counts as empty. */
  readonly rotatesFiltered?: boolean;
}

/** Calls one model: for a complete response, or for a stream or content up to its first part. */
export type Call<T extends Received> = (
  member: Member,
  request: SentRequest,
  connection: Connection,
) => Promise<T>;

/** The result of a request as its client gets it, whether from a model or from the cache. */
export type ServedResult = Pick<Result, "requestId" | "dropped" | "routing" | "cacheStatus" | "onSettled">;

/** The end of a response. */
export interface ResponseEnd extends ResponseUsage {
  /**
   * Why the response did not reach its end: the provider failed midway, its reader left, or it was abandoned for another
   * reason, such as the end of the process. Undefined if it is complete.
   */
  readonly cause?: unknown;
  /** The failure of the provider, if that is the cause. */
  readonly failure?: Failure | undefined;
  /** The limit that a complete response has exceeded, which counts against its model alone. */
  readonly limit?: string | undefined;
  /** Whether its request has not ended, so that its record is not emitted yet. */
  readonly isPending?: true;
}

/** What an attempt has used; once its response is settled, with the cost of all attempts. */
type SettledUsage = RequestEnd & { costNanoUsd?: number | undefined; estimated?: true | undefined };

/** The fault of a complete response: none. */
const complete: RequestFault = { status: 200 };

/** The response of a model to a request. Its permit and its connection stay open until it is settled. */
export class Result<T extends Received = Received> {
  readonly requestId: string;
  readonly member: Member;
  readonly received: T;
  /** The connection, open until the response ends. */
  readonly connection: Connection;
  /** Parameters omitted for this model. */
  readonly dropped: readonly string[];
  /** How the request was routed, once it has committed to this response. */
  declare routing: RoutingRecord;
  /** The header `x-mesh-cache`; undefined if the cache was not asked. */
  declare cacheStatus?: string;
  /** Called once a committed response has been settled. */
  declare onSettled?: () => void;
  #admitted: AdmittedModel;
  /** Duration of the attempt, ms. */
  readonly #ms: number;
  /** When the request committed, monotonic ms. */
  #committedAt: number | undefined;
  #used: SettledUsage | undefined;
  #isRecorded = false;

  /** Records the attempt. */
  constructor(
    admitted: AdmittedModel,
    { received, connection, dropped, now }: Pick<Result<T>, "received" | "connection" | "dropped"> & {
      /** Monotonic ms. */
      readonly now: number;
    },
  ) {
    const { context, member, permit } = admitted;
    this.requestId = context.plan.request.id;
    this.member = member;
    this.received = received;
    this.connection = connection;
    this.dropped = connection.dropped.length === 0 ? dropped : [...dropped, ...connection.dropped];
    this.#admitted = admitted;
    this.#ms = now - permit.admittedAt;
    member.model.instance.lastError = undefined;
    context.addStep(member, { outcome: received.isEmpty ? "empty" : "ok", ms: this.#ms });
  }

  /** Makes it a response of the request of which its attempt was a branch. */
  join(context: RequestContext): void {
    this.#admitted = { ...this.#admitted, context };
    context.follow(this.connection);
  }

  /** Commits the request to this response. Only the idle timeout or the client ends it after that. */
  commit(): this {
    const { context, member, permit } = this.#admitted;
    reportServed(member, context);
    if (!context.isOutrun) context.plan.affinity?.serve(member, permit);
    const now = context.clock.monotonic();
    this.routing = createRoutingRecord(context, { member, by: this.connection.servedBy, now });
    context.commit();
    this.#committedAt = now;
    return this;
  }

  /**
   * Settles the response, when it is complete, interrupted or cancelled: closes the connection, releases the permit with
   * the actual usage, and emits the record of a committed request. Later calls have no effect.
   *
   * @param outcome The outcome for the model.
   * @param end The reported usage, and the reason of a response that did not reach its end.
   * @returns The usage in numbers.
   */
  settle(outcome: Outcome, end: ResponseEnd): Usage {
    const { context } = this.#admitted;
    const now = context.clock.monotonic();
    const used = this.#used ??= this.#end(outcome, end, now);
    const { costNanoUsd, estimated } = context.charged;
    if (costNanoUsd !== undefined) used.costNanoUsd = costNanoUsd;
    if (estimated) used.estimated = estimated;
    if (this.#committedAt !== undefined && !this.#isRecorded && end.isPending === undefined) {
      this.#isRecorded = true;
      context.end();
      this.#record(outcome, end, { now, used });
      this.onSettled?.();
    }
    return used;
  }

  /** Closes the connection, and releases the permit. Returns what the attempt has used. */
  #end(outcome: Outcome, end: ResponseEnd, now: number): SettledUsage {
    const { context, member, permit } = this.#admitted;
    const { callerKey } = this.connection;
    const used = this.#report(end);
    context.addCharge(used);
    if (member.model.instance.queried !== undefined && callerKey === undefined) applyReportedLimits(member, permit);
    this.connection.close();
    const isOfCaller = end.failure !== undefined && isOfCallerKey(end.failure, callerKey);
    release(this.#admitted, isOfCaller ? "none" : outcome, { end: used, now });
    return used;
  }

  /** Traces that the provider failed midway. */
  reportInterrupt(): void {
    const { context: { plan: { pool }, deps }, member: { state: { name: model, provider } } } = this.#admitted;
    const message = "Stream interrupted midway";
    const facts = { request_id: this.requestId, pool: pool.name, model, provider };
    deps.hub.trace({ severity: "warning", component: "router", message, ...facts });
  }

  /** The usage in plausible numbers; reports it with its cost to the provider, unless it is estimated. */
  #report(end: ResponseUsage): SettledUsage {
    const { context: { plan, deps } } = this.#admitted;
    const { model: { info, instance } } = this.member;
    const { request: { operation, body }, load } = plan;
    const read = operation.readUsage(end, { body, model: info, load });
    const { tokens: total, isEstimated } = read;
    const quantities = end.billed === undefined
      ? read.quantities
      : { ...readStatedCost(end.billed), ...read.quantities };
    const { input, output, cached } = sumTokens(quantities);
    if (quantities.cacheWrite || cached) countCacheUse(quantities, this.member.model, deps.hub);
    const tokens = Math.max(total, input + output);
    const { costNanoUsd, estimated } = charge(quantities, this.member, { plan, deps });
    const used = { ms: this.#ms, input, output, tokens, costNanoUsd };
    if (isEstimated) return { ...used, cached: undefined, tier: undefined, estimated: true, isReported: false };
    const costUsd = costNanoUsd && costNanoUsd / 1e9;
    notifySafely(
      () => instance.provider!.reportUsage({ model: info.id, tokensIn: input, tokensOut: output, costUsd }),
      () => {
        const message = `"${instance.entry.id}" took no usage report`;
        deps.hub.trace({ severity: "error", component: "provider", message });
      },
    );
    return { ...used, cached, tier: quantities.tier, estimated, isReported: true };
  }

  #record(
    outcomeOfModel: Outcome,
    { cause, failure, limit, text }: ResponseEnd,
    { now, used }: { readonly now: number; readonly used: Usage },
  ): void {
    const { context } = this.#admitted;
    if (limit !== undefined) context.endStep(this.member, { outcome: limit });
    const outcome = limit === undefined ? outcomeOfModel : "success"; // the client has its response
    if (cause !== undefined) {
      const error = failure && findWords(failure);
      context.endStep(this.member, {
        outcome: failure === undefined ? describeEnd(cause) : "stream_interrupted",
        error,
      });
    }
    if (failure !== undefined && !isOfCallerKey(failure, this.connection.callerKey)) {
      recordProviderError(this.member.model.instance, failure, context.deps);
    }
    const { status, code } = cause === undefined ? complete : readFault(cause, context);
    const respondedAt = this.#committedAt!;
    emitRecord(this.routing, context, { status, code, outcome, respondedAt, now, used, text });
  }
}

/** Why a response did not reach its end although its provider did not fail. */
function describeEnd(cause: unknown): string {
  return UnsupportedRequestError.isInstance(cause) ? "blocked" : "aborted";
}

/** The reason of a response that its reader cancels. */
export function clientDisconnect(): DOMException {
  return new DOMException("The client has disconnected", "AbortError");
}

/** Releases the permit of an attempt. */
export function release(
  { context, member, permit }: AdmittedModel,
  outcome: Outcome,
  { end, now = context.clock.monotonic() }: { readonly end?: RequestEnd; readonly now?: number } = {},
): void {
  permit.release(outcome, now, end);
  if (outcome === "failure") reportFailure(member, context);
}

/**
 * Queries the provider after a response. New limits replace earlier ones, as those in headers do.
 *
 * @param member The model that responded.
 * @param permit The permit of the request.
 */
function applyReportedLimits({ model: { info, instance } }: Member, permit: Permit): void {
  const queried = instance.queried?.get(info.id);
  if (queried === undefined || instance.connector !== undefined && queried.limits === undefined) return;
  let limits;
  try {
    limits = limitsIn(requireResult(instance.provider!.getRateLimits(info.id)));
  } catch {
    return; // traced at startup
  }
  if (limits === undefined || isSameLimits(limits, queried.latestLimits ?? queried.limits ?? {})) return;
  queried.latestLimits = limits;
  permit.limit(limits);
}
