/**
 * What the shared store has acknowledged of counters. Imported where several processes share them only.
 * @module
 */
import { getOrCreate } from "../../util/once.ts";
import type { CounterGroup, ReplicatedCounter } from "./replicated_counter.ts";
import type { Acknowledged, SharedCounters } from "./shared_counters.ts";

/** Returns the acknowledged part of a counter, which the caller updates. */
export function getAcknowledged({ acknowledged }: SharedCounters, { key }: ReplicatedCounter): Acknowledged {
  return getOrCreate(acknowledged, key, () => ({ amount: 0, leased: 0, pending: { amount: 0, leased: 0 } }));
}

/** Ends the replication of a group, which counts no more. What is acknowledged of it stays in the store. */
export function unregister({ acknowledged, groups }: SharedCounters, group: CounterGroup, wallTimeMs: number): void {
  for (const { key } of group.counters(wallTimeMs)) acknowledged.delete(key);
  groups.delete(group);
}
