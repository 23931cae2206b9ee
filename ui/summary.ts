/**
 * How many pools and models are active.
 * @module
 */
import type { MeshStatus } from "./records.ts";

/** What of the mesh is active. */
interface Summary {
  readonly pools: number;
  /** Names of pools without an active model. */
  readonly down: readonly string[];
  readonly models: number;
  /** Models that are in standby in a pool. */
  readonly standby: number;
}

/** Counts pools and models. */
export function countStates({ pools }: Pick<MeshStatus, "pools">): Summary {
  const members = Object.values(pools).flatMap(({ models }) => models);
  const standby = members.filter(({ status }) => status === "standby");
  return {
    pools: Object.keys(pools).length,
    down: Object.entries(pools).flatMap(([name, { active, total }]) => active === 0 && total > 0 ? name : []),
    models: new Set(members.map(({ name }) => name)).size,
    standby: new Set(standby.map(({ name }) => name)).size,
  };
}
