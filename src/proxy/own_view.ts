/**
 * The data of `/mesh/…` and `/metrics` that a caller may see.
 * @module
 */
import type { Caller, Client } from "./client.ts";
import type { Exchange } from "./exchange.ts";

/** The data that belongs to a caller. */
export type Own = Partial<Pick<Client, "id" | "pools">>;

/** The client to which the data is restricted; undefined for callers that see everything. A token without a name has no requests. */
export function findOwnView({ client, caller }: Exchange): Own | undefined {
  return seesEverything(caller()) ? undefined : client ?? {};
}

/** Whether a caller sees the data of all. */
export function seesEverything(caller: Caller | undefined): boolean {
  return caller !== undefined && (caller.isAdministrator || caller.isViewer === true);
}
