/**
 * Step 6, second half: from model to model, until one serves.
 * @module
 */
import { DeadlineError, MeshError } from "../errors.ts";
import { rememberRouting } from "../observe/routing_of.ts";
import type { Member, Pool } from "../registry/registry.ts";
import { openMembers, readmit, waitForSpacing } from "./admission.ts";
import { type AdaptedRequest, adaptRequest } from "./adapt_request.ts";
import { applyStrategy } from "./apply_strategy.ts";
import { attempt } from "./attempt.ts";
import type { Connection } from "./connection.ts";
import { isIsolated, reportChoice, reportFailure, reportServed } from "./current_model.ts";
import { recordOf } from "./decision.ts";
import type { Eligibility } from "./eligibility.ts";
import { errorOf } from "./outcome.ts";
import type { Call, Routed, RouteDeps, RoutedRequest, Served, Settle } from "./request.ts";
import { applyFact, endOf, type FailedAttempt, recordFailure, voteOn } from "./record_failure.ts";
import { endRecord, statusOfError } from "./request_end.ts";
import { report, type ReportContext } from "./report.ts";
import { applyReportedLimits } from "./reported_limits.ts";
import { selectionContext } from "./selection_context.ts";
import { RequestContext } from "./request_context.ts";
import type { Usage } from "../state/meter.ts";
import type { Outcome } from "../state/model_state.ts";
import type { Permit } from "../state/permit.ts";

/** A request whose pool is known. */
export interface RotatePlan<T> extends Eligibility {
  readonly request: RoutedRequest;
  readonly pool: Pool;
  readonly call: Call<T>;
}

/** A model that has not begun to answer for so long when the deadline comes is taken for dead, ms. */
const fairChanceMs = 10_000;

/** A fault of the request itself is not carried to more models than this. */
const maxRequestFaults = 3;

/**
 * Asks candidates in the strategy's order, each at most once.
 *
 * @param plan What is asked, and who can take it.
 * @param deps What the pipeline works with.
 * @throws What the error table says when nobody served; the client's abort; the deadline.
 */
export async function rotate<T>(plan: RotatePlan<T>, deps: RouteDeps): Promise<Routed<T>> {
  const context = new RequestContext(plan.request, deps.runtime.clock, plan.load);
  let empty: Landing<T> | undefined;
  try {
    for (;;) {
      const admitted = await admit(plan, context, deps);
      if (admitted === undefined) break;
      const landing = await ask(admitted, plan, context, deps);
      if (!landing) continue;
      if (!landing.served.empty) return arrive(landing, plan, context, deps);
      landing.settle("none", { usage: landing.served.usage, written: () => 0 });
      if (empty) break; // a second empty answer: the first is as good
      empty = landing;
    }
    if (!empty) throw errorOf(plan, context, deps);
    return arrive(empty, plan, context, deps);
  } catch (error) {
    context.end();
    const record = recordOf(plan, context, deps);
    endRecord(record, context, deps.runtime.clock.monotonic(), { status: statusOfEnd(error, plan.request) });
    deps.hub.routing(record);
    if (typeof error === "object" && error) rememberRouting(error, record);
    throw error;
  }
}

/** A client that left, or gave up with a reason of its own, is no failure of ours; the server's end is. */
function statusOfEnd(error: unknown, { signal }: RoutedRequest): number {
  const isGivenUp = signal?.aborted && error === signal.reason && !MeshError.isInstance(error);
  return isGivenUp ? 499 : statusOfError(error);
}

/** A model that answered; it holds its ticket and its connection until it is settled. */
interface Landing<T> {
  readonly member: Member;
  readonly served: Served<T>;
  readonly adapted: AdaptedRequest;
  readonly connection: Connection;
  readonly settle: Settle;
}

/** A model that is asked next. */
interface Admitted {
  readonly member: Member;
  readonly permit: Permit;
  /** No other model could take the request, should this one fail. */
  readonly alone: boolean;
}

/** The next model and its permit, after a wait where that is worth it; undefined when none may be asked. */
async function admit<T>(plan: RotatePlan<T>, context: RequestContext, deps: RouteDeps): Promise<Admitted | undefined> {
  const { clock } = deps.runtime;
  const admission = { pool: plan.pool, context, clock, alone: true };
  for (;;) {
    const candidates = openMembers(remaining(plan, context), admission);
    if (candidates.length === 0) {
      if (await waitForSpacing(admission)) continue;
      return undefined;
    }
    const member = choose(plan.narrowed?.foremost?.(candidates) ?? candidates, plan, context, deps);
    const { ready } = member.model.instance;
    if (ready !== undefined) {
      await ready; // its key is being looked up again
      if (!openMembers(remaining(plan, context), admission).includes(member)) continue;
    }
    // nothing is awaited between the check and this
    const permit = member.state.admit(context.load, clock.monotonic());
    if (await (permit.confirm(clock) ?? true)) return { member, permit, alone: isAlone(member, candidates, plan) };
    permit.withdraw(clock.monotonic());
    context.contested.add(member);
  }
}

/** Who may take the request, whatever its state. */
function remaining<T>({ pool, eligible }: RotatePlan<T>, context: RequestContext): readonly Member[] {
  if (!context.first) return eligible;
  const { instance } = context.first.model;
  const { scope } = pool.routing.retry(instance.entry.id);
  const faults = context.failures.filter(({ failure }) => failure.kind === "request").length;
  if (scope === "same_model" || faults >= maxRequestFaults) return [];
  return eligible.filter(({ model }) =>
    !context.tried.has(model.name) && !context.ruledOut.has(model.instance.entry.id) &&
    (scope === "any" || model.instance === instance)
  );
}

/** Whether nobody else may take the request, should this one fail. */
function isAlone<T>({ model: { instance } }: Member, candidates: readonly Member[], { pool }: RotatePlan<T>): boolean {
  const { scope } = pool.routing.retry(instance.entry.id);
  return candidates.length === 1 || scope === "same_model" ||
    (scope !== "any" && candidates.filter(({ model }) => model.instance === instance).length === 1);
}

function choose<T>(
  candidates: readonly Member[],
  plan: RotatePlan<T>,
  context: RequestContext,
  deps: RouteDeps,
): Member {
  const { pool, request } = plan;
  const { load, tried } = context;
  const selection = { pool, load, tried, session: request.session, narrowed: isIsolated(plan) };
  const member = applyStrategy(candidates, pool, selectionContext(selection, deps.runtime), deps.hub);
  reportChoice({ member, candidates }, plan, context, deps);
  return member;
}

/** One model's attempt: what it answered, or undefined when it did not serve and that was recorded. */
async function ask<T>(
  { member, permit, alone }: Admitted,
  plan: RotatePlan<T>,
  context: RequestContext,
  deps: RouteDeps,
): Promise<Landing<T> | undefined> {
  const { clock } = deps.runtime;
  const { model } = member;
  const { pool } = plan;
  const from = permit.admittedAt;
  const step = stepOf(member, context);
  let landing: Landing<T> | undefined;
  let failed: FailedAttempt | undefined;
  let vote: Outcome = "none";
  try {
    context.first ??= member;
    context.tried.add(model.name);
    const adapted = adaptRequest(plan.request, model);
    const settings = pool.routing.retry(model.instance.entry.id);
    const again = () => readmit(member, permit, { pool, context, clock, alone });
    const { completion } = adapted;
    const end = await attempt({ member, permit, completion, call: plan.call, settings, alone, again }, context, deps);
    if ("served" in end) {
      const ms = clock.monotonic() - from;
      step(end.served.empty ? "empty" : "ok", ms);
      landing = {
        member,
        adapted,
        ...end,
        settle: settleOf({ member, permit, connection: end.connection, ms }, {
          request: plan.request,
          load: context.load,
          deps,
        }),
      };
      return landing;
    }
    failed = end;
    vote = voteOn(failed, pool);
    step(failed.failure.kind, clock.monotonic() - from, failed.failure.status);
  } catch (error) {
    if (permit.isUsed) step("aborted", clock.monotonic() - from);
    // a deadline blames no model but one that had a fair chance and gave no sign of life
    if (DeadlineError.isInstance(error) && context.unansweredMs >= fairChanceMs) vote = "failure";
    throw error;
  } finally {
    if (landing === undefined) permit.release(vote, clock.monotonic(), endOf(failed));
    reportFailure(member, vote, plan, deps.hub);
  }
  recordFailure(member, failed, context);
  applyFact(member, failed, pool, clock);
  return undefined;
}

/** Writes down one step of the request's chain. */
function stepOf({ model }: Member, { chain }: RequestContext) {
  return (outcome: string, ms: number, status?: number) =>
    chain.push({
      model: model.name,
      provider: model.instance.entry.id,
      outcome,
      ...(status === undefined ? {} : { status }),
      ms: Math.round(ms),
    });
}

/** What an answer holds until it is settled. */
interface Held {
  readonly member: Member;
  readonly permit: Permit;
  readonly connection: Connection;
  /** How long the model took, ms. */
  readonly ms: number;
}

/** Ends an answer, once: it closes the connection and releases the permit with what was used. */
function settleOf({ member, permit, connection, ms }: Held, context: ReportContext): Settle {
  const { clock } = context.deps.runtime;
  let used: Usage | undefined;
  return (vote, answer) => {
    if (used !== undefined) return used;
    used = report(member, answer, context);
    applyReportedLimits(member, permit);
    connection.close();
    permit.release(vote, clock.monotonic(), { ms, ...used });
    return used;
  };
}

function arrive<T>(landing: Landing<T>, plan: RotatePlan<T>, context: RequestContext, deps: RouteDeps): Routed<T> {
  const { member, served, connection, adapted } = landing;
  reportServed(member, plan, context, deps.hub);
  const routing = recordOf(plan, context, deps, { member, by: connection.servedBy });
  context.commit();
  const { clock } = deps.runtime;
  const contentAt = plan.request.delivery === "stream" ? clock.monotonic() : undefined;
  let isOver = false;
  return {
    answer: served.answer,
    pool: plan.pool,
    member,
    routing,
    dropped: connection.dropped.length === 0 ? adapted.dropped : [...adapted.dropped, ...connection.dropped],
    connection,
    settle(vote, answer) {
      context.end();
      const used = landing.settle(vote, answer);
      if (isOver) return used;
      isOver = true;
      endRecord(routing, context, clock.monotonic(), { status: 200, contentAt, used });
      deps.hub.routing(routing);
      reportFailure(member, vote, plan, deps.hub);
      return used;
    },
  };
}
