/**
 * The lists of models for clients.
 * @module
 */
import { ModelNotFoundError } from "../errors.ts";
import { findNamed, findServed, modelsOfPools } from "../pipeline/select_pool.ts";
import { type ListedEntry, type ModelList, modelList, toListedModel } from "../registry/model_list.ts";
import type { Exchange } from "./exchange.ts";

/** The models and pools available to the client. */
export function listFor({ mesh, client }: Exchange): ModelList {
  const { object, data } = modelList(mesh.registry, mesh.runtime.clock);
  const pools = client?.pools;
  if (pools === undefined) return { object, data };
  const models = new Set([...modelsOfPools(pools, mesh.registry)].map(({ name }) => name));
  const isOwn = ({ id, mesh: { type } }: ListedEntry) =>
    type === "alias" ? findServed(id, { client }, mesh.registry) !== undefined : pools.has(id) || models.has(id);
  return { object, data: data.filter(isOwn) };
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
