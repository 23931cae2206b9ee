/**
 * Queues of simulated pools, and what they must never do.
 * @module
 */
import type { RoutingRecord } from "../../mod.ts";
import type { Pool } from "../../src/registry/registry.ts";
import type { RoutedRequest } from "../../src/pipeline/request.ts";
import { Chance } from "./chance.ts";
import type { PoolPlan } from "./_pool_plans.ts";
import { minute, second } from "./_times.ts";
import type { Arrival } from "./_traffic.ts";

/** The queue of a pool; times in ms. */
export interface QueuePlan {
  readonly maxWaitMs: number;
  readonly maxLength: number;
  readonly priority: number;
}

/** Whether and how a pool of a world has a queue. */
export function planQueue(seed: number, pool: string): QueuePlan | undefined {
  const chance = new Chance(seed, `queue of ${pool}`);
  if (!chance.happens(0.5)) return undefined;
  return {
    maxWaitMs: chance.pick([second, 10 * second, minute, 5 * minute]),
    maxLength: chance.pick([1, 3, 10, 100]),
    priority: chance.pick([0, 0, 5]),
  };
}

/** The queue as written in a configuration. */
export function createQueueConfig({ maxWaitMs, maxLength, priority }: QueuePlan): Record<string, unknown> {
  return { max_wait: `${maxWaitMs}ms`, max_length: maxLength, priority };
}

/** Client and priority of a request, by which it waits. */
export function toQueued({ id }: Arrival): Pick<RoutedRequest, "client" | "routingConstraints"> {
  const chance = new Chance(id, "queued");
  const name = chance.pick(["many", "many", "many", "few", "one"]);
  return {
    client: { id: name, name },
    ...(chance.happens(0.3) && { routingConstraints: { priority: chance.whole(0, 9) } }),
  };
}

/** A queue is never longer than configured. */
export function lengthRule(pools: readonly Pool[]): string | undefined {
  const long = pools.find(({ queue, routing }) => queue !== undefined && queue.length > routing.queue!.maxLength);
  if (long === undefined) return undefined;
  return `${long.queue!.length} requests wait in ${long.name}, expected at most ${long.routing.queue!.maxLength}`;
}

/** Nothing waits once all requests are over. */
export function leftRule(pools: readonly Pool[]): string | undefined {
  const left = pools.find(({ queue }) => queue !== undefined && queue.length > 0);
  return left && `${left.queue!.length} requests wait in ${left.name}, expected none: all are over`;
}

/**
 * A request waits only in a queue, and no longer than configured.
 *
 * @param stoppedMs Time for which the process was stopped during the request: what was due meanwhile is done late.
 */
export function waitRule(
  { arrival, pool }: { readonly arrival: Pick<Arrival, "id">; readonly pool: Pick<PoolPlan, "name" | "queue"> },
  { queued_ms: waitedMs }: Pick<RoutingRecord, "queued_ms">,
  stoppedMs: number,
): string | undefined {
  if (waitedMs === undefined) return undefined;
  if (pool.queue === undefined) return `request ${arrival.id} waited in ${pool.name}, which has no queue`;
  const { maxWaitMs } = pool.queue;
  const limitMs = maxWaitMs + stoppedMs;
  if (waitedMs <= limitMs + 1) return undefined;
  return `request ${arrival.id} waited in ${pool.name} for ${waitedMs} ms, expected at most ${limitMs} ms`;
}
