/**
 * Routing of one request: from a virtual name to a response, over one model after the other.
 * @module
 */
import { eligibility, type EligibilityContext, type ModelChoice, type RequestPlan } from "./eligibility.ts";
import { DeadlineError, RateLimitError } from "../errors.ts";
import type { Member, Pool } from "../registry/registry.ts";
import type { RouteDeps, RoutedRequest } from "./request.ts";
import type { Hedging } from "./hedge.ts";
import type { ReadToEnd } from "./complete_stream.ts";
import { type Call, type Received, Result } from "./result.ts";
import { poolFor } from "./select_pool.ts";
import { retryFor } from "../config/settings/routing.ts";
import { rememberRouting } from "../observe/routing_of.ts";
import { adaptRequest, loadPromptCache } from "./adapt_request.ts";
import { type AdmittedModel, openMembers, untriedMembers, waitForSpacing } from "./admission.ts";
import { applyStrategy, isIsolated, reportChoice, selectionContext } from "./apply_strategy.ts";
import { attempt, loadQueues } from "./attempt.ts";
import { recordAbort, recordFailure } from "./record_outcome.ts";
import { type FailedAttempt, RequestContext } from "./request_context.ts";
import { createRoutingRecord, emitRecord, readFault } from "./routing_record.ts";

/**
 * Routes one request, in the order of the specification.
 *
 * @param call Calls one model.
 * @param deps Dependencies.
 * @throws A `MeshError`, or the client's abort reason.
 */
export async function route<T extends Received>(
  request: RoutedRequest,
  call: Call<T>,
  deps: RouteDeps,
): Promise<Result<T>> {
  const { registry } = deps;
  // 1 capability resolution, 2 pool selection
  const pool = registry.relist === undefined
    ? poolFor(request.model, request, registry)
    : await onceListed(request, deps);
  const choice = request.routingConstraints && await chooseModels({ request, pool, registry });
  const commit = request.routingConstraints?.commit?.at ?? pool.routing.commit;
  const readToEnd = commit === "complete" ? (await import("./complete_stream.ts")).selectReadToEnd(request) : undefined;
  let found = eligibility({ request, pool, registry, choice }); // 3 filters by delivery and by request
  if (registry.takesCallerKeys || request.providerKey !== undefined) {
    const { withCallerKeys } = await import("./caller_keys.ts");
    found = withCallerKeys(found, { request, pool, registry });
  }
  const admission = request.scopes?.admit();
  if (admission !== undefined) await admission;
  const affinity = pool.routing.affinity && await readAffinity({ request, pool }, deps);
  const hedging = pool.routing.hedge && await createHedging({ request, pool }, deps);
  const plan = { request, pool, ...found, call, readToEnd, affinity, hedging };
  return await new Routing(plan, deps).run(); // 4 state, 5 strategy, 6 retry and rotation
}

/** Usually every provider has listed its models. */
async function onceListed(request: RoutedRequest, deps: RouteDeps): Promise<Pool> {
  const { poolOnceListed } = await import("./pool_once_listed.ts");
  return await poolOnceListed(request, deps);
}

/** Most requests have no routing constraints, so the code for them is imported with the first one that has. */
async function chooseModels(context: EligibilityContext): Promise<ModelChoice | undefined> {
  const { modelChoice } = await import("./model_choice.ts");
  return modelChoice(context);
}

/** Most pools have no affinity. */
async function readAffinity(
  scope: Pick<RequestPlan, "request" | "pool">,
  deps: RouteDeps,
): Promise<RequestPlan["affinity"]> {
  const { findAffinity } = await import("./affinity.ts");
  return findAffinity(scope, deps);
}

/** Few pools hedge, so the code for it is imported with the first request to one that does. */
async function createHedging(plan: Pick<RequestPlan, "request" | "pool">, deps: RouteDeps) {
  const { hedgingFor } = await import("./hedge.ts");
  return hedgingFor(plan, deps);
}

/** The rotation of one request over its candidates, each at most once, in the strategy's order. */
export class Routing<T extends Received> {
  readonly #call: Call<T>;
  readonly #hedging: Hedging | undefined;
  readonly #context: RequestContext;
  readonly #readToEnd: ReadToEnd | undefined;

  /**
   * Starts the request's deadline.
   *
   * @param plan The request, its eligible models, the call of one of them, what asks a second one meanwhile, and what reads
   * streams to their ends.
   * @param deps Dependencies.
   */
  constructor(
    plan: RequestPlan & {
      readonly call: Call<T>;
      readonly hedging?: Hedging | undefined;
      readonly readToEnd?: ReadToEnd | undefined;
    },
    deps: RouteDeps,
  ) {
    this.#call = plan.call;
    this.#hedging = plan.hedging;
    this.#readToEnd = plan.readToEnd;
    this.#context = new RequestContext(plan, deps);
    deps.hub.publish("request_started", undefined);
  }

  /**
   * Rotates over models until one serves the request. Can be called once.
   *
   * @throws The error according to the error table if no model serves it; the client's abort reason; the deadline.
   */
  async run(): Promise<Result<T>> {
    let empty: Result<T> | undefined;
    try {
      for (let next = await this.#admit(); next !== undefined; next = await this.#admit()) {
        const result = this.#hedging === undefined
          ? await this.#tryModel(next)
          : await this.#hedging.tryModel(next, (admitted) => this.#tryModel(admitted));
        if (result === undefined) continue;
        if (this.#readToEnd !== undefined && !await this.#readToEnd(result, this.#context)) continue;
        if (!result.received.isEmpty) return result.commit();
        result.settle("none", { usage: undefined, ...result.received.usage, written: () => 0 });
        if (empty !== undefined) break; // the first of two empty responses is returned
        empty = result;
      }
      if (empty === undefined) throw (await import("./request_error.ts")).createRequestError(this.#context);
      return empty.commit();
    } catch (error) {
      // it has waited in vain for a model that may have more to say
      if (empty !== undefined && RateLimitError.isInstance(error)) return empty.commit();
      this.#fail(error);
      throw error;
    }
  }

  /**
   * Selects and admits the next model, after waiting for spacing if necessary; undefined if no model admits the
   * request.
   */
  async #admit(): Promise<AdmittedModel | undefined> {
    const context = this.#context;
    const { clock, plan } = context;
    if (plan.pool.routing.queue !== undefined) return await this.#admitInOrder();
    const admission = { context, alone: true };
    for (;;) {
      const candidates = openMembers(untriedMembers(context), admission);
      if (candidates.length === 0) {
        if (await waitForSpacing(admission)) continue;
        return undefined;
      }
      const member = this.#choose(plan.prefer?.(candidates) ?? candidates);
      const { ready } = member.model.instance;
      if (ready !== undefined) {
        await ready; // its API key is being renewed
        if (!openMembers(untriedMembers(context), admission).includes(member)) continue;
      }
      // check and admission are in the same turn of the event loop
      const { affinity } = plan;
      const load = affinity === undefined ? plan.load : affinity.withKey(plan.load, member);
      const permit = member.state.admit(load, clock.monotonic());
      affinity?.select(member, permit);
      const unconfirmed = permit.confirm(clock);
      const denial = unconfirmed && await unconfirmed;
      if (denial === undefined) return { context, member, permit, alone: this.#isAlone(member, candidates) };
      permit.withdraw();
      context.takenElsewhere.set(member, denial);
    }
  }

  /** Does the same in a pool with a queue, after waiting for a model at its limit if necessary. */
  async #admitInOrder(): Promise<AdmittedModel | undefined> {
    const { admitInOrder } = await loadQueues();
    const { prefer } = this.#context.plan;
    return await admitInOrder(this.#context, {
      candidates: () => untriedMembers(this.#context),
      choose: (open) => this.#choose(prefer?.(open) ?? open),
      isAlone: (member, open) => this.#isAlone(member, open),
    });
  }

  /** Whether no other candidate could serve the request if this one fails. */
  #isAlone({ model: { instance } }: Member, candidates: readonly Member[]): boolean {
    if (candidates.length === 1) return true;
    const { scope } = retryFor(this.#context.plan.pool.routing, instance.entry.id);
    return scope === "same_model" ||
      (scope !== "any" && candidates.filter(({ model }) => model.instance === instance).length === 1);
  }

  #choose(candidates: readonly Member[]): Member {
    const context = this.#context;
    const { plan, deps, tried } = context;
    const { pool, load, request: { session } } = plan;
    const selection = selectionContext({ pool, load, tried, session, isConstrained: isIsolated(plan) }, deps.runtime);
    const placed = plan.affinity?.findMember(candidates);
    const member = placed ?? applyStrategy(candidates, pool, { context: selection, hub: deps.hub });
    reportChoice({ member, candidates, isPlaced: placed !== undefined }, context);
    if (deps.hub.isTraced("debug")) {
      const names = { request_id: plan.request.id, pool: pool.name, model: member.model.name };
      const message = `One of ${candidates.length} candidates is selected`;
      deps.hub.trace({ severity: "debug", component: "router", message, ...names });
    }
    return member;
  }

  /** Attempts the request at one model; undefined if it fails, which is recorded. */
  async #tryModel(next: AdmittedModel): Promise<Result<T> | undefined> {
    const { context, member, permit, alone } = next;
    context.first ??= member;
    context.tried.add(member.model.name);
    let end: Result<T> | FailedAttempt;
    try {
      const { request } = context.plan;
      const loading = request.operation.prepare?.(member.model, request.body);
      if (loading !== undefined) await loading;
      if (member.model.instance.entry.promptCache?.auto) await loadPromptCache();
      const adapted = adaptRequest(request, member.model, member.state.tracker.shared.rejectedMembers);
      context.api = adapted.api;
      end = await attempt({ context, member, permit, alone, ...adapted, call: this.#call });
      if (end instanceof Result) return end;
    } catch (error) {
      recordAbort(next, error);
      throw error;
    }
    recordFailure(next, end);
    return undefined;
  }

  #fail(error: unknown): void {
    const context = this.#context;
    context.end();
    context.plan.affinity?.fail();
    const record = createRoutingRecord(context);
    // the last of several requests may have ended at its deadline
    const isLeft = context.plan.request.signal?.aborted && !DeadlineError.isInstance(error);
    const outcome = isLeft ? "none" : "failure";
    const { status, code } = readFault(error, context);
    emitRecord(record, context, { status, code, outcome, used: context.charged });
    if (typeof error === "object" && error !== null) rememberRouting(error, record);
  }
}
