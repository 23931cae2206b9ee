/**
 * What a request means for the model that its pool stays with.
 * @module
 */
import type { FallbackStep } from "../contracts/events.ts";
import type { SelectionOutcome } from "../contracts/rotation.ts";
import type { Hub } from "../observe/hub.ts";
import { tellQuietly } from "../observe/told.ts";
import type { Member, Pool } from "../registry/registry.ts";
import type { Vote } from "../state/model_state.ts";
import type { Fit } from "./fit.ts";
import type { Trip } from "./trip.ts";

/** The request. */
interface Plan extends Pick<Fit, "narrowed"> {
  readonly pool: Pool;
}

/**
 * Reports to the strategy that a model did not serve a request.
 *
 * @param member The model.
 * @param vote What the failure meant for it; a fault of the request means nothing.
 * @param plan The request: one with a route of its own speaks for itself alone.
 * @param hub For a strategy that fails.
 */
export function reportFailure({ model }: Member, vote: Vote, plan: Plan, hub: Hub): void {
  if (vote === "failure") report({ failed: new Set([model.name]) }, plan, hub);
}

/**
 * Makes the model that answered the pool's current one, and reports to the strategy which ones did not.
 *
 * @param member The model.
 * @param plan The request.
 * @param trip Where it has been.
 * @param hub For a strategy that fails.
 */
export function reportServed({ model, state }: Member, plan: Plan, { chain }: Trip, hub: Hub): void {
  if (chain.length < 2) return;
  const failed = chain.filter((step) => step.model !== model.name && !isOwnFault(step, plan.pool));
  if (failed.length > 0) report({ failed: new Set(failed.map((step) => step.model)), served: state }, plan, hub);
}

/** Whether the request itself was at fault, by a code that does not count toward deactivation. */
function isOwnFault({ outcome, status }: FallbackStep, { routing }: Pool): boolean {
  return outcome === "request" && !(status !== undefined && routing.deactivation.errorCodes.has(status));
}

function report(outcome: SelectionOutcome, { pool, narrowed }: Plan, hub: Hub): void {
  if (narrowed !== undefined) return;
  const message = `The strategy of the pool "${pool.name}" failed`;
  tellQuietly(
    () => pool.strategy.observe?.(outcome),
    () => hub.trace({ severity: "error", component: "pool", message }),
  );
}
