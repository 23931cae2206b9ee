/**
 * What would become of a request: a dry run over the same steps, with nothing sent and nothing counted.
 * @module
 */
import type { SelectionContext } from "../contracts/rotation.ts";
import { MeshError, UnsupportedRequestError } from "../errors.ts";
import type { Member, Pool } from "../registry/registry.ts";
import { isExhausted } from "../rotation/fallback.ts";
import type { ModelState } from "../state/model_state.ts";
import { openMembers } from "./admission.ts";
import { type ApplyFilter, eligibility } from "./eligibility.ts";
import type { RouteDeps } from "./deps.ts";
import { modelChoice } from "./model_choice.ts";
import type { RoutedRequest } from "./request.ts";
import { RequestContext } from "./request_context.ts";
import { selectionContext } from "./selection_context.ts";
import { poolFor } from "./select_pool.ts";

/** Where a request would go, and why. */
export interface Explanation {
  /** The pool. */
  readonly pool: string;
  /** The models that could be asked now, in that order; the score is the strategy's own. */
  readonly order: readonly { readonly model: string; readonly provider: string; readonly score: number }[];
  /** The models that could not be asked now, and why. */
  readonly excluded: readonly ExcludedModel[];
}

/** A model that a request would not come to. */
export interface ExcludedModel {
  /** Its name. */
  readonly model: string;
  /** The filter that leaves it out, why it is in standby, or what denies the request. */
  readonly reason: string;
}

/**
 * Explains a request.
 *
 * @param request What would be asked.
 * @param deps What the pipeline works with.
 * @throws {ModelNotFoundError} When its name stands for nothing.
 */
export function explain(request: RoutedRequest, deps: RouteDeps): Explanation {
  const { registry } = deps;
  const excluded: ExcludedModel[] = [];
  const pool = poolFor(request.model, request, registry);
  const applyFilter = collectingFilter(excluded);
  const choice = modelChoice({ request, pool, registry });
  const found = eligibility({ request, pool, registry, choice, applyFilter });
  const context = new RequestContext({ request, pool, ...found }, deps);
  try {
    const order = orderOf(context);
    const ordered = new Set(order.map(({ model }) => model));
    for (const member of found.eligible) {
      const { model: { name }, state } = member;
      if (ordered.has(name)) continue;
      excluded.push({ model: name, reason: state.reason ?? context.denials.get(member)?.reason ?? "standby" });
    }
    return { pool: pool.name, order, excluded };
  } finally {
    context.end();
  }
}

/** A filter that leaves no model throws: in a dry run that is a result. */
function collectingFilter(excluded: ExcludedModel[]): ApplyFilter {
  return (reason, members, filter) => {
    let eligible: readonly Member[];
    try {
      eligible = members.length === 0 ? members : filter(members);
    } catch (error) {
      if (!UnsupportedRequestError.isInstance(error) || error.code !== "unsupported_by_pool") throw error;
      eligible = [];
    }
    for (const member of members) if (!eligible.includes(member)) excluded.push({ model: member.model.name, reason });
    return eligible;
  };
}

/** Every model that could be asked, as one after the other would fail. */
function orderOf(context: RequestContext): Explanation["order"] {
  const { plan, deps } = context;
  const { pool, load, request: { session }, prefer } = plan;
  const selection = selectionContext({ pool, load, session, isConstrained: false, tried: new Set() }, deps.runtime);
  const order: Explanation["order"][number][] = [];
  let left = plan.eligible;
  for (;;) {
    const candidates = openMembers(left, { context, alone: false });
    if (candidates.length === 0) return order;
    const first = prefer?.(candidates) ?? candidates;
    order.push(...scored(first, pool, selection));
    left = left.filter((member) => !first.includes(member));
  }
}

/** The members by falling score. */
function scored(members: readonly Member[], pool: Pool, context: SelectionContext): Explanation["order"] {
  const { name, strategy, fallback } = pool;
  const leading = fallback && isExhausted(members.map(({ state }) => state), context) ? fallback : strategy;
  const scoreOf = (state: ModelState) => {
    try {
      return leading.score(state, context);
    } catch (cause) {
      throw new MeshError(`The strategy of the pool "${name}" failed`, { code: "internal_error", cause });
    }
  };
  const scores = members.map(({ model, state }) => ({
    model: model.name,
    provider: model.instance.entry.id,
    score: scoreOf(state),
  }));
  return scores.sort((one, other) => other.score - one.score);
}
