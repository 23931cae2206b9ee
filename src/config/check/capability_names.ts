/**
 * Names of capabilities as configurations spell them.
 * @module
 */
import { nearestCapabilities } from "../../capability/nearest.ts";
import type { CapabilityTree } from "../../capability/tree.ts";
import { quoted, type Report, show } from "../schema/report.ts";

/**
 * Why a name stands for no one node of the capability tree.
 *
 * @param name As written.
 * @param tree The tree.
 */
function capabilityProblem(name: string, tree: CapabilityTree): string | undefined {
  const matches = tree.matches(name);
  if (matches.length === 1) return undefined;
  return `${show(name)} ${
    matches.length > 1 ? `is ambiguous, write ${quoted(matches)}` : unknownCapability(name, tree)
  }`;
}

/**
 * That a name is no capability, and which may have been meant.
 *
 * @param name As written.
 * @param tree The tree.
 */
export function unknownCapability(name: string, tree: CapabilityTree): string {
  const near = nearestCapabilities(tree, name);
  return `is no capability${near.length === 0 ? "" : `, did you mean ${quoted(near)}?`}`;
}

/**
 * Reports a name that stands for no one node of the capability tree.
 *
 * @param name As written.
 * @param path Where it stands.
 * @param tree The tree.
 * @param report Where problems go.
 */
export function checkCapability(name: string, path: string, tree: CapabilityTree, report: Report): void {
  const problem = capabilityProblem(name, tree);
  if (problem !== undefined) report.problem(path, problem);
}
