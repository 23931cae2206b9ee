/**
 * Suggestions for unknown names.
 * @module
 */
import { nearestCapabilities } from "../capability/tree.ts";
import { nearest } from "../util/nearest.ts";
import type { Registry } from "./registry.ts";

/**
 * Returns the names of pools, aliases, models and capabilities that are nearest to an unknown name, nearest first.
 *
 * @param registry The registry whose names are compared.
 */
export function nearestNames(name: string, registry: Registry): readonly string[] {
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
