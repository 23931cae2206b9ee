/**
 * Cost first: the cheapest model for this very request.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { SelectionStrategy } from "../../src/contracts/rotation.ts";
import { fittest, type Merit } from "./_fittest.ts";
import { priority } from "./_priority.ts";

/** Nano-dollars, a million USD: more than any request costs. An unknown price is worse than every known one. */
const unknownPrice = 1e15;
const dearest = 999_999_999_999_999;
/** Decides between equal costs, which are whole nano-dollars, and never more than that. */
const tieBreak = 0.25;

/**
 * Takes the model with the lowest estimated cost of the request at hand, so that a long prompt may go elsewhere than
 * a long answer; all are compared by the same numbers of tokens. Models of unknown price come last; equal costs go by
 * priority, then by the configuration's order, and are not spread: the first free model serves all. The score is the
 * cost in nano-dollars, negative.
 */
export const costFirst: Connector<"strategy"> = {
  id: "mesh.cost-first.v1",
  kind: "strategy",
  create: () => strategy,
};

const merit: Merit = (candidate, context) => {
  const cost = context.costOf(candidate);
  if (cost === undefined || !(cost >= 0)) return -unknownPrice;
  return -Math.min(Math.round(cost), dearest);
};

const strategy: SelectionStrategy = {
  select: (candidates, context) => fittest(candidates, context, merit),
  score: (candidate, context) => merit(candidate, context, 0) + tieBreak * priority(candidate, context),
};
