/**
 * Embedding spaces, and warnings about pools whose embeddings may not be comparable.
 * @module
 */
import { servesOperation } from "../capability/operations.ts";
import type { ModelEntry, Pool } from "./registry.ts";

/** Returns what identifies the embedding space of a model: the model itself, if it is not known to share one. */
export function findSpace({ info, instance }: Pick<ModelEntry, "info" | "instance">): string {
  const { embedding_space: space, id } = info;
  return space === undefined ? `model:${instance.entry.id}/${id}` : `space:${space}`;
}

/**
 * Returns warnings about pools that may rotate between embedding models whose embedding spaces are unknown.
 *
 * @param pools The configured or detected pools.
 */
export function spaceWarnings(pools: readonly Pool[]): string[] {
  return pools.flatMap(({ name, members }) => {
    const unknown = members.filter(({ model: { info, leaves } }) =>
      info.embedding_space === undefined && leaves.some((leaf) => servesOperation(leaf, "embeddings"))
    );
    if (unknown.length < 2) return [];
    const names = unknown.slice(0, 5).map(({ model }) => `"${model.name}"`).join(", ");
    return `pools.${name}: the embeddings of ${names} may not be comparable: name their "embedding_space" if they are`;
  });
}
