/**
 * The lists of models that clients get.
 * @module
 */
import { ModelNotFoundError } from "../errors.ts";
import { type ListedEntry, type ModelList, modelList } from "../registry/model_list.ts";
import type { Exchange } from "./exchange.ts";

/** The models and pools that a client may use: those of its own where it has any. */
export function listFor({ mesh, client }: Exchange): ModelList {
  const { object, data } = modelList(mesh.registry, mesh.runtime.clock);
  const pools = client?.pools;
  return {
    object,
    data: pools === undefined ? data : data.filter(({ id, mesh }) => mesh.type === "pool" && pools.has(id)),
  };
}

/**
 * One of them.
 *
 * @throws {ModelNotFoundError} When a client has no such model or pool.
 */
export function listedFor(exchange: Exchange, id: string): ListedEntry {
  const entry = listFor(exchange).data.find((one) => one.id === id);
  if (entry !== undefined) return entry;
  throw new ModelNotFoundError(`The model or pool ${JSON.stringify(id.slice(0, 80))} does not exist`);
}
