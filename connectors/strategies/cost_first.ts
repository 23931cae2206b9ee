/**
 * Cost first: the cheapest model for each request.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { SelectionStrategy } from "../../src/contracts/rotation.ts";
import { highestMerit, type Merit } from "./_highest_merit.ts";
import { priority } from "./_priority.ts";

/** Score of an unknown price, in nano-dollars: a million USD, above the cost of any request. */
const unknownPrice = 1e15;
const maxCost = 999_999_999_999_999;
/** Breaks ties between costs, which are integer nano-dollars, without outweighing any other difference. */
const tieBreak = 0.25;

/**
 * Selects the model with the lowest estimated cost of the request. A long prompt may therefore be routed elsewhere than
 * a long response; all models are compared with the same token counts. Models with an unknown price come last. Ties are
 * broken by priority, then by configuration order, and are not load-balanced. The score is the negative cost in
 * nano-dollars.
 */
export const costFirst: Connector<"strategy"> = {
  id: "mesh.cost-first.v1",
  kind: "strategy",
  create: () => strategy,
};

const merit: Merit = (candidate, context) => {
  const cost = context.costOf(candidate);
  if (cost === undefined || !(cost >= 0)) return -unknownPrice;
  return -Math.min(Math.round(cost), maxCost);
};

const strategy: SelectionStrategy = {
  select: (candidates, context) => highestMerit(candidates, context, merit),
  score: (candidate, context) => merit(candidate, context, 0) + tieBreak * priority(candidate, context),
};
