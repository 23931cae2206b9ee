/**
 * Suggestions for unknown capability names.
 * @module
 */
import { nearest } from "../util/nearest.ts";
import type { CapabilityTree } from "./tree.ts";

/**
 * The capabilities most similar to a name, most similar first. Returns short names for a short name, otherwise full
 * paths.
 *
 * @param tree The tree of capabilities.
 * @param name The unknown name.
 * @param limit Maximum number of results.
 *
 * @example
 * ```ts
 * import { capabilityTree, nearestCapabilities } from "@modelmesh/core";
 *
 * console.log(nearestCapabilities(capabilityTree(), "chat-complete", 1)); // ["chat-completion"]
 * ```
 */
export function nearestCapabilities(tree: CapabilityTree, name: string, limit = 3): readonly string[] {
  const nodes = tree.nodes();
  return nearest(name, name.includes(".") ? nodes : nodes.map((path) => tree.shortName(path)), limit);
}
