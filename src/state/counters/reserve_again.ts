/**
 * Calls that are about to be sent when the lease under which they have reserved was lost.
 * @module
 */
import type { CounterRequest, Replication } from "./counter_replicator.ts";

/** What a call that was not sent yet has reserved. */
interface UnsentReservation {
  /** Returns its requests for shared counters. */
  requests(): readonly CounterRequest[];
  /** Shows the reservation to other processes, or hides it. */
  confirm(isConfirmed: boolean): void;
}

/**
 * Reserves again for a call that was not sent yet, if the lease under which it has reserved was lost.
 *
 * @param leaseNumber Number of that lease.
 * @returns The reason of the denial; undefined when the call may be sent.
 */
export async function reserveAgain(
  replication: Replication,
  leaseNumber: number,
  unsent: UnsentReservation,
): Promise<CounterRequest["reason"] | undefined> {
  if (unsent.requests().length === 0) return undefined;
  await replication.renewLease();
  if (replication.lease.isCertain && replication.lease.number === leaseNumber) return undefined;
  unsent.confirm(false);
  await replication.refresh(); // what other calls of this process have sent counts first
  const confirm = () => unsent.confirm(true);
  const denied = await replication.reserve(unsent.requests(), confirm);
  if (denied === undefined) confirm(); // also when the store is unavailable: the next sync reports it
  return denied;
}
