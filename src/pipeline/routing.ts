/**
 * Steps 4 to 6: from model to model, until one serves.
 * @module
 */
import { retryFor } from "../config/settings/routing.ts";
import { rememberRouting } from "../observe/routing_of.ts";
import type { Member } from "../registry/registry.ts";
import { adaptRequest } from "./adapt_request.ts";
import { type AdmittedModel, openMembers, waitForSpacing } from "./admission.ts";
import { applyStrategy } from "./apply_strategy.ts";
import { attempt } from "./attempt.ts";
import { isIsolated, reportChoice, reportServed } from "./current_model.ts";
import { errorOf } from "./request_error.ts";
import type { RequestPlan } from "./plan.ts";
import { recordAbort, recordFailure, SuccessfulAttempt } from "./record_outcome.ts";
import type { RouteDeps } from "./deps.ts";
import type { Call, Routed } from "./routed.ts";
import { type FailedAttempt, RequestContext } from "./request_context.ts";
import { emitRecord, recordOf, statusOfError } from "./routing_record.ts";
import { selectionContext } from "./selection_context.ts";
import type { ServedTry } from "./try_once.ts";

/** A request that is ready to be sent. */
interface RoutingPlan<T> extends RequestPlan {
  /** Asks one model. */
  readonly call: Call<T>;
}

/** A fault of the request itself is not carried to more models than this. */
const maxRequestFaults = 3;

/** One request over its candidates, each asked at most once, in the strategy's order. */
export class Routing<T> {
  readonly #call: Call<T>;
  readonly #context: RequestContext;

  /**
   * Starts the request's deadline.
   *
   * @param plan The request, and the models that can take it.
   * @param deps What the pipeline works with.
   */
  constructor(plan: RoutingPlan<T>, deps: RouteDeps) {
    this.#call = plan.call;
    this.#context = new RequestContext(plan, deps);
    deps.hub.publish("request_started", undefined);
  }

  /**
   * Asks models until one serves. To be called once.
   *
   * @throws What the error table says when none served; the client's abort; the deadline.
   */
  async run(): Promise<Routed<T>> {
    let empty: SuccessfulAttempt<T> | undefined;
    try {
      for (let next = await this.#admit(); next !== undefined; next = await this.#admit()) {
        const success = await this.#tryModel(next);
        if (success === undefined) continue;
        const { served } = success.answered;
        if (!served.empty) return this.#commit(success);
        success.settle("none", { usage: served.usage, written: () => 0 });
        if (empty !== undefined) break; // a second empty answer: the first is as good
        empty = success;
      }
      if (empty === undefined) throw errorOf(this.#context);
      return this.#commit(empty);
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  /** The next model and its permit, after a wait where that is worth it; undefined when none may be asked. */
  async #admit(): Promise<AdmittedModel | undefined> {
    const context = this.#context;
    const { clock, plan } = context;
    const admission = { context, alone: true };
    for (;;) {
      const candidates = openMembers(this.#remaining(), admission);
      if (candidates.length === 0) {
        if (await waitForSpacing(admission)) continue;
        return undefined;
      }
      const member = this.#choose(plan.prefer?.(candidates) ?? candidates);
      const { ready } = member.model.instance;
      if (ready !== undefined) {
        await ready; // its key is being looked up again
        if (!openMembers(this.#remaining(), admission).includes(member)) continue;
      }
      // nothing is awaited between the check and this
      const permit = member.state.admit(plan.load, clock.monotonic());
      const unconfirmed = permit.confirm(clock);
      const denial = unconfirmed && await unconfirmed;
      if (denial === undefined) return { context, member, permit, alone: this.#isAlone(member, candidates) };
      permit.withdraw();
      context.takenElsewhere.set(member, denial);
    }
  }

  /** Eligible models that were not tried, whatever their state. */
  #remaining(): readonly Member[] {
    const { first, failures, tried, ruledOut, plan: { eligible, pool } } = this.#context;
    if (first === undefined) return eligible;
    const { instance } = first.model;
    const { scope } = retryFor(pool.routing, instance.entry.id);
    const faults = failures.filter(({ failure }) => failure.kind === "request").length;
    if (scope === "same_model" || faults >= maxRequestFaults) return [];
    return eligible.filter(({ model }) =>
      !tried.has(model.name) && !ruledOut.has(model.instance.entry.id) &&
      (scope === "any" || model.instance === instance)
    );
  }

  /** Whether no other candidate could take the request, should this one fail. */
  #isAlone({ model: { instance } }: Member, candidates: readonly Member[]): boolean {
    const { scope } = retryFor(this.#context.plan.pool.routing, instance.entry.id);
    return candidates.length === 1 || scope === "same_model" ||
      (scope !== "any" && candidates.filter(({ model }) => model.instance === instance).length === 1);
  }

  #choose(candidates: readonly Member[]): Member {
    const context = this.#context;
    const { plan, deps, tried } = context;
    const { pool, load, request: { session } } = plan;
    const selection = selectionContext({ pool, load, tried, session, isConstrained: isIsolated(plan) }, deps.runtime);
    const member = applyStrategy(candidates, pool, selection, deps.hub);
    reportChoice({ member, candidates }, context);
    if (deps.hub.isTraced("debug")) {
      const names = { request_id: plan.request.id, pool: pool.name, model: member.model.name };
      const message = `One of ${candidates.length} candidates is selected`;
      deps.hub.trace({ severity: "debug", component: "router", message, ...names });
    }
    return member;
  }

  /** Asks one model; undefined when it did not serve, which is recorded. */
  async #tryModel(next: AdmittedModel): Promise<SuccessfulAttempt<T> | undefined> {
    const { context, member, permit, alone } = next;
    context.first ??= member;
    context.tried.add(member.model.name);
    let end: ServedTry<T> | FailedAttempt;
    try {
      const { completion, dropped } = adaptRequest(context.plan.request, member.model);
      end = await attempt({ context, member, permit, alone, completion, call: this.#call });
      if ("served" in end) return new SuccessfulAttempt(next, { ...end, dropped });
    } catch (error) {
      recordAbort(next, error);
      throw error;
    }
    recordFailure(next, end);
    return undefined;
  }

  /** The answer is the request's: from here on only silence ends it, or the client. */
  #commit(success: SuccessfulAttempt<T>): Routed<T> {
    const context = this.#context;
    const { clock, plan } = context;
    const { member, answered: { served, connection, dropped } } = success;
    reportServed(member, context);
    const routing = recordOf(context, { member, by: connection.servedBy });
    context.commit();
    const answeredAt = clock.monotonic();
    let isOver = false;
    return {
      answer: served.answer,
      pool: plan.pool,
      member,
      routing,
      dropped: connection.dropped.length === 0 ? dropped : [...dropped, ...connection.dropped],
      connection,
      settle(outcome, answer) {
        context.end();
        const used = success.settle(outcome, answer);
        if (isOver) return used;
        isOver = true;
        emitRecord(routing, context, { status: 200, outcome, answeredAt, used, text: answer.text });
        return used;
      },
    };
  }

  #fail(error: unknown): void {
    const context = this.#context;
    context.end();
    const record = recordOf(context);
    const outcome = context.plan.request.signal?.aborted ? "none" : "failure";
    emitRecord(record, context, { status: statusOfError(error, context), outcome });
    if (typeof error === "object" && error !== null) rememberRouting(error, record);
  }
}
