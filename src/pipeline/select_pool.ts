/**
 * Step 2: the pool that a request is served from.
 * @module
 */
import { MeshError, ModelNotFoundError } from "../errors.ts";
import type { Pool, Registry } from "../registry/registry.ts";
import type { RoutedRequest } from "./request.ts";
import { resolveCapability, type Target } from "./resolve_capability.ts";

/**
 * The pool of a target: the one configured, or one made for the capability or the models named.
 *
 * @param target What the request asks for.
 * @param registry What exists.
 */
function selectPool(target: Target, registry: Registry): Pool {
  if (target.kind === "pool") return target.pool;
  return target.kind === "capability" ? registry.poolAt(target.path) : registry.poolOf(target.name, target.models);
}

/**
 * The pool that a request is served from under one of its names: steps 1 and 2. For a client that has pools of its own
 * no other name exists, whatever it stands for.
 *
 * @param name The request's `model`, or one of its `models`.
 * @param request Its client may have pools of its own.
 * @param registry What exists.
 * @throws {ModelNotFoundError} When there is no such pool for the request's client.
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
