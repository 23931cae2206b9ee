/**
 * The lists of models for clients.
 * @module
 */
import { ModelNotFoundError } from "../errors.ts";
import { findNamed, findServed, listOwnPools, modelsOfPools } from "../pipeline/select_pool.ts";
import { type ListedEntry, type ModelList, modelList, toListedModel, toListedPool } from "../registry/model_list.ts";
import type { Exchange } from "./exchange.ts";

/** The models and pools available to the client. */
export function listFor({ mesh, client }: Exchange): ModelList {
  const { object, data } = modelList(mesh.registry, mesh.runtime.clock);
  if (client?.pools === undefined && client?.findOwnModels === undefined) return { object, data };
  const pools = new Map(listOwnPools(client, mesh.registry).map((pool) => [pool.name, pool]));
  const own = client.findOwnModels?.(mesh.registry);
  const within = client.pools && modelsOfPools(client.pools, mesh.registry);
  const models = new Set(
    mesh.registry.models.filter((model) => (own?.has(model) ?? true) && (within?.has(model) ?? true))
      .map(({ name }) => name),
  );
  return {
    object,
    data: data.flatMap((entry) => {
      const { id, mesh: facts } = entry;
      if (facts.type === "alias") return findServed(id, { client }, mesh.registry) === undefined ? [] : entry;
      if (facts.type === "model") return models.has(id) ? entry : [];
      const pool = pools.get(id);
      return pool === undefined ? [] : toListedPool(pool, mesh.runtime.clock);
    }),
  };
}

/**
 * Returns a single one, by any name that it has in requests; the entry has that name.
 *
 * @throws {ModelNotFoundError} If it is not available to the client.
 */
export function listedFor(exchange: Exchange, id: string): ListedEntry {
  const { data } = listFor(exchange);
  const entry = data.find((candidate) => candidate.id === id);
  if (entry !== undefined) return entry;
  const [model] = findNamed(id, exchange, exchange.mesh.registry) ?? [];
  if (model !== undefined) {
    return { ...data.find((candidate) => candidate.id === model.name) ?? toListedModel(model), id };
  }
  throw new ModelNotFoundError(`The model or pool ${JSON.stringify(id.slice(0, 80))} does not exist`);
}
