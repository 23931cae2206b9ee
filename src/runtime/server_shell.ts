/**
 * The system interface of servers.
 * @module
 */
import type { RequestHandler, Shell } from "../contracts/shell.ts";
import { createResponder } from "./_deno_server.ts";
import { denoShell } from "./deno_shell.ts";
import { nodeShell } from "./node_shell.ts";
import { isDeno } from "./server.ts";

/**
 * Returns the system interface of this process.
 *
 * @throws {MeshError} `unsupported_runtime` if Node is too old.
 */
export function serverShell(): Shell {
  return isDeno() ? denoShell() : nodeShell();
}

/**
 * Returns a handler as a function that another server calls.
 *
 * @param handler Handles the requests.
 * @returns Its second parameter is the information of `Deno.serve` about the connection.
 */
export function toFetch(handler: RequestHandler): (request: Request, info?: object) => Promise<Response> {
  const respond = isDeno() ? createResponder(handler) : undefined;
  return async (request, info) =>
    respond !== undefined && isDenoInfo(info) ? await respond(request, info) : await handler(request);
}

function isDenoInfo(info: object | undefined): info is Deno.ServeHandlerInfo<Deno.NetAddr> {
  return info !== undefined && "remoteAddr" in info && "completed" in info;
}

/** Writes a line to standard error, or to the log of a platform. */
export function printError(line: string): void {
  console.error(line);
}
