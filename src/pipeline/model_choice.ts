/**
 * Applies routing constraints to the models of a pool.
 * @module
 */
import { MeshError, UnsupportedRequestError } from "../errors.ts";
import type { Member, Pool } from "../registry/registry.ts";
import type { Load } from "../state/model/usage.ts";
import { formatUsd } from "../util/cost.ts";
import { nearest } from "../util/nearest.ts";
import type { EligibilityContext, ModelChoice, Prefer } from "./eligibility.ts";
import type { NameList, RoutingConstraints } from "./routing_constraints.ts";
import { poolFor } from "./select_pool.ts";

/** A request with routing constraints, its pool, and the registry. */
type ConstrainedContext = Pick<EligibilityContext, "request" | "pool" | "registry">;

/**
 * Reads the models that routing constraints choose.
 *
 * @param context The request, its pool, and the registry.
 * @returns Undefined if they choose no models.
 */
export function modelChoice(context: ConstrainedContext): ModelChoice | undefined {
  const { routingConstraints: constraints } = context.request;
  if (constraints === undefined || !choosesModels(constraints)) return undefined;
  const { order } = constraints;
  return {
    choose(members, load) {
      checkConstraints(constraints, context);
      return constrained(members, constraints, load);
    },
    isNamed: (member) => isNamedBy(constraints, member),
    preferenceAmong: (members) => order && preferredBy(ranksBy(order, members)),
  };
}

/** A deadline does not constrain models. */
function choosesModels({ only, ignore, order, maxPrice }: RoutingConstraints): boolean {
  return (only ?? ignore ?? order ?? maxPrice) !== undefined;
}

/** A name may belong to another pool of the request's list. The requested model is part of that list. */
function checkConstraints({ only, ignore, order }: RoutingConstraints, context: ConstrainedContext): void {
  const { request: { model, body: { models } }, pool } = context;
  const others = (models ?? []).filter((name) => name !== model).flatMap((name) => poolNamed(name, context));
  const allowed = new Set<string>();
  for (const { members } of [pool, ...others]) {
    for (const member of members) for (const name of listNames(member)) allowed.add(name);
  }
  for (const list of [only, ignore, order]) if (list !== undefined) checkNames(list, allowed);
}

function poolNamed(name: string, { request, registry }: ConstrainedContext): Pool[] {
  try {
    return [poolFor(name, request, registry)];
  } catch (error) {
    if (MeshError.isInstance(error)) return []; // reported when the list reaches that name
    throw error;
  }
}

/** Applies `only`, `ignore` and the maximum price. `order` excludes no model. */
function constrained(
  members: readonly Member[],
  { only, ignore, maxPrice }: RoutingConstraints,
  load: Load,
): readonly Member[] {
  let left = members;
  if (only !== undefined) {
    const reason = "none of those it names can take this request";
    left = retain(left, { isAllowed: named(only), param: only.param, reason });
  }
  if (ignore !== undefined) {
    const isIgnored = named(ignore);
    const reason = "it ignores all that can take this request";
    left = retain(left, { isAllowed: (member) => !isIgnored(member), param: ignore.param, reason });
  }
  if (maxPrice !== undefined) {
    const { nanoUsd, param } = maxPrice;
    const isAllowed = ({ state }: Member) => (state.tracker.estimateCost(load) ?? Infinity) <= nanoUsd;
    left = retain(left, {
      isAllowed,
      param,
      reason: `no model is known to serve it for ${formatUsd(nanoUsd)} USD or less`,
    });
  }
  return left;
}

/** Candidates of a later position are used only when none of an earlier one is left. */
function preferredBy(ranks: ReadonlyMap<Member, number>): Prefer {
  return (candidates) => {
    const rankMember = (member: Member) => ranks.get(member) ?? Infinity;
    let first = Infinity;
    for (const candidate of candidates) first = Math.min(first, rankMember(candidate));
    return candidates.filter((candidate) => rankMember(candidate) === first);
  };
}

/** The position of each member in the list; infinite if absent. */
function ranksBy({ names }: NameList, members: readonly Member[]): ReadonlyMap<Member, number> {
  const positions = new Map(names.map((name, position) => [name, position]));
  const findPosition = (name: string) => positions.get(name) ?? names.length;
  return new Map(members.map((member) => [member, Math.min(...listNames(member).map(findPosition))]));
}

/** The names of a member: of its model, and of its provider. */
function listNames({ model: { name, info, instance } }: Member): readonly string[] {
  const { vendor, entry } = instance;
  return [name, info.id, `${vendor}/${info.id}`, entry.id, entry.connector, vendor];
}

function isNamedBy({ only, ignore }: RoutingConstraints, member: Member): boolean {
  return (only === undefined || named(only)(member)) && (ignore === undefined || !named(ignore)(member));
}

function named({ names }: NameList): (member: Member) => boolean {
  const requested = new Set(names);
  return (member) => listNames(member).some((name) => requested.has(name));
}

function checkNames({ names, param }: NameList, allowed: ReadonlySet<string>): void {
  const unknown = names.find((name) => !allowed.has(name));
  if (unknown === undefined) return;
  const [likely] = nearest(unknown, allowed, 1);
  const hint = likely === undefined ? "" : `; did you mean "${likely}"?`;
  const name = JSON.stringify(unknown.length > 80 ? `${unknown.slice(0, 80)}…` : unknown);
  throw new UnsupportedRequestError(
    `"${param}" names ${name}, which is not a model, provider or vendor of the pool${hint}`,
    { code: "invalid_value", param },
  );
}

/** Keeps the members that a constraint allows. The field and the reason are for the error if there are none. */
function retain(
  members: readonly Member[],
  { isAllowed, param, reason }: { isAllowed: (member: Member) => boolean; param: string; reason: string },
): readonly Member[] {
  const retained = members.filter(isAllowed);
  if (retained.length > 0) return retained;
  throw new UnsupportedRequestError(`"${param}" leaves no model of the pool: ${reason}`, {
    code: "unsupported_by_pool",
    param,
  });
}
