/**
 * Step 6, second half: from model to model, until one serves.
 * @module
 */
import { DeadlineError } from "../errors.ts";
import { rememberRouting } from "../observe/routing_of.ts";
import type { Member, Pool } from "../registry/registry.ts";
import { type AdaptedRequest, adaptRequest } from "./adapt_request.ts";
import { applyStrategy } from "./apply_strategy.ts";
import { attempt } from "./attempt.ts";
import type { Connection } from "./connection.ts";
import { recordOf } from "./decision.ts";
import type { Fit } from "./fit.ts";
import { filterByState } from "./filter_by_state.ts";
import { learn } from "./learn.ts";
import { errorOf } from "./outcome.ts";
import type { Admitted, Call, Routed, RouteDeps, RoutedRequest, Served, Settle } from "./request.ts";
import { report } from "./report.ts";
import { Trip } from "./trip.ts";
import type { Usage } from "../state/meter.ts";
import type { ModelState } from "../state/model_state.ts";

/** A request whose pool is known. */
export interface RotatePlan<T> extends Fit {
  readonly request: RoutedRequest;
  readonly pool: Pool;
  readonly call: Call<T>;
}

/** A model that has not begun to answer for so long when the deadline comes is taken for dead, ms. */
const fairChanceMs = 10_000;

/** A fault of the request itself is not carried to more models than this. */
const mostRequestFaults = 3;

/**
 * Asks candidates in the strategy's order, each at most once.
 *
 * @param plan What is asked, and who can take it.
 * @param deps What the pipeline works with.
 * @throws What the error table says when nobody served; the client's abort; the deadline.
 */
export async function rotate<T>(plan: RotatePlan<T>, deps: RouteDeps): Promise<Routed<T>> {
  const trip = new Trip(plan.request, deps.runtime.clock, plan.load);
  let empty: Landing<T> | undefined;
  try {
    for (;;) {
      const candidates = await admit(remaining(plan, trip), true, plan, trip, deps);
      if (candidates.length === 0) break;
      const member = choose(plan.narrowed?.foremost?.(candidates) ?? candidates, plan, trip, deps);
      const refused = deps.limits?.refuses(member, trip);
      if (refused && await refused) continue; // not a moment passes between admitting and asking but for that
      const landing = await ask(member, isAlone(member, candidates, plan), plan, trip, deps);
      if (!landing) continue;
      if (!landing.served.empty) return arrive(landing, plan, trip, deps);
      landing.settle("none", landing.served.usage);
      if (empty) break; // a second empty answer: the first is as good
      empty = landing;
    }
    if (!empty) throw errorOf(plan, trip, deps);
    return arrive(empty, plan, trip, deps);
  } catch (error) {
    trip.end();
    const record = recordOf(plan, trip, deps);
    deps.hub.routing(record);
    if (typeof error === "object" && error) rememberRouting(error, record);
    throw error;
  }
}

/** A model that answered; it holds its ticket and its connection until it is settled. */
interface Landing<T> {
  readonly member: Member;
  readonly served: Served<T>;
  readonly adapted: AdaptedRequest;
  readonly connection: Connection;
  readonly settle: Settle;
}

/** Who may be asked; waits until somebody may, where that is worth it. */
function admit<T>(
  members: readonly Member[],
  alone: boolean,
  { pool }: RotatePlan<T>,
  trip: Trip,
  deps: RouteDeps,
): Admitted {
  const { clock } = deps.runtime;
  return deps.limits?.admit(members, { pool, trip, clock, alone }) ?? filterByState(members, clock.monotonic());
}

/** Who may take the request, whatever its state. */
function remaining<T>({ pool, capable }: RotatePlan<T>, trip: Trip): readonly Member[] {
  if (!trip.first) return capable;
  const { home } = trip.first.model;
  const { scope } = pool.routing.retry(home.entry.id);
  const faults = trip.misses.filter(({ failure }) => failure.kind === "request").length;
  if (scope === "same_model" || faults >= mostRequestFaults) return [];
  return capable.filter(({ model }) =>
    !trip.tried.has(model.name) && !trip.ruledOut.has(model.home.entry.id) && (scope === "any" || model.home === home)
  );
}

/** Whether nobody else may take the request, should this one fail. */
function isAlone<T>({ model: { home } }: Member, candidates: readonly Member[], { pool }: RotatePlan<T>): boolean {
  const { scope } = pool.routing.retry(home.entry.id);
  return candidates.length === 1 || scope === "same_model" ||
    (scope !== "any" && candidates.filter(({ model }) => model.home === home).length === 1);
}

function choose<T>(
  candidates: readonly Member[],
  { pool, request, narrowed }: RotatePlan<T>,
  trip: Trip,
  deps: RouteDeps,
): Member {
  const { modelPriority, providerPriority, balanceMode, rateLimit } = pool.routing;
  const member = applyStrategy(candidates, pool, {
    pool: pool.name,
    now: deps.runtime.clock.monotonic(),
    modelPriority,
    providerPriority,
    threshold: rateLimit?.threshold,
    balanceMode,
    narrowed: narrowed !== undefined,
    costOf: (view) => (view as ModelState).costOf?.(trip.load),
    tried: trip.tried,
    random: deps.runtime.random,
    session: request.session,
  }, deps.hub);
  const previous = trip.chain.at(-1);
  if (previous) {
    deps.hub.event({
      event: "rotation",
      pool: pool.name,
      model: member.model.name,
      provider: member.model.home.entry.id,
      from: previous.model,
      to: member.model.name,
      reason: previous.outcome,
      metadata: { request_id: request.id, ...(previous.status === undefined ? {} : { status: previous.status }) },
    });
  }
  return member;
}

/** One member's turn: what it answered, or undefined when it did not serve and lessons were drawn. */
async function ask<T>(
  member: Member,
  alone: boolean,
  plan: RotatePlan<T>,
  trip: Trip,
  deps: RouteDeps,
): Promise<Landing<T> | undefined> {
  const { clock } = deps.runtime;
  const { model, state } = member;
  const adapted = adaptRequest(plan.request, model);
  const from = clock.monotonic();
  const ticket = state.begin(from);
  trip.first ??= member;
  trip.tried.add(model.name);
  const step = (outcome: string, status?: number) =>
    trip.chain.push({
      model: model.name,
      provider: model.home.entry.id,
      outcome,
      ...(status === undefined ? {} : { status }),
      ms: Math.round(clock.monotonic() - from),
    });
  try {
    const settings = plan.pool.routing.retry(model.home.entry.id);
    const again = () => admit([member], alone, plan, trip, deps);
    const { completion } = adapted;
    const end = await attempt({ member, completion, call: plan.call, settings, alone, again }, trip, deps);
    if ("served" in end) {
      step(end.served.empty ? "empty" : "ok");
      const ms = clock.monotonic() - from;
      const settle = once((vote, usage) => {
        const used = report(member, usage, deps);
        end.connection.close();
        end.spending?.end(used);
        state.finish(ticket, vote, clock.monotonic(), { ms, ...used });
        return used;
      });
      return { member, adapted, ...end, settle };
    }
    step(end.failure.kind, end.failure.status);
    learn({ member, ticket, pool: plan.pool, ...end }, trip, deps);
  } catch (error) {
    step("aborted");
    // a deadline blames nobody, but for a model that had a fair chance and gave no sign of life
    const isDead = DeadlineError.isInstance(error) && trip.unansweredMs >= fairChanceMs;
    state.finish(ticket, isDead ? "failure" : "none", clock.monotonic());
    throw error;
  }
}

function arrive<T>(landing: Landing<T>, plan: RotatePlan<T>, trip: Trip, deps: RouteDeps): Routed<T> {
  const { member, served, connection, adapted } = landing;
  if (!plan.narrowed) plan.pool.current = member;
  const routing = recordOf(plan, trip, deps, member);
  trip.commit();
  deps.hub.routing(routing);
  return {
    answer: served.answer,
    pool: plan.pool,
    member,
    routing,
    dropped: adapted.dropped,
    connection,
    settle(vote, usage) {
      trip.end();
      return landing.settle(vote, usage);
    },
  };
}

function once(settle: Settle): Settle {
  let used: Usage | undefined;
  return (vote, usage) => used ??= settle(vote, usage);
}
