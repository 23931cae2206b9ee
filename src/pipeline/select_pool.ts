/**
 * Steps 1 and 2: resolves the name in a request, and selects its pool.
 * @module
 */
import { nearestCapabilities } from "../capability/tree.ts";
import { MeshError, ModelNotFoundError, UnsupportedRequestError } from "../errors.ts";
import type { ModelEntry, Pool, Registry } from "../registry/registry.ts";
import type { RequestClient, RoutedRequest } from "./request.ts";
import { nearest } from "../util/nearest.ts";
import { findNamedModels, type NamedModels } from "../registry/named_models.ts";

/** The target of a name: a pool, a node of the capability tree, or certain models. */
type Target =
  | { readonly kind: "pool"; readonly pool: Pool }
  | { readonly kind: "capability"; readonly path: string }
  | { readonly kind: "models" } & NamedModels<ModelEntry>;

/**
 * Resolves a name. The first match applies: pool, alias, capability, model, `<vendor>/<id>` or upstream id, which may
 * be dated.
 *
 * @param name The request's `model`.
 * @throws {ModelNotFoundError} If nothing has that name. The message contains the nearest names.
 * @throws {UnsupportedRequestError} If it is the short name of several capabilities.
 */
export function resolveCapability(name: string, registry: Registry): Target {
  const alias = registry.pool(name) === undefined ? registry.aliases.get(name) : undefined;
  const target = find(alias ?? name, registry);
  if (target !== undefined) return target;
  const suggestions = nearestNames(name, registry);
  const hint = suggestions.length === 0
    ? "."
    : `; did you mean ${suggestions.map((suggestion) => `"${suggestion}"`).join(" or ")}?`;
  throw new ModelNotFoundError(
    `The model or pool ${
      quoteName(name)
    } does not exist${hint} To add a model, name it and its provider under "models"`,
  );
}

function find(name: string, registry: Registry): Target | undefined {
  const pool = registry.pool(name);
  if (pool !== undefined) return { kind: "pool", pool };
  const paths = registry.tree.matches(name);
  if (paths.length === 1) return { kind: "capability", path: paths[0]! };
  const named = findNamedModels(name, registry);
  if (named !== undefined) return { kind: "models", ...named };
  if (paths.length === 0) return undefined;
  throw new UnsupportedRequestError(`The capability ${quoteName(name)} is ambiguous: use ${paths.join(" or ")}`, {
    code: "invalid_value",
    param: "model",
  });
}

function quoteName(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
}

/** Returns the pool of a target: a configured one, or one created for the capability or models. */
function selectPool(target: Target, registry: Registry): Pool {
  if (target.kind === "pool") return target.pool;
  return target.kind === "capability" ? registry.poolAt(target.path) : registry.getPool(target.name, target.models);
}

/**
 * Returns the pool of a request for one of its names (steps 1 and 2). For a client with its own pools, other pools and
 * models do not exist.
 *
 * @param name The request's `model`, or one of its `models`.
 * @param request The request, whose client may have its own pools.
 * @throws {ModelNotFoundError} If there is no such pool for the client.
 */
export function poolFor(name: string, { client }: Pick<RoutedRequest, "client">, registry: Registry): Pool {
  if (client?.pools === undefined && client?.findOwnModels === undefined) {
    return registry.pool(name) ?? selectPool(resolveCapability(name, registry), registry);
  }
  const pool = findOwnPool(name, client, registry);
  if (pool !== undefined) return pool;
  throw new ModelNotFoundError(`There is no such model or pool for the client "${client.name}"`);
}

/** What a client may use: its pools and models. */
type Permissions = Pick<RequestClient, "pools" | "findOwnModels">;

function findOwnPool(name: string, client: Permissions, registry: Registry): Pool | undefined {
  const target = findTarget(name, registry);
  if (target?.kind === "models") {
    const within = findWithin(target.models, client, registry);
    return within && registry.getPool(target.name, target.models, within);
  }
  const pool = target && selectPool(target, registry);
  return pool !== undefined && (client.pools?.has(pool.name) ?? true) ? narrowPool(pool, client, registry) : undefined;
}

/** Returns a pool as far as a client may use its models; undefined if it may use none. */
function narrowPool(pool: Pool, { findOwnModels }: Permissions, registry: Registry): Pool | undefined {
  const own = findOwnModels?.(registry);
  if (own === undefined) return pool;
  const models = pool.members.map(({ model }) => model).filter((model) => own.has(model));
  return models.length === 0 ? undefined : registry.getPoolWithin(pool, models);
}

/** Returns the configured and detected pools of a client, each as far as it may use its models. */
export function listOwnPools(client: Permissions | undefined, registry: Registry): readonly Pool[] {
  if (client === undefined) return registry.pools;
  const pools = registry.pools.filter(({ name }) => client.pools?.has(name) ?? true);
  return pools.flatMap((pool) => narrowPool(pool, client, registry) ?? []);
}

/** Returns the models of a client's pools, which it may use by name. */
export function modelsOfPools(pools: ReadonlySet<string>, registry: Registry): ReadonlySet<ModelEntry> {
  const models = new Set<ModelEntry>();
  for (const name of pools) {
    const target = findTarget(name, registry);
    if (target === undefined || target.kind === "models") continue; // no longer a pool
    for (const { model } of selectPool(target, registry).members) models.add(model);
  }
  return models;
}

/**
 * Finds the models that a name stands for, without creating a pool.
 *
 * @param name A pool, an alias, a capability or a model.
 * @param request The request, whose client may have its own pools.
 * @returns Undefined if the client may not use the name, or nothing has it.
 */
export function findServed(
  name: string,
  { client }: Pick<RoutedRequest, "client">,
  registry: Registry,
): readonly ModelEntry[] | undefined {
  const target = findTarget(name, registry);
  if (target === undefined) return undefined;
  if (target.kind === "models") return findWithin(target.models, client, registry);
  const pool = target.kind === "pool" ? target.pool.name : registry.tree.shortName(target.path);
  if (client?.pools !== undefined && !client.pools.has(pool)) return undefined;
  const models = target.kind === "pool"
    ? target.pool.members.map(({ model }) => model)
    : registry.pooledAt(target.path);
  const own = client?.findOwnModels?.(registry);
  const within = own === undefined ? models : models.filter((model) => own.has(model));
  return own !== undefined && within.length === 0 ? undefined : within;
}

/**
 * Finds the models that a name of models means, by name or by upstream id, which may be dated.
 *
 * @param name A name that may be that of a pool or of a capability, which are not models.
 * @param request The request, whose client may have its own pools.
 * @returns Undefined if the client may not use the name, or no model has it.
 */
export function findNamed(
  name: string,
  { client }: Pick<RoutedRequest, "client">,
  registry: Registry,
): readonly ModelEntry[] | undefined {
  const target = findTarget(name, registry);
  return target?.kind === "models" ? findWithin(target.models, client, registry) : undefined;
}

/** Those of models that a client may use; undefined if there are none. */
function findWithin(
  models: readonly ModelEntry[],
  { pools, findOwnModels }: Permissions = {},
  registry: Registry,
): readonly ModelEntry[] | undefined {
  const pooled = pools && modelsOfPools(pools, registry);
  const own = findOwnModels?.(registry);
  const within = models.filter((model) => (pooled?.has(model) ?? true) && (own?.has(model) ?? true));
  return within.length === 0 ? undefined : within;
}

/** Undefined for an unknown or ambiguous name: the error might name what a client does not have. */
function findTarget(name: string, registry: Registry): Target | undefined {
  try {
    return resolveCapability(name, registry);
  } catch (error) {
    if (!MeshError.isInstance(error)) throw error;
    return undefined;
  }
}

/** The names of pools, aliases, models and capabilities that are nearest to an unknown name, nearest first. */
function nearestNames(name: string, registry: Registry): readonly string[] {
  return nearest(name, listNames(registry, nearestCapabilities(registry.tree, name)));
}

/** The names that a request may use. There may be many models, of which only some are compared: they come last. */
function* listNames({ pools, aliases, models, upstreamIds }: Registry, capabilities: readonly string[]) {
  for (const { name } of pools) yield name;
  yield* aliases.keys();
  yield* capabilities;
  for (const { name } of models) yield name;
  yield* upstreamIds;
}
