/**
 * Priority selection: always the best available model.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { SelectionStrategy } from "../../src/contracts/rotation.ts";
import { highestMerit } from "./_highest_merit.ts";
import { priority } from "./_priority.ts";

/**
 * Selects by priority, and fails over on errors. A half-open model is selected as soon as it is a candidate: its first
 * request is the trial request, while concurrent requests go to the next model in order.
 */
export const prioritySelection: Connector<"strategy"> = {
  id: "mesh.priority-selection.v1",
  kind: "strategy",
  create: () => strategy,
};

const strategy: SelectionStrategy = {
  select: (candidates, context) => highestMerit(candidates, context, equal),
  score: priority,
};

const equal = () => 0;
