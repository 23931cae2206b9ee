/**
 * Explains why a server cannot listen.
 * @module
 */
import { MeshError } from "../errors.ts";
import { describeDenial } from "../util/denial.ts";

/**
 * Converts an error of the runtime.
 *
 * @param error Of Node or Deno.
 * @param where Host and port.
 */
export function listenError(error: unknown, where: string): MeshError {
  const { code } = error as { code?: string };
  const denial = describeDenial(error, { host: where.replace(/:0$/, "") });
  if (denial !== undefined) {
    return new MeshError(`Cannot listen on ${where}: ${denial}`, { code: "port_not_permitted", cause: error });
  }
  if (code === "EADDRINUSE") {
    return new MeshError(`Cannot listen on ${where}: the port is in use`, { code: "port_in_use", cause: error });
  }
  if (code === "EACCES" || code === "EPERM") {
    return new MeshError(`Cannot listen on ${where}: not permitted`, { code: "port_not_permitted", cause: error });
  }
  return new MeshError(`Cannot listen on ${where}: no such address here`, { code: "cannot_listen", cause: error });
}
