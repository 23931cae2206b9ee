/**
 * How many pools and models are active.
 * @module
 */
import type { PoolStatus } from "../src/registry/status.ts";
import type { MeshStatus } from "./records.ts";

/** A rate limit that passes within this time is not an outage, ms. */
const briefMs = 60_000;

/** Whether no model of a pool is active, as its rate limit passes soon. */
export function isPaused({ active, models }: PoolStatus, now: number): boolean {
  const passesSoon = (retryAt = "") => Date.parse(retryAt) - now <= briefMs;
  return active === 0 && models.some(({ reason, retryAt }) => reason === "rate_limited" && passesSoon(retryAt));
}

/** What of the mesh is active. */
interface Summary {
  readonly pools: number;
  /** Names of pools without an active model, unless they are paused. */
  readonly down: readonly string[];
  /** Names of pools that wait for a rate limit to pass. */
  readonly paused: readonly string[];
  readonly models: number;
  /** Models that are in standby in a pool. */
  readonly standby: number;
}

/** Counts pools and models. */
export function countStates({ pools }: Pick<MeshStatus, "pools">, now: number): Summary {
  const members = Object.values(pools).flatMap(({ models }) => models);
  const standby = members.filter(({ status }) => status === "standby");
  const inactive = Object.entries(pools).filter(([, { active, total }]) => active === 0 && total > 0);
  return {
    pools: Object.keys(pools).length,
    down: inactive.flatMap(([name, pool]) => isPaused(pool, now) ? [] : name),
    paused: inactive.flatMap(([name, pool]) => isPaused(pool, now) ? name : []),
    models: new Set(members.map(({ name }) => name)).size,
    standby: new Set(standby.map(({ name }) => name)).size,
  };
}
