/**
 * Lets a request narrow its own routing.
 * @module
 */
import { MeshError } from "../errors.ts";
import type { Member, Pool, Registry } from "../registry/registry.ts";
import type { Load } from "../state/usage.ts";
import { applyNarrowing, type Narrowed } from "./apply_narrowing.ts";
import type { RoutingConstraints } from "./routing_constraints.ts";
import type { RoutedRequest } from "./request.ts";
import { poolFor } from "./select_pool.ts";

/** What narrowing looks at. */
export interface NarrowContext {
  readonly request: RoutedRequest;
  readonly pool: Pool;
  readonly registry: Registry;
  /** What the request will take. */
  readonly load: Load;
}

/**
 * What a request's own words leave of its candidates.
 *
 * @param members Those that can take it.
 * @param context The request, and what its words are held against.
 * @returns Undefined when it says nothing of models.
 * @throws {UnsupportedRequestError} For a name outside of every pool it asks, or when nobody is left.
 */
export function narrow(
  members: readonly Member[],
  { request, pool, registry, load }: NarrowContext,
): Narrowed | undefined {
  const { routingConstraints, model, body: { models } } = request;
  if (routingConstraints === undefined || !choosesModels(routingConstraints)) return undefined;
  // a name may belong to another pool of the request's list; the model asked for is part of it
  const others = (models ?? []).filter((name) => name !== model).flatMap((name) => poolOf(name, request, registry));
  const pools = [pool, ...others];
  const known = pools.flatMap((one) => one.members);
  return applyNarrowing(members, routingConstraints, { pool: known, costOf: ({ state }) => state.costOf?.(load) });
}

/** A deadline says nothing of models. */
function choosesModels({ only, ignore, order, maxPrice }: RoutingConstraints): boolean {
  return (only ?? ignore ?? order ?? maxPrice) !== undefined;
}

function poolOf(name: string, request: RoutedRequest, registry: Registry): Pool[] {
  try {
    return [poolFor(name, request, registry)];
  } catch (error) {
    if (MeshError.isInstance(error)) return []; // told when it is that name's turn
    throw error;
  }
}
