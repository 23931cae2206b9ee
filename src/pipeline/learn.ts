/**
 * What a model that did not serve teaches: about itself, its provider, and for the rest of this request.
 * @module
 */
import type { Member, Pool } from "../registry/registry.ts";
import type { Ticket, Vote } from "../state/model_state.ts";
import type { Rotate } from "./decide.ts";
import type { Failure } from "./failure.ts";
import type { RouteDeps } from "./request.ts";
import type { Trip } from "./trip.ts";

/** Quotas start anew each UTC day where nobody knows better, ms. */
const dayMs = 86_400_000;

/** A model that did not serve in all its tries. */
export interface Lesson {
  readonly member: Member;
  readonly ticket: Ticket;
  readonly pool: Pool;
  readonly failure: Failure;
  readonly next: Rotate;
}

/**
 * Records a miss: rests for what is a fact about the vendor, the model's one vote for the rest of it, none for a
 * fault of the request.
 *
 * @param lesson Who did not serve, and why.
 * @param trip The request's journey.
 * @param deps Wall clock for the calendar, monotonic for rests; what is known of quotas.
 */
export function learn(
  { member, ticket, pool, failure, next }: Lesson,
  trip: Trip,
  { runtime: { clock }, limits }: RouteDeps,
): void {
  const { state, model } = member;
  const now = clock.monotonic();
  trip.misses.push({ member, failure });
  if (failure.kind === "auth" || failure.kind === "quota_exhausted" || failure.neverSent) {
    trip.ruledOut.add(model.home.entry.id);
  }
  state.finish(ticket, voteOn(failure, next, pool), now, { status: failure.status, kind: failure.kind });
  const { rest } = next;
  if (rest === undefined) return;
  if (rest.reason === "rate_limited") state.restEverywhere(rest.reason, now, rest.restMs);
  else if (rest.reason === "model_not_found") state.restEverywhereForCooldown(rest.reason, now);
  else {
    const wall = clock.now();
    const untilReset = () => limits?.untilReset(pool, model, wall) ?? dayMs - wall % dayMs;
    state.restProvider(rest.reason, now, rest.restMs ?? untilReset());
  }
}

function voteOn(failure: Failure, next: Lesson["next"], { routing }: Pool): Vote {
  if (failure.status !== undefined && routing.deactivation.errorCodes.has(failure.status)) return "failure";
  return next.rest !== undefined || failure.kind === "request" ? "none" : "failure";
}
