/**
 * Capabilities that an unknown name may have meant.
 * @module
 */
import { nearest } from "../util/nearest.ts";
import type { CapabilityTree } from "./tree.ts";

/**
 * The capabilities nearest to a name, nearest first: short names for a short name, else full paths.
 *
 * @param tree The tree of capabilities.
 * @param name What was written.
 * @param limit Most results.
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
