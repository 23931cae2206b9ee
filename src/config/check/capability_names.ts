/**
 * Validates capability names in configurations.
 * @module
 */
import { nearestCapabilities } from "../../capability/nearest.ts";
import type { CapabilityTree } from "../../capability/tree.ts";
import { quoted, type Report, show } from "../schema/report.ts";

/** Why a name is unknown or ambiguous; undefined if it identifies one node. */
function capabilityProblem(name: string, tree: CapabilityTree): string | undefined {
  const matches = tree.matches(name);
  if (matches.length === 1) return undefined;
  return `${show(name)} ${
    matches.length > 1 ? `is ambiguous, use one of ${quoted(matches)}` : unknownCapability(name, tree)
  }`;
}

/** The problem of an unknown capability, with similar names. */
export function unknownCapability(name: string, tree: CapabilityTree): string {
  const near = nearestCapabilities(tree, name);
  return `is not a capability${near.length === 0 ? "" : `, did you mean ${quoted(near)}?`}`;
}

/** Reports a name that is unknown or ambiguous. */
export function checkCapability(name: string, path: string, tree: CapabilityTree, report: Report): void {
  const problem = capabilityProblem(name, tree);
  if (problem !== undefined) report.problem(path, problem);
}
