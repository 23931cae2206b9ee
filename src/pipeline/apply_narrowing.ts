/**
 * What a request's own narrowing leaves of a pool, and in which order.
 * @module
 */
import { UnsupportedRequestError } from "../errors.ts";
import type { Member } from "../registry/registry.ts";
import { formatUsd } from "../util/cost.ts";
import { nearest } from "../util/nearest.ts";
import type { NameList, RoutingConstraints } from "./routing_constraints.ts";

/** What a narrowing is held against. */
export interface NarrowingContext {
  /** Every member of the pool, whether it can take this request or not: each name has to mean one of them. */
  readonly pool: readonly Member[];
  /** What the request is estimated to cost at a member, nano-dollars; undefined when nobody knows. */
  readonly costOf: (member: Member) => number | undefined;
}

/** Who may take the request. */
export interface Narrowed {
  /** At least one, in the pool's order. */
  readonly members: readonly Member[];
  /** Those the request's `order` wants first; undefined when it gives none and the strategy alone decides. */
  readonly foremost?: Foremost;
}

/** Of candidates, at least one, those that come first; the strategy chooses among them. */
export type Foremost = (candidates: readonly Member[]) => readonly Member[];

/**
 * Narrows a pool: `only`, then `ignore`, then the price limit; `order` leaves nobody out.
 *
 * @param members Those that can take the request.
 * @param narrowing What the request says; undefined: nothing.
 * @param context What that is held against.
 * @throws {UnsupportedRequestError} `invalid_value` for a name that none of the pool's models answers to,
 * `unsupported_by_pool` when nobody is left; with the field at fault.
 */
export function applyNarrowing(
  members: readonly Member[],
  narrowing: RoutingConstraints | undefined,
  { pool, costOf }: NarrowingContext,
): Narrowed {
  if (narrowing === undefined) return { members };
  const { only, ignore, order, maxPrice } = narrowing;
  for (const list of [only, ignore, order]) if (list !== undefined) checkNames(list, pool);
  let left = members;
  if (only !== undefined) {
    left = keep(left, named(only), only.param, "none of those it names can take this request");
  }
  if (ignore !== undefined) {
    const isIgnored = named(ignore);
    left = keep(left, (member) => !isIgnored(member), ignore.param, "it ignores all that can take this request");
  }
  if (maxPrice !== undefined) {
    const { nano, param } = maxPrice;
    const isWithin = (member: Member) => (costOf(member) ?? Infinity) <= nano;
    left = keep(left, isWithin, param, `nobody is known to serve it for ${formatUsd(nano)} USD or less`);
  }
  return order === undefined ? { members: left } : { members: left, foremost: foremostBy(ranksBy(order, left)) };
}

/** The strategy comes to the others only when those of the first place are gone. */
function foremostBy(ranks: ReadonlyMap<Member, number>): Foremost {
  return (candidates) => {
    const rankOf = (member: Member) => ranks.get(member) ?? Infinity;
    let first = Infinity;
    for (const candidate of candidates) first = Math.min(first, rankOf(candidate));
    return candidates.filter((candidate) => rankOf(candidate) === first);
  };
}

/** A place for each name of the list, and the one behind the last for whom it does not name. */
function ranksBy({ names }: NameList, members: readonly Member[]): ReadonlyMap<Member, number> {
  const places = new Map(names.map((name, place) => [name, place]));
  const placeOf = (name: string) => places.get(name) ?? names.length;
  return new Map(members.map((member) => {
    const { name, instance } = member.model;
    return [member, Math.min(placeOf(name), placeOf(instance.entry.id), placeOf(instance.vendor))];
  }));
}

function named({ names }: NameList): (member: Member) => boolean {
  const wanted = new Set(names);
  return ({ model: { name, instance } }) =>
    wanted.has(name) || wanted.has(instance.entry.id) || wanted.has(instance.vendor);
}

function checkNames({ names, param }: NameList, pool: readonly Member[]): void {
  const known = new Set<string>();
  for (const { model: { name, instance } } of pool) known.add(name).add(instance.entry.id).add(instance.vendor);
  const stranger = names.find((name) => !known.has(name));
  if (stranger === undefined) return;
  const [likely] = nearest(stranger, known, 1);
  const hint = likely === undefined ? "" : `; did you mean "${likely}"?`;
  const name = JSON.stringify(stranger.length > 80 ? `${stranger.slice(0, 80)}…` : stranger);
  throw new UnsupportedRequestError(
    `"${param}" names ${name}, which is no model, provider or vendor of the pool${hint}`,
    {
      code: "invalid_value",
      param,
    },
  );
}

function keep(
  members: readonly Member[],
  isKept: (member: Member) => boolean,
  param: string,
  otherwise: string,
): readonly Member[] {
  const kept = members.filter(isKept);
  if (kept.length > 0) return kept;
  throw new UnsupportedRequestError(`"${param}" leaves no model of the pool: ${otherwise}`, {
    code: "unsupported_by_pool",
    param,
  });
}
