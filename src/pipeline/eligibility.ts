/**
 * Step 3: the models of a pool that can take a request, by its operation and delivery, by what it asks of a model, and by
 * its own routing constraints.
 * @module
 */
import { MeshError, UnsupportedRequestError } from "../errors.ts";
import type { Member, Pool, Registry } from "../registry/registry.ts";
import type { Load } from "../state/usage.ts";
import { formatUsd } from "../util/cost.ts";
import { nearest } from "../util/nearest.ts";
import { type DeliveryContext, filterByDelivery } from "./filter_by_delivery.ts";
import { filterByRequest } from "./filter_by_request.ts";
import type { RoutedRequest } from "./request.ts";
import type { NameList, RoutingConstraints } from "./routing_constraints.ts";
import { poolFor } from "./select_pool.ts";

/** A request, its pool, and what exists. */
export interface EligibilityContext extends DeliveryContext {
  readonly request: RoutedRequest;
  readonly registry: Registry;
  /** Applies the filters in place of plain calls: for a dry run. */
  readonly applyFilter?: ApplyFilter;
}

/** Applies one filter; the reason stands for the models that it leaves out. */
export type ApplyFilter = (
  reason: "delivery" | "features" | "route" | "interchangeable",
  members: readonly Member[],
  filter: (members: readonly Member[]) => readonly Member[],
) => readonly Member[];

/** Of candidates, at least one, those that come first; the strategy chooses among them. */
type Prefer = (candidates: readonly Member[]) => readonly Member[];

/** The models that can take a request. */
export interface Eligibility {
  /** At least one, in the pool's order. */
  readonly eligible: readonly Member[];
  /** What the request will take, by estimate. */
  readonly load: Load;
  /** The request has routing constraints: its outcome means nothing for the pool. */
  readonly isConstrained: boolean;
  /** By the request's `order`; undefined when it gives none and the strategy alone decides. */
  readonly prefer?: Prefer | undefined;
}

const applyPlainly: ApplyFilter = (_reason, members, filter) => filter(members);

/**
 * Finds the models that can take a request.
 *
 * @param context The request, its pool, and what exists.
 * @throws {UnsupportedRequestError} `unsupported_by_pool` when none is left, `invalid_value` for a constraint that names
 * none of the pool's models.
 */
export function eligibility(context: EligibilityContext): Eligibility {
  const { request: { operation, body, files = [], client, routingConstraints }, pool, applyFilter = applyPlainly } =
    context;
  const delivering = applyFilter("delivery", pool.members, () => filterByDelivery(context));
  const needs = operation.needsOf(body, files);
  const load = client?.budget === undefined ? needs.load : { ...needs.load, budget: client.budget };
  const capable = applyFilter("features", delivering, (members) => filterByRequest(members, needs));
  const constraints = routingConstraints && choosesModels(routingConstraints) ? routingConstraints : undefined;
  const chosen = constraints === undefined ? capable : applyFilter("route", capable, (members) => {
    checkConstraints(constraints, context);
    return constrained(members, constraints, load);
  });
  const prefer = constraints?.order && preferredBy(ranksBy(constraints.order, delivering));
  const eligible = operation.interchangeable === undefined
    ? chosen
    : applyFilter("interchangeable", chosen, (members) => {
      const wanted = delivering.filter((member) => constraints === undefined || isNamedBy(constraints, member));
      const [first = members[0]!] = prefer?.(wanted) ?? wanted;
      return keepInterchangeable(members, first, context.request);
    });
  return { eligible, load, isConstrained: constraints !== undefined, prefer };
}

/** What can stand in for the model that is asked first, whichever of them are active or can take this very request. */
function keepInterchangeable(
  members: readonly Member[],
  first: Member,
  { operation, body }: RoutedRequest,
): readonly Member[] {
  const kept = operation.interchangeable!(members, first, body);
  if (kept.length > 0) return kept;
  throw new UnsupportedRequestError(
    `No model that can take this request is interchangeable with "${first.model.name}", which the pool asks first`,
    { code: "unsupported_by_pool" },
  );
}

/** A deadline constrains no model. */
function choosesModels({ only, ignore, order, maxPrice }: RoutingConstraints): boolean {
  return (only ?? ignore ?? order ?? maxPrice) !== undefined;
}

/** A name may belong to another pool of the request's list; the model asked for is part of it. */
function checkConstraints({ only, ignore, order }: RoutingConstraints, context: EligibilityContext): void {
  const { request: { model, body: { models } }, pool } = context;
  const others = (models ?? []).filter((name) => name !== model).flatMap((name) => poolNamed(name, context));
  const known = new Set<string>();
  for (const { members } of [pool, ...others]) {
    for (const { model: { name, instance } } of members) known.add(name).add(instance.entry.id).add(instance.vendor);
  }
  for (const list of [only, ignore, order]) if (list !== undefined) checkNames(list, known);
}

function poolNamed(name: string, { request, registry }: EligibilityContext): Pool[] {
  try {
    return [poolFor(name, request, registry)];
  } catch (error) {
    if (MeshError.isInstance(error)) return []; // thrown when it is that name's turn
    throw error;
  }
}

/** `only`, then `ignore`, then the price limit; `order` leaves no model out. */
function constrained(
  members: readonly Member[],
  { only, ignore, maxPrice }: RoutingConstraints,
  load: Load,
): readonly Member[] {
  let left = members;
  if (only !== undefined) {
    const reason = "none of those it names can take this request";
    left = keep(left, { isKept: named(only), param: only.param, reason });
  }
  if (ignore !== undefined) {
    const isIgnored = named(ignore);
    const reason = "it ignores all that can take this request";
    left = keep(left, { isKept: (member) => !isIgnored(member), param: ignore.param, reason });
  }
  if (maxPrice !== undefined) {
    const { nano, param } = maxPrice;
    const isKept = ({ state }: Member) => (state.costOf(load) ?? Infinity) <= nano;
    left = keep(left, { isKept, param, reason: `no model is known to serve it for ${formatUsd(nano)} USD or less` });
  }
  return left;
}

/** The strategy comes to the others only when those of the first position are gone. */
function preferredBy(ranks: ReadonlyMap<Member, number>): Prefer {
  return (candidates) => {
    const rankOf = (member: Member) => ranks.get(member) ?? Infinity;
    let first = Infinity;
    for (const candidate of candidates) first = Math.min(first, rankOf(candidate));
    return candidates.filter((candidate) => rankOf(candidate) === first);
  };
}

/** The position of each member in the list; one that it does not name comes last. */
function ranksBy({ names }: NameList, members: readonly Member[]): ReadonlyMap<Member, number> {
  const positions = new Map(names.map((name, position) => [name, position]));
  const positionOf = (name: string) => positions.get(name) ?? names.length;
  return new Map(members.map((member) => {
    const { name, instance } = member.model;
    return [member, Math.min(positionOf(name), positionOf(instance.entry.id), positionOf(instance.vendor))];
  }));
}

function isNamedBy({ only, ignore }: RoutingConstraints, member: Member): boolean {
  return (only === undefined || named(only)(member)) && (ignore === undefined || !named(ignore)(member));
}

function named({ names }: NameList): (member: Member) => boolean {
  const wanted = new Set(names);
  return ({ model: { name, instance } }) =>
    wanted.has(name) || wanted.has(instance.entry.id) || wanted.has(instance.vendor);
}

function checkNames({ names, param }: NameList, known: ReadonlySet<string>): void {
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return;
  const [likely] = nearest(unknown, known, 1);
  const hint = likely === undefined ? "" : `; did you mean "${likely}"?`;
  const name = JSON.stringify(unknown.length > 80 ? `${unknown.slice(0, 80)}…` : unknown);
  throw new UnsupportedRequestError(
    `"${param}" names ${name}, which is no model, provider or vendor of the pool${hint}`,
    { code: "invalid_value", param },
  );
}

/** What a constraint leaves of the members; the field and the reason are for the error when that is none. */
function keep(
  members: readonly Member[],
  { isKept, param, reason }: { isKept: (member: Member) => boolean; param: string; reason: string },
): readonly Member[] {
  const kept = members.filter(isKept);
  if (kept.length > 0) return kept;
  throw new UnsupportedRequestError(`"${param}" leaves no model of the pool: ${reason}`, {
    code: "unsupported_by_pool",
    param,
  });
}
