/**
 * Names that a request for an unknown one may have meant.
 * @module
 */
import { nearestCapabilities } from "../capability/nearest.ts";
import { nearest } from "../util/nearest.ts";
import type { Registry } from "./registry.ts";

/**
 * The names nearest to an unknown one, nearest first: of pools, aliases, models and capabilities.
 *
 * @param name What was asked for.
 * @param registry What exists.
 */
export function nearestNames(name: string, registry: Registry): readonly string[] {
  return nearest(name, [...namesIn(registry), ...nearestCapabilities(registry.tree, name)]);
}

/** Every name a request may use. */
function namesIn({ pools, aliases, models, upstreamIds }: Registry): string[] {
  return [...pools, ...models].map(({ name }) => name).concat([...aliases.keys(), ...upstreamIds]);
}
