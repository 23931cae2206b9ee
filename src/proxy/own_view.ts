/**
 * The data of `/mesh/…` and `/metrics` that a caller may see.
 * @module
 */
import type { Engine } from "../engine/engine.ts";
import { listOwnPools } from "../pipeline/select_pool.ts";
import { type PoolStatus, toPoolStatus } from "../registry/status.ts";
import type { Caller, Client } from "./client.ts";
import type { Exchange } from "./exchange.ts";

/** The data that belongs to a caller. */
export type Own = Partial<Pick<Client, "id" | "pools" | "findOwnModels">>;

/** The client to which the data is restricted; undefined for callers that see everything. A token without a name has no requests. */
export function findOwnView(exchange: Exchange): Own | undefined {
  return seesEverything(exchange.caller()) ? undefined : exchange.client ?? {};
}

/** The status of the pools that a caller may see, as far as it may use their models. */
export function listShownPools(
  { registry, runtime: { clock } }: Pick<Engine, "registry" | "runtime">,
  own: Own | undefined,
): readonly [name: string, PoolStatus][] {
  return listOwnPools(own, registry).map((pool) => [pool.name, toPoolStatus(pool, clock)]);
}

/** Whether a caller sees the data of all. */
export function seesEverything(caller: Caller | undefined): boolean {
  return caller !== undefined && (caller.isAdministrator || caller.isViewer === true);
}
