/**
 * Suggestions for unknown names.
 * @module
 */
import { nearestCapabilities } from "../capability/nearest.ts";
import { nearest } from "../util/nearest.ts";
import type { Registry } from "./registry.ts";

/**
 * Returns the names of pools, aliases, models and capabilities that are nearest to an unknown name, nearest first.
 *
 * @param name The unknown name.
 * @param registry The registry whose names are compared.
 */
export function nearestNames(name: string, registry: Registry): readonly string[] {
  return nearest(name, [...namesIn(registry), ...nearestCapabilities(registry.tree, name)]);
}

/** Returns every name that a request may use. */
function namesIn({ pools, aliases, models, upstreamIds }: Registry): string[] {
  return [...pools, ...models].map(({ name }) => name).concat([...aliases.keys(), ...upstreamIds]);
}
