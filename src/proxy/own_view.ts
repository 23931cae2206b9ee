/**
 * The data of `/mesh/…` and `/metrics` that a caller may see.
 * @module
 */
import type { Client } from "./client.ts";
import type { Exchange } from "./exchange.ts";

/** The data that belongs to a caller. */
export type Own = Partial<Pick<Client, "id" | "pools">>;

/** The client to which the data is restricted; undefined for administrators. A token without a name has no requests. */
export function findOwnView({ client, caller }: Exchange): Own | undefined {
  return caller()?.isAdministrator ? undefined : client ?? {};
}
