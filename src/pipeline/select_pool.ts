/**
 * Step 2: the pool that a request is served from.
 * @module
 */
import type { Pool, Registry } from "../registry/registry.ts";
import type { Target } from "./resolve_capability.ts";

/**
 * The pool of a target: the one configured, or one made for the capability or the models named.
 *
 * @param target What the request asks for.
 * @param registry What exists.
 */
export function selectPool(target: Target, registry: Registry): Pool {
  if (target.kind === "pool") return target.pool;
  return target.kind === "capability" ? registry.poolAt(target.path) : registry.poolOf(target.name, target.models);
}
