/**
 * Queues of pools: requests wait while every model is at its limit of rate or concurrency. Imported with the first
 * request to a pool that has one.
 * @module
 */
import { RateLimitError } from "../errors.ts";
import type { Member, Pool } from "../registry/registry.ts";
import type { AdmittedModel } from "./admission.ts";
import { PoolRequestQueue } from "./pool_request_queue.ts";
import type { RequestContext } from "./request_context.ts";

const queues = new WeakMap<Pool, PoolRequestQueue>();

function getQueue({ plan, deps }: RequestContext): PoolRequestQueue {
  const pool = plan.pool.base ?? plan.pool;
  const existing = queues.get(pool);
  if (existing !== undefined) return existing;
  const created = new PoolRequestQueue(pool, deps);
  queues.set(pool, pool.queue = created);
  return created;
}

/** How the request selects one of several models. */
interface Selection {
  /** Models that may serve it, in any state. */
  readonly candidates: () => readonly Member[];
  /** Selects one of the models that admit the request. */
  readonly choose: (open: readonly Member[]) => Member;
  /** Whether no other one could serve the request if this one fails. */
  readonly isAlone: (member: Member, open: readonly Member[]) => boolean;
}

/**
 * Admits a request at one of several models. It waits for its turn while all that could admit it are at their limits.
 *
 * @returns Undefined if it cannot wait for any model: each is in standby, or denies the request for another reason.
 * @throws {RateLimitError} If the queue is full, or the wait too long.
 * @throws The client's abort reason, or the deadline.
 */
export function admitInOrder(context: RequestContext, selection: Selection): Promise<AdmittedModel | undefined> {
  const { clock, plan: { load, affinity } } = context;
  const reserve = (open: readonly Member[]) => {
    const member = selection.choose(open);
    const { ready } = member.model.instance;
    if (ready !== undefined) return ready.then(() => undefined); // its API key is being renewed
    const permit = member.state.admit(affinity?.withKey(load, member) ?? load, clock.monotonic());
    affinity?.select(member, permit);
    const admitted = { context, member, permit, alone: selection.isAlone(member, open) };
    const unconfirmed = permit.confirm(clock);
    if (unconfirmed === undefined) return admitted;
    return unconfirmed.then((denial) => {
      if (denial === undefined) return admitted;
      permit.withdraw();
      (context.takenElsewhere ??= new Map()).set(member, denial);
    });
  };
  const withdraw = ({ permit }: AdmittedModel) => permit.withdraw();
  const { candidates } = selection;
  return getQueue(context).admit({ context, candidates, reserve, withdraw, isReadmission: false });
}

/**
 * Readmits a request at a model that has already been tried, before all that have come later. If it is admitted, the
 * call is counted.
 *
 * @returns Whether it is admitted.
 * @throws The client's abort reason, or the deadline.
 */
export async function readmitInOrder({ context, member, permit }: AdmittedModel): Promise<boolean> {
  const { clock, plan: { load, affinity } } = context;
  const reserve = () => {
    permit.renew(affinity?.withKey(load, member) ?? load, clock.monotonic());
    affinity?.select(member, permit);
    const unconfirmed = permit.confirm(clock);
    return unconfirmed === undefined ? true : unconfirmed.then((denial) => denial === undefined);
  };
  const queued = { context, candidates: () => [member], reserve, withdraw: () => {}, isReadmission: true };
  try {
    return await getQueue(context).admit<boolean>(queued) ?? false;
  } catch (error) {
    if (RateLimitError.isInstance(error)) return false; // another model may serve it
    throw error;
  }
}
