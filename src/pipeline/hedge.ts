/**
 * Hedging: while the first model of a request has not responded, a second one is asked. The first content wins. Imported
 * with the first request to a pool that hedges.
 *
 * Source: Dean and Barroso, "The Tail at Scale", CACM 56, 2013: hedged requests after the 95th percentile of latency.
 * @module
 */
import { type HedgeSettings, retryFor } from "../config/settings/routing.ts";
import type { Clock } from "../contracts/runtime.ts";
import type { Member, PoolHedging } from "../registry/registry.ts";
import { HedgeBudget } from "../state/limits/hedge_budget.ts";
import { LatencyPercentiles } from "../state/metrics/latency_percentiles.ts";
import { getOrCreate } from "../util/once.ts";
import { type AdmittedModel, openMembers } from "./admission.ts";
import { applyStrategy, selectionContext } from "./apply_strategy.ts";
import type { RequestPlan } from "./eligibility.ts";
import { type Branch, HedgeRace, type TryModel } from "./hedge_race.ts";
import type { Load } from "../state/model/usage.ts";
import type { RouteDeps } from "./request.ts";
import type { RequestContext } from "./request_context.ts";
import { release } from "./result.ts";
import type { Received, Result } from "./result.ts";

/**
 * Counts a request to a pool that hedges.
 *
 * @param plan The request and its pool.
 * @returns Undefined if its operation, or what it contains, excludes hedging.
 */
export function hedgingFor(
  { request, pool }: Pick<RequestPlan, "request" | "pool">,
  { runtime: { clock } }: RouteDeps,
): Hedging | undefined {
  if (!mayHedge({ request, pool })) return undefined;
  const state = (pool.base ?? pool).hedging ??= { budget: new HedgeBudget(), latencies: new Map() };
  state.budget.deposit(clock.monotonic());
  return new Hedging(pool.routing.hedge!, state);
}

/** Whether a request to a pool may be hedged. Tools that a provider runs may have effects, which would occur twice. */
export function mayHedge(
  { request: { operation, body, original }, pool: { routing } }: Pick<RequestPlan, "request" | "pool">,
): boolean {
  return routing.hedge !== undefined && operation.mayHedge?.(body) === true && original?.isNativeOnly !== true;
}

/**
 * Returns the time without content after which a second model is asked, ms: the percentile of the model, else of the
 * pool. Undefined with too few measurements.
 *
 * @param model Name of the first model.
 */
export function findHedgeDelay(
  model: string,
  { request: { delivery }, pool }: Pick<RequestPlan, "request" | "pool">,
): number | undefined {
  const { routing: { hedge }, hedging } = pool.base ?? pool;
  const { after } = hedge!;
  if ("ms" in after) return after.ms;
  for (const key of latencyKeys(delivery, model)) {
    const ms = hedging?.latencies.get(key)?.find(after.percentile);
    if (ms !== undefined) return ms;
  }
  return undefined;
}

/** The hedging of one request, which asks at most one model besides those of its rotation. */
export class Hedging {
  readonly #settings: HedgeSettings;
  readonly #state: PoolHedging;
  #isUsed = false;

  /** @param state Of the pool. */
  constructor(settings: HedgeSettings, state: PoolHedging) {
    this.#settings = settings;
    this.#state = state;
  }

  /**
   * Attempts a request at a model, and at a second one if the first has not responded in time.
   *
   * @param first The first model.
   * @param tryModel Attempts the request at one model.
   * @returns The first response with content, else an empty one; undefined if both fail.
   * @throws The client's abort reason, or the deadline.
   */
  async tryModel<T extends Received>(first: AdmittedModel, tryModel: TryModel<T>): Promise<Result<T> | undefined> {
    const { context, member } = first;
    const { clock } = context;
    if (this.#isUsed) Object.assign(context, { hedge: "lost", isOutrun: false }); // the response of neither was used
    const delayMs = this.#findDelay(first);
    const from = clock.monotonic();
    if (delayMs === undefined) {
      const result = await tryModel(first);
      if (result?.received.isEmpty === false) this.#measure(context, member, clock.monotonic() - from);
      return result;
    }
    const race = new HedgeRace(context, tryModel);
    const branch = race.add(first);
    if (!await endsWithin(branch, delayMs, clock)) {
      const second = await this.#admitSecond(branch, context);
      if (second !== undefined) {
        traceHedge(second, { first: member, delayMs });
        race.add(second);
      }
    }
    const winner = await race.finish();
    for (const { admitted: { member }, responseMs } of race.branches) {
      if (responseMs !== undefined) this.#measure(context, member, responseMs);
    }
    return winner;
  }

  /** Returns how long to wait for a model, ms; undefined if no other is asked meanwhile. */
  #findDelay({ context: { plan }, member: { model } }: AdmittedModel): number | undefined {
    const { scope } = retryFor(plan.pool.routing, model.instance.entry.id);
    return this.#isUsed || scope === "same_model" ? undefined : findHedgeDelay(model.name, plan);
  }

  #measure({ plan: { request } }: RequestContext, { model: { name } }: Member, ms: number): void {
    if ("ms" in this.#settings.after) return;
    for (const key of latencyKeys(request.delivery, name)) {
      getOrCreate(this.#state.latencies, key, () => new LatencyPercentiles()).add(ms);
    }
  }

  /** Selects and admits a second model, within the share; undefined if there is none, or the first has ended. */
  async #admitSecond<T extends Received>(
    first: Branch<T>,
    context: RequestContext,
  ): Promise<AdmittedModel | undefined> {
    const { clock, plan: { pool } } = context;
    const { budget } = this.#state;
    const now = clock.monotonic();
    const { queue } = pool.base ?? pool;
    if (queue !== undefined && queue.length > 0) return undefined; // requests that wait go first
    if (!budget.withdraw(now, this.#settings.maxShare)) return undefined;
    const second = await admit(first, context);
    if (second === undefined) budget.refund(clock.monotonic(), now);
    else this.#isUsed = true;
    return second;
  }
}

/** Names of the latencies of a model, and of its pool. */
function latencyKeys(delivery: string, model: string): readonly [model: string, pool: string] {
  return [`${delivery} ${model}`, delivery];
}

/** Whether an attempt ends within a time. */
function endsWithin(branch: Pick<Branch<Received>, "ended">, ms: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => resolve(false));
    branch.ended.then(() => {
      cancel();
      resolve(true);
    }, reject);
  });
}

/**
 * Admits a request at a second model. The retry budget of the first one's provider applies: a hedge is load that no
 * client has sent, as a retry is.
 */
async function admit<T extends Received>(
  first: Branch<T>,
  context: RequestContext,
): Promise<AdmittedModel | undefined> {
  const { clock, plan: { load } } = context;
  const now = clock.monotonic();
  const { permit: { keyIndex }, member: firstMember } = first.admitted;
  const member = selectSecond(first, context);
  if (member === undefined || !firstMember.model.instance.retryBudget.withdraw(now)) return undefined;
  // check and admission are in the same turn of the event loop
  const isSame = member === firstMember;
  const permit = member.state.admit(isSame ? withOtherKey(load, first.admitted, now) : load, now);
  const second = { context, member, permit, alone: false };
  if (isSame && permit.keyIndex === keyIndex) {
    permit.withdraw(); // no other API key has capacity
    return undefined;
  }
  const unconfirmed = permit.confirm(clock);
  const denial = unconfirmed && await unconfirmed;
  if (denial !== undefined) permit.withdraw();
  else if (first.isOver || context.isStopped) release(second, "none");
  else return second;
  return undefined;
}

/** Prefers another API key of the same model, the next one that is not in standby. */
function withOtherKey(load: Load, { member: { model, state }, permit: { keyIndex = 0 } }: AdmittedModel, now: number) {
  const pool = state.tracker.keys!;
  const { keys } = pool;
  for (let step = 1; step < keys.length; step++) {
    const index = (keyIndex + step) % keys.length;
    const apiKey = keys[index]!;
    if (pool.standbyUntil(apiKey, model.info.id, now) === undefined) {
      return { ...load, preferredKey: { apiKey, index } };
    }
  }
  return load;
}

/**
 * Selects the second model by the pool's strategy: among those of other provider entries, else among the others of the
 * same entry. Without any, it is the same model with another API key. Half-open models are excluded, since a hedge that
 * is cancelled decides nothing about them.
 */
function selectSecond<T extends Received>(
  { admitted: { member: first, context: branch } }: Branch<T>,
  { plan, deps, tried, ruledOut, first: begun = first }: RequestContext,
): Member | undefined {
  const { pool, load, request: { session } } = plan;
  const { instance } = begun.model;
  const { scope } = retryFor(pool.routing, instance.entry.id);
  const others = plan.eligible.filter(({ model }) =>
    model !== first.model && !tried.includes(model.name) && !ruledOut.includes(model.instance.entry.id) &&
    (scope === "any" || model.instance === instance)
  );
  const open = openNow(others, branch);
  if (open.length === 0) return first.state.tracker.keys && openNow([first], branch)[0];
  const preferred = plan.prefer?.(open) ?? open;
  const elsewhere = preferred.filter(({ model }) => model.instance !== first.model.instance);
  const isConstrained = true; // the selection changes nothing for other requests
  const context = selectionContext(
    { pool, load, session, isConstrained, tried: tried.concat(first.model.name) },
    deps.runtime,
  );
  return applyStrategy(elsewhere.length > 0 ? elsewhere : preferred, pool, { context, hub: deps.hub });
}

/** The members that admit a hedge without waiting for an API key. */
function openNow(members: readonly Member[], context: RequestContext): readonly Member[] {
  return openMembers(members, { context, alone: false }).filter(({ model, state }) =>
    !state.isHalfOpen && model.instance.ready === undefined
  );
}

function traceHedge(
  { context: { plan: { pool, request }, deps: { hub } }, member: { model } }: AdmittedModel,
  { first, delayMs }: { readonly first: Member; readonly delayMs: number },
): void {
  if (!hub.isTraced("debug")) return;
  const message = `The model "${first.model.name}" has not responded within ${Math.round(delayMs)} ms; ` +
    `"${model.name}" is asked too`;
  hub.trace({
    severity: "debug",
    component: "router",
    message,
    request_id: request.id,
    pool: pool.name,
    model: model.name,
  });
}
