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
import { type Admission, type AdmittedModel, openMembers, untriedMembers, waitForSpacing } from "./admission.ts";
import { applyStrategy, isIsolated, reportChoice, selectionContext } from "./apply_strategy.ts";
import { loadQueues, retry, tryModel } from "./attempt.ts";
import { recordAbort, recordFailure } from "./record_outcome.ts";
import { type FailedAttempt, RequestContext } from "./request_context.ts";
import { createRoutingRecord, emitRecord, readFault } from "./routing_record.ts";

/** A request, its eligible models, and how one of them is called. */
interface Route<T extends Received> extends RequestPlan {
  /** Calls one model. */
  readonly call: Call<T>;
  /** Asks a second model meanwhile. */
  readonly hedging?: Hedging | undefined;
  /** Reads streams to their ends. */
  readonly readToEnd?: ReadToEnd | undefined;
}

/**
 * Routes one request, in the order of the specification.
 *
 * @param call Calls one model.
 * @param deps Dependencies.
 * @throws A `MeshError`, or the client's abort reason; also at once.
 */
export function route<T extends Received>(
  request: RoutedRequest,
  call: Call<T>,
  deps: RouteDeps,
): Promise<Result<T>> {
  const { registry } = deps;
  const { routingConstraints, providerKey, scopes } = request;
  // 1 capability resolution, 2 pool selection
  const pool = registry.relist === undefined ? poolFor(request.model, request, registry) : undefined;
  const { commit, affinity, hedge } = pool?.routing ?? {};
  const isPlain = routingConstraints === undefined && providerKey === undefined && scopes === undefined &&
    !registry.takesCallerKeys && commit !== "complete" && !affinity && !hedge;
  if (pool === undefined || !isPlain) return routeWithMore({ request, pool, call }, deps);
  const { eligible, load, isConstrained, prefer } = eligibility({ request, pool, registry }); // 3 filters by delivery and by request
  return rotate({ request, pool, eligible, load, isConstrained, prefer, call }, deps); // 4 state, 5 strategy, 6 retry and rotation
}

async function routeWithMore<T extends Received>(
  { request, pool: listed, call }: Pick<Route<T>, "request" | "call"> & { readonly pool: Pool | undefined },
  deps: RouteDeps,
): Promise<Result<T>> {
  const { registry } = deps;
  const pool = listed ?? await onceListed(request, deps);
  const choice = request.routingConstraints && await chooseModels({ request, pool, registry });
  const commit = request.routingConstraints?.commit?.at ?? pool.routing.commit;
  const readToEnd = commit === "complete" ? (await import("./complete_stream.ts")).selectReadToEnd(request) : undefined;
  let found = eligibility({ request, pool, registry, choice });
  if (registry.takesCallerKeys || request.providerKey !== undefined) {
    const { withCallerKeys } = await import("./caller_keys.ts");
    found = withCallerKeys(found, { request, pool, registry });
  }
  const admission = request.scopes?.admit();
  if (admission !== undefined) await admission;
  const affinity = pool.routing.affinity && await readAffinity({ request, pool }, deps);
  const hedging = pool.routing.hedge && await createHedging({ request, pool }, deps);
  return await rotate({ request, pool, ...found, call, readToEnd, affinity, hedging }, deps);
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

/**
 * Starts the deadline, and rotates over the candidates, each at most once, in the strategy's order, until one serves the
 * request.
 *
 * @throws The error according to the error table if no model serves it; the client's abort reason; the deadline.
 */
export async function rotate<T extends Received>(route: Route<T>, deps: RouteDeps): Promise<Result<T>> {
  // few variables: those of an async function are allocated
  const context = new RequestContext(route, deps);
  deps.hub.publish("request_started", undefined);
  let empty: Result<T> | undefined;
  try {
    for (let next = admit(context); next !== undefined; next = admit(context)) {
      if (next instanceof Promise) next = await next;
      if (next === undefined) break;
      const result = await tryNext(next, route);
      if (result === undefined) continue;
      if (!result.received.isEmpty) return result.commit();
      result.settle("none", { usage: undefined, ...result.received.usage, written: () => 0 });
      if (empty !== undefined) break; // the first of two empty responses is returned
      empty = result;
    }
    if (empty === undefined) throw (await import("./request_error.ts")).createRequestError(context);
    return empty.commit();
  } catch (error) {
    // it has waited in vain for a model that may have more to say
    if (empty !== undefined && RateLimitError.isInstance(error)) return empty.commit();
    fail(error, context);
    throw error;
  }
}

/**
 * Selects and admits the next model, after waiting for spacing if necessary; undefined if no model admits the request.
 */
function admit(context: RequestContext): AdmittedModel | undefined | Promise<AdmittedModel | undefined> {
  const { plan } = context;
  if (plan.pool.routing.queue !== undefined) return admitFromQueue(context);
  const now = context.clock.monotonic();
  const admission = { context, alone: true, now };
  const candidates = openMembers(untriedMembers(context), admission);
  if (candidates.length === 0) {
    return waitForSpacing(admission).then((hasWaited) => hasWaited ? admit(context) : undefined);
  }
  const member = choose(plan.prefer?.(candidates) ?? candidates, admission);
  const { ready } = member.model.instance;
  if (ready === undefined) return reserve(member, { context, candidates, now });
  return ready.then(() => { // its API key is being renewed
    const later = { context, alone: true, now: context.clock.monotonic() };
    const isOpen = openMembers(untriedMembers(context), later).includes(member);
    return isOpen ? reserve(member, { context, candidates, now: later.now }) : admit(context);
  });
}

/** Admits the request, in the turn of the event loop in which it was found that it may be. */
function reserve(member: Member, { context, candidates, now }: {
  readonly context: RequestContext;
  readonly candidates: readonly Member[];
  /** Monotonic ms. */
  readonly now: number;
}): ReturnType<typeof admit> {
  const { clock, plan: { load, affinity, pool } } = context;
  const permit = member.state.admit(affinity === undefined ? load : affinity.withKey(load, member), now);
  affinity?.select(member, permit);
  const admitted = { context, member, permit, alone: candidates.length === 1 || isAlone(member, { candidates, pool }) };
  return permit.confirm(clock)?.then((denial) => {
    if (denial === undefined) return admitted;
    permit.withdraw();
    (context.takenElsewhere ??= new Map()).set(member, denial);
    return admit(context);
  }) ?? admitted;
}

/** Does the same in a pool with a queue, after waiting for a model at its limit if necessary. */
async function admitFromQueue(context: RequestContext): Promise<AdmittedModel | undefined> {
  const { admitInOrder } = await loadQueues();
  const { prefer, pool } = context.plan;
  return await admitInOrder(context, {
    candidates: () => untriedMembers(context),
    choose: (open) => choose(prefer?.(open) ?? open, { context }),
    isAlone: (member, open) => open.length === 1 || isAlone(member, { candidates: open, pool }),
  });
}

/** Whether no other one of several candidates could serve the request if this one fails. */
function isAlone({ model: { instance } }: Member, { candidates, pool }: {
  readonly candidates: readonly Member[];
  readonly pool: Pool;
}): boolean {
  const { scope } = retryFor(pool.routing, instance.entry.id);
  return scope === "same_model" ||
    (scope !== "any" && candidates.filter(({ model }) => model.instance === instance).length === 1);
}

function choose(candidates: readonly Member[], { context, now }: Pick<Admission, "context" | "now">): Member {
  const { plan, deps: { runtime, hub }, tried } = context;
  const { pool, load, request: { session } } = plan;
  const selection = selectionContext({ pool, load, tried, session, isConstrained: isIsolated(plan), now }, runtime);
  const placed = plan.affinity?.findMember(candidates);
  const member = placed ?? applyStrategy(candidates, pool, { context: selection, hub });
  reportChoice({ member, candidates, isPlaced: placed !== undefined }, context);
  if (hub.isTraced("debug")) {
    const names = { request_id: plan.request.id, pool: pool.name, model: member.model.name };
    const message = `One of ${candidates.length} candidates is selected`;
    hub.trace({ severity: "debug", component: "router", message, ...names });
  }
  return member;
}

/** Attempts the request at the next model; undefined if that fails, which is recorded. */
function tryNext<T extends Received>(next: AdmittedModel, route: Route<T>): Promise<Result<T> | undefined> {
  const { call, hedging, readToEnd } = route;
  const trying = hedging === undefined
    ? attempt(next, call)
    : hedging.tryModel(next, (admitted) => attempt(admitted, call));
  if (readToEnd === undefined) return trying;
  return trying.then(async (result) => {
    return result !== undefined && await readToEnd(result, next.context) ? result : undefined;
  });
}

/** Attempts the request at one model; undefined if it fails, which is recorded. */
async function attempt<T extends Received>(admitted: AdmittedModel, call: Call<T>): Promise<Result<T> | undefined> {
  const { context, member, permit } = admitted;
  context.first ??= member;
  context.tried = [...context.tried, member.model.name];
  let end: Result<T> | FailedAttempt;
  try {
    const loading = loadRules(admitted);
    if (loading !== undefined) await loading;
    const scope = toScope(admitted, call);
    member.model.instance.retryBudget.deposit(permit.admittedAt);
    const first = await tryModel(scope);
    end = first instanceof Result ? first : await retry(scope, first);
    if (end instanceof Result) return end;
  } catch (error) {
    recordAbort(admitted, error);
    throw error;
  }
  recordFailure(admitted, end);
  return undefined;
}

/** Imports what adapts requests to a model; undefined if nothing has to be imported. */
function loadRules({ context: { plan: { request } }, member: { model } }: AdmittedModel): Promise<unknown> | undefined {
  const rules = request.operation.prepare?.(model, request.body);
  if (!model.instance.entry.promptCache?.auto) return rules;
  return Promise.all([rules, loadPromptCache()]);
}

function toScope<T extends Received>(
  { context, member, permit, alone }: AdmittedModel,
  call: Call<T>,
): Parameters<typeof tryModel<T>>[0] {
  const { model, state } = member;
  const { request, pool } = context.plan;
  const { api, completion, clientNames, dropped, added } = adaptRequest(
    request,
    model,
    state.tracker.shared.rejectedMembers,
  );
  context.api = api;
  const rotatesFiltered = pool.routing.onContentFilter === "rotate";
  return { context, member, permit, alone, completion, clientNames, dropped, added, rotatesFiltered, call };
}

/** Records that no model has served the request. */
function fail(error: unknown, context: RequestContext): void {
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
