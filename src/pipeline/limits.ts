/**
 * Step 4, where there are limits and budgets: whom they stand in the way of. Switching for one changes no state.
 * @module
 */
import type { ModelView } from "../contracts/rotation.ts";
import type { Clock } from "../contracts/runtime.ts";
import { BudgetExceededError, type MeshError } from "../errors.ts";
import type { Member, ModelEntry, Pool } from "../registry/registry.ts";
import type { Obstacle } from "../state/meter.ts";
import type { SharedLedger, WantedPart } from "../state/shared_ledger.ts";
import { untilQuotaReset } from "../util/windows.ts";
import { filterByState } from "./filter_by_state.ts";
import type { Admitted } from "./request.ts";
import type { Trip } from "./trip.ts";

/** When whoever finds the rest of a budget set aside by others is told to come back, ms. */
const contestedMs = 1_000;

/** For whom members are admitted. */
export interface AdmitContext {
  /** Whose members they are. */
  readonly pool: Pool;
  /** The request's journey; told what stands in the way of all of them. */
  readonly trip: Trip;
  /** For waits, and for what is over by now. */
  readonly clock: Clock;
  /** Nobody else could take the request. */
  readonly alone: boolean;
}

/** Holds requests to limits and budgets. */
export interface Limits {
  /**
   * The members that are active and that no limit and no budget stands in the way of. Wishes of the operator (requests a
   * minute, spacing) give way or are waited for when nobody else is left; limits of vendors and money never do. A member
   * with a trial under way is better than nobody.
   */
  admit(members: readonly Member[], context: AdmitContext): Admitted;
  /**
   * Asks for the room that a request to a member needs in what several processes count together; undefined where nothing
   * is. A member that is refused is not admitted again for the same request.
   */
  refuses(member: Member, trip: Trip): Promise<boolean> | undefined;
  /** Whether money or a rate kept a member from being asked. */
  whyNot(member: Member, trip: Trip): "budget" | "rate_limited" | "storage_unavailable" | undefined;
  /** When an exhausted quota may be there again, ms from now: when it resets, else after the cooldown. */
  untilReset(pool: Pool, model: ModelEntry, wall: number): number;
  /** The error of a pool whose money is spent. */
  spentError(pool: Pool, retryAfterMs: number | undefined): MeshError;
}

/** The limits of models, keys and budgets, as their states know them. */
export const limits: Limits = { admit, refuses, whyNot, untilReset, spentError };

/** Several processes may spend the same money: room in it is asked for when it is clear for whom. */
function refuses(member: Member, trip: Trip): Promise<boolean> | undefined {
  const { ledger } = member.state;
  if (!ledger?.isOpen) return undefined;
  const wanted = member.state.wanted!(trip.load);
  return wanted.length === 0 ? undefined : isRefused(member, ledger, wanted, trip);
}

/** Whom a request was refused. */
const contests = new WeakMap<Trip, Set<Member>>();

async function isRefused(
  member: Member,
  ledger: SharedLedger,
  wanted: readonly WantedPart[],
  trip: Trip,
): Promise<boolean> {
  if (await ledger.claim(wanted)) return false;
  await ledger.refresh(); // what was set aside here and not used is given back
  if (await ledger.claim(wanted)) return false;
  contests.set(trip, (contests.get(trip) ?? new Set()).add(member));
  return true;
}

/** The members that are active and in whose way nothing stands; a member that was tried is asked again. */
function admit(members: readonly Member[], context: AdmitContext): Admitted {
  const admitted = admitHere(members, context);
  const [member] = members;
  if (!member?.state.ledger?.isOpen || !context.trip.tried.has(member.model.name)) return admitted;
  return Promise.resolve(admitted).then(async (open) =>
    open.length > 0 && await refuses(member, context.trip) ? [] : open
  );
}

function admitHere(members: readonly Member[], context: AdmitContext): Admitted {
  const now = context.clock.monotonic();
  const candidates = filterByState(members, now);
  if (candidates.length === 0) return candidates;
  const open = unobstructed(candidates, context, now);
  if (open.length > 0) return open;
  const onTrial = members.filter(({ state }) => state.status === "active" && state.trialUnderWay);
  const more = unobstructed(onTrial, context, now);
  if (more.length > 0) return more;
  const waitMs = context.alone ? soonest(candidates, context, now) : undefined;
  return waitMs === undefined ? [] : context.trip.wait(waitMs).then(() => admitHere(members, context));
}

/** Nothing is known to be in the way: other processes are quicker. */
function contestedUntil(now: number): Obstacle {
  return { kind: "budget", until: now + contestedMs };
}

/** Candidates without an obstacle; one whose obstacle is no more than a wish, where nobody else is left. */
function unobstructed(candidates: readonly Member[], { trip, alone }: AdmitContext, now: number): readonly Member[] {
  let obstacles: Map<Member, Obstacle> | undefined;
  const contested = candidates[0]?.state.ledger?.isOpen ? contests.get(trip) : undefined;
  for (const member of candidates) {
    const obstacle = member.state.obstacle?.(trip.load, now) ??
      (contested?.has(member) ? contestedUntil(now) : undefined);
    if (obstacle !== undefined) (obstacles ??= new Map()).set(member, obstacle);
  }
  if (obstacles === undefined) return candidates;
  if (obstacles.size < candidates.length) return candidates.filter((member) => !obstacles.has(member));
  trip.obstacles = new Map([...trip.obstacles ?? [], ...obstacles]);
  const crowded = alone ? candidates.filter((member) => obstacles.get(member)!.kind === "crowded") : [];
  return crowded.length === 0 ? [] : [roomiest(crowded)];
}

/** Spacing is waited for when that fits within the pool's longest wait and the deadline, ms. */
function soonest(held: readonly Member[], { pool, trip }: AdmitContext, now: number): number | undefined {
  const waits = held.flatMap((member) => {
    const { kind, until } = trip.obstacles!.get(member)!;
    const waitMs = until - now;
    const isWorthIt = kind === "spacing" && waitMs < trip.remainingMs &&
      waitMs <= pool.routing.retry(member.model.home.entry.id).maxDelayMs;
    return isWorthIt ? waitMs : [];
  });
  return waits.length === 0 ? undefined : Math.min(...waits);
}

/** The one with most headroom; the first of equals. */
function roomiest(members: readonly Member[]): Member {
  let best = members[0]!;
  let most = -1;
  for (const member of members) {
    const { requests }: ModelView = member.state;
    const left = requests === undefined ? 1 : requests.left / Math.max(1, requests.limit);
    if (left <= most) continue;
    best = member;
    most = left;
  }
  return best;
}

function whyNot(member: Member, { obstacles }: Trip): ReturnType<Limits["whyNot"]> {
  const obstacle = obstacles?.get(member)?.kind;
  if (obstacle === "storage_unavailable") return obstacle;
  if (obstacle !== undefined) return obstacle === "budget" ? "budget" : "rate_limited";
  const { status, reason } = member.state;
  const isSpent = status === "standby" && (reason === "budget_limit" || reason === "provider_budget");
  return isSpent ? "budget" : undefined;
}

function untilReset({ routing: { recovery } }: Pool, { home }: ModelEntry, wall: number): number {
  if (recovery.onQuotaReset === false) return recovery.cooldownMs;
  return untilQuotaReset(recovery.quotaReset ?? home.entry.quotaReset, wall);
}

function spentError({ name }: Pool, retryAfterMs: number | undefined): MeshError {
  return new BudgetExceededError(`Every budget for the pool "${name}" is spent`, retryAfterMs);
}
