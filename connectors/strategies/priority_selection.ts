/**
 * Priority selection: the best model that is available, every time.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { SelectionStrategy } from "../../src/contracts/rotation.ts";
import { fittest } from "./_fittest.ts";
import { priority } from "./_priority.ts";

/**
 * Follows the priority order and fails over on error. A half-open model is taken as soon as it is a candidate: its
 * first request after a standby is the trial request, while the requests beside it go to the next in order.
 */
export const prioritySelection: Connector<"strategy"> = {
  id: "mesh.priority-selection.v1",
  kind: "strategy",
  create: () => strategy,
};

const strategy: SelectionStrategy = {
  select: (candidates, context) => fittest(candidates, context, equal),
  score: priority,
};

const equal = () => 0;
