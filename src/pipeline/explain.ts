/**
 * What would become of a request, without sending anything.
 * @module
 */
import type { SelectionContext, SelectionStrategy } from "../contracts/rotation.ts";
import { MeshError, UnsupportedRequestError } from "../errors.ts";
import type { Member, Pool } from "../registry/registry.ts";
import { isExhausted } from "../rotation/fallback.ts";
import type { ModelState } from "../state/model_state.ts";
import { filterByDelivery } from "./filter_by_delivery.ts";
import { estimateTokens } from "./estimate.ts";
import { filterByRequest } from "./filter_by_request.ts";
import type { Foremost } from "./apply_narrowing.ts";
import { narrow } from "./narrow.ts";
import type { RouteDeps, RoutedRequest, Task } from "./request.ts";
import { selectionContext } from "./selection_context.ts";
import { poolFor } from "./select_pool.ts";

/** Where a request would go, and why. */
export interface Explanation {
  /** The pool. */
  readonly pool: string;
  /** Who could be asked now, the strategy's favourite first; the score is the strategy's own. */
  readonly order: readonly { readonly model: string; readonly provider: string; readonly score: number }[];
  /** Who could not, and why. */
  readonly excluded: readonly { readonly model: string; readonly reason: string }[];
}

/**
 * Explains a request. Nothing is sent and nothing is counted.
 *
 * @param request What would be asked.
 * @param task Which models do it.
 * @param deps What the pipeline works with.
 * @throws {ModelNotFoundError} When its name stands for nothing.
 */
export function explain(request: RoutedRequest, task: Pick<Task<unknown>, "serves">, deps: RouteDeps): Explanation {
  const pool = poolFor(request.model, request, deps.registry);
  const load = estimateTokens(request.body);
  const now = deps.runtime.clock.monotonic();
  const excluded: { model: string; reason: string }[] = [];
  const leave = (members: readonly Member[], reasonOf: (member: Member) => string) =>
    excluded.push(...members.map((member) => ({ model: member.model.name, reason: reasonOf(member) })));
  const able = sieve(pool.members, (members) => {
    const found = filterByDelivery(pool, { operation: request.operation, delivery: request.delivery, ...task });
    return members.filter((member) => found.includes(member));
  }, (out) => leave(out, () => "delivery"));
  const fit = sieve(able, (members) => filterByRequest(members, request.body), (out) => {
    leave(out, () => "features");
  });
  let foremost: Foremost = (candidates) => candidates;
  const narrowed = sieve(fit, (members) => {
    const wanted = narrow(members, { request, pool, registry: deps.registry, load });
    foremost = wanted?.foremost ?? foremost;
    return wanted?.members ?? members;
  }, (out) => leave(out, () => "route"));
  for (const { state } of narrowed) state.refresh(now);
  const active = narrowed.filter(({ state }) => state.status === "active");
  leave(narrowed.filter((member) => !active.includes(member)), ({ state }) => state.reason ?? "standby");
  const open = active.filter(({ state }) => state.denial?.(load, now) === undefined);
  leave(
    active.filter((member) => !open.includes(member)),
    ({ state }) => state.denial!(load, now)!.reason,
  );
  const { session } = request;
  const context = selectionContext({ pool, load, session, narrowed: false, tried: new Set() }, deps.runtime);
  const order: Explanation["order"][number][] = [];
  for (let left = open; left.length > 0;) {
    const first = foremost(left);
    order.push(...ordered(first, pool, context));
    left = left.filter((member) => !first.includes(member));
  }
  return { pool: pool.name, order, excluded };
}

/** A filter that leaves nobody tells so by an error: here that is an answer. */
function sieve(
  members: readonly Member[],
  filter: (members: readonly Member[]) => readonly Member[],
  leave: (out: readonly Member[]) => void,
): readonly Member[] {
  let kept: readonly Member[];
  try {
    kept = members.length === 0 ? members : filter(members);
  } catch (error) {
    if (!UnsupportedRequestError.isInstance(error) || error.code !== "unsupported_by_pool") throw error;
    kept = [];
  }
  leave(members.filter((member) => !kept.includes(member)));
  return kept;
}

function ordered(members: readonly Member[], pool: Pool, context: SelectionContext): Explanation["order"] {
  const { name, strategy, fallback } = pool;
  const leading = fallback && isExhausted(members.map(({ state }) => state), context) ? fallback : strategy;
  const scored = members.map(({ model, state }) => ({
    model: model.name,
    provider: model.instance.entry.id,
    score: scoreOf(state, leading, name, context),
  }));
  return scored.sort((one, other) => other.score - one.score);
}

function scoreOf(state: ModelState, strategy: SelectionStrategy, pool: string, context: SelectionContext): number {
  try {
    return strategy.score(state, context);
  } catch (cause) {
    throw new MeshError(`The strategy of the pool "${pool}" failed`, { code: "internal_error", cause });
  }
}
