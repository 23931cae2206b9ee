/**
 * Warnings about pools whose embeddings may not be comparable.
 * @module
 */
import { servesOperation } from "../capability/operations.ts";
import type { Pool } from "./registry.ts";

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
