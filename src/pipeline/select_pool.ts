/**
 * Step 2: pool selection.
 * @module
 */
import { MeshError, ModelNotFoundError } from "../errors.ts";
import type { Pool, Registry } from "../registry/registry.ts";
import type { RoutedRequest } from "./request.ts";
import { resolveCapability, type Target } from "./resolve_capability.ts";

/**
 * Returns the pool of a target: a configured one, or one created for the capability or models.
 *
 * @param target The target.
 * @param registry The registry.
 */
function selectPool(target: Target, registry: Registry): Pool {
  if (target.kind === "pool") return target.pool;
  return target.kind === "capability" ? registry.poolAt(target.path) : registry.poolOf(target.name, target.models);
}

/**
 * Returns the pool of a request for one of its names (steps 1 and 2). For a client with its own pools, other names do
 * not exist.
 *
 * @param name The request's `model`, or one of its `models`.
 * @param request The request, whose client may have its own pools.
 * @param registry The registry.
 * @throws {ModelNotFoundError} If there is no such pool for the client.
 */
export function poolFor(name: string, { client }: Pick<RoutedRequest, "client">, registry: Registry): Pool {
  const pools = client?.pools;
  if (pools === undefined) return selectPool(resolveCapability(name, registry), registry);
  try {
    const pool = selectPool(resolveCapability(name, registry), registry);
    if (pools.has(pool.name)) return pool;
  } catch (error) {
    if (!MeshError.isInstance(error)) throw error;
  }
  throw new ModelNotFoundError(`There is no such model or pool for the client "${client!.name}"`);
}
