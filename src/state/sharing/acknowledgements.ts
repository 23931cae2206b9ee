/**
 * What the shared store has acknowledged of this process's counters.
 * @module
 */
import type { SharedSum } from "../../contracts/storage.ts";
import type { ReplicatedCounter } from "../counters/replicated_counter.ts";
import type { Acknowledged, OwnPart, SharedCounters } from "../counters/shared_counters.ts";

/** Returns the shared counter of a replicated one. */
export function toSharedSum({ key, expiresAt, atLeast }: ReplicatedCounter): SharedSum {
  return { key, expiresAt, ...(atLeast === undefined ? {} : { atLeast }) };
}

/** Applies a total. Responses arrive in order, so a total includes this process's part as acknowledged now. */
export function applyTotal(
  part: ReplicatedCounter,
  account: Acknowledged,
  { change, total }: { readonly change: OwnPart; readonly total: number },
): void {
  add(account, change);
  part.apply(Math.max(0, total - account.amount), total);
}

/** Adds a change to a part. */
export function add(part: OwnPart, change: OwnPart): void {
  part.amount += change.amount;
  part.leased += change.leased;
}

/** Subtracts a change from a part. */
export function subtract(part: OwnPart, { amount, leased }: OwnPart): void {
  add(part, { amount: -amount, leased: -leased });
}

/** Whether a counter has something to report. */
export function hasChanged(
  { acknowledged }: SharedCounters,
  { key, own, leased = 0, isPresent }: ReplicatedCounter,
): boolean {
  const { amount, leased: leasedBefore } = acknowledged.get(key) ?? { amount: 0, leased: 0 };
  return isPresent || own !== amount || leased !== leasedBefore;
}

/** Deletes acknowledgements of expired counters, once there are many. */
export class ExpiredAcknowledgements {
  /** Number of counters in use when acknowledgements were last deleted. */
  #inUse = 0;

  /** Deletes them. */
  forget({ groups, acknowledged }: SharedCounters, wallTimeMs: number): void {
    if (acknowledged.size <= 2 * this.#inUse + 100) return;
    const inUse = new Set<string>();
    for (const group of groups) for (const { key } of group.counters(wallTimeMs)) inUse.add(key);
    for (const key of acknowledged.keys()) if (!inUse.has(key)) acknowledged.delete(key);
    this.#inUse = acknowledged.size;
  }
}
