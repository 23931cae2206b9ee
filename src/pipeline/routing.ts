/**
 * Steps 4 to 6: rotates over models until one serves the request.
 * @module
 */
import { retryFor } from "../config/settings/routing.ts";
import { rememberRouting } from "../observe/routing_of.ts";
import type { Member } from "../registry/registry.ts";
import { adaptRequest } from "./adapt_request.ts";
import { type Admission, type AdmittedModel, openMembers, waitForSpacing } from "./admission.ts";
import { applyStrategy } from "./apply_strategy.ts";
import { attempt } from "./attempt.ts";
import { isIsolated, reportChoice, reportServed } from "./current_model.ts";
import { errorOf } from "./request_error.ts";
import type { RequestPlan } from "./eligibility.ts";
import { recordAbort, recordFailure, SuccessfulAttempt } from "./record_outcome.ts";
import type { RouteDeps } from "./deps.ts";
import type { Call, Routed } from "./routed.ts";
import { RequestContext } from "./request_context.ts";
import { emitRecord, recordOf, statusOfError } from "./routing_record.ts";
import { selectionContext } from "./selection_context.ts";

/** Maximum number of models to which a request that fails as invalid is sent. */
const maxRequestFaults = 3;

/** The rotation of one request over its candidates, each at most once, in the strategy's order. */
export class Routing<T> {
  readonly #call: Call<T>;
  readonly #context: RequestContext;

  /**
   * Starts the request's deadline.
   *
   * @param plan The request and its eligible models.
   * @param deps Dependencies.
   */
  constructor(plan: RequestPlan, call: Call<T>, deps: RouteDeps) {
    this.#call = call;
    this.#context = new RequestContext(plan, deps);
    deps.hub.publish("request_started", undefined);
  }

  /**
   * Rotates over models until one serves the request. Can be called once.
   *
   * @throws The error according to the error table if no model serves it; the client's abort reason; the deadline.
   */
  async run(): Promise<Routed<T>> {
    const context = this.#context;
    const call = this.#call;
    let current: AdmittedModel | undefined;
    let empty: SuccessfulAttempt<T> | undefined;
    try {
      for (;;) {
        const admission = this.#admit();
        const next = admission instanceof Promise ? await admission : admission;
        if (next === undefined) break;
        current = next;
        const { member, permit, alone } = next;
        context.addTried(member);
        const { completion, dropped } = adaptRequest(context.plan.request, member.model);
        const end = await attempt({ context, member, permit, alone, completion, call });
        current = undefined;
        if (!("served" in end)) {
          recordFailure(next, end);
          await Promise.resolve(); // an outage that the failure causes is reported before the rotation
          continue;
        }
        const { served, connection } = end;
        const success = new SuccessfulAttempt(next, { served, connection, dropped });
        if (!served.empty) return this.#commit(success);
        success.settle("none", { usage: served.usage, written: () => 0 });
        if (empty !== undefined) break; // the first of two empty responses is returned
        empty = success;
      }
      if (empty === undefined) throw errorOf(context);
      return this.#commit(empty);
    } catch (error) {
      if (current !== undefined) recordAbort(current, error);
      this.#fail(error);
      throw error;
    }
  }

  /**
   * Selects and admits the next model; undefined if no model admits the request. Waits only if it has to: for spacing,
   * for an API key, or for the store of shared limits.
   */
  #admit(): AdmittedModel | undefined | Promise<AdmittedModel | undefined> {
    const admission = { context: this.#context, alone: true };
    const candidates = openMembers(this.#remaining(), admission);
    if (candidates.length === 0) return this.#admitAfterSpacing(admission);
    const member = this.#choose(this.#context.plan.prefer?.(candidates) ?? candidates);
    const { ready } = member.model.instance;
    return ready === undefined ? this.#admitTo(member, candidates) : this.#admitAfter(ready, member, candidates);
  }

  async #admitAfterSpacing(admission: Admission): Promise<AdmittedModel | undefined> {
    return await waitForSpacing(admission) ? await this.#admit() : undefined;
  }

  /** @param ready Resolves when the API key of the provider is renewed. */
  async #admitAfter(
    ready: Promise<void>,
    member: Member,
    candidates: readonly Member[],
  ): Promise<AdmittedModel | undefined> {
    await ready;
    const isOpen = openMembers(this.#remaining(), { context: this.#context, alone: true }).includes(member);
    return await (isOpen ? this.#admitTo(member, candidates) : this.#admit());
  }

  /** Must be called in the turn of the event loop in which the member was open. */
  #admitTo(member: Member, candidates: readonly Member[]): AdmittedModel | Promise<AdmittedModel | undefined> {
    const context = this.#context;
    const { clock, plan } = context;
    const permit = member.state.admit(plan.load, clock.monotonic());
    const admitted = { context, member, permit, alone: this.#isAlone(member, candidates) };
    return permit.confirm(clock)?.then((denial) => {
      if (denial === undefined) return admitted;
      permit.withdraw();
      (context.takenElsewhere ??= new Map()).set(member, denial);
      return this.#admit();
    }) ?? admitted;
  }

  /** Eligible models not yet tried, in any state. */
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

  /** Whether no other candidate could serve the request if this one fails. */
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

  /** Commits the response. Only the idle timeout or the client ends it after that. */
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
