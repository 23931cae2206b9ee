/**
 * The system interface of servers.
 * @module
 */
import type { Cancel } from "../contracts/runtime.ts";
import type { RequestHandler, Shell } from "../contracts/shell.ts";
import { createResponder } from "./_deno_server.ts";
import { callAfter } from "./_timers.ts";
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
 * @returns Takes what `Deno.serve` tells of the connection.
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

/**
 * Calls `task` once nothing keeps the process alive any more; the process ends after what it has begun. Only on Deno.
 */
export function beforeEnd(task: () => void): Cancel {
  const listen = (event: Event) => {
    event.preventDefault();
    task();
  };
  globalThis.addEventListener?.("beforeunload", listen, { once: true });
  return () => globalThis.removeEventListener?.("beforeunload", listen);
}

/** Time after which a process that is still alive serves requests, ms. */
const aliveMs = 1_000;

/**
 * Runs a program as the main module, unless `deno serve` serves the module's default export. Both evaluate the module
 * alike; but `deno serve` passes no arguments, and with `deno run` nothing keeps the process alive after that.
 *
 * @param program Never resolves: it ends the process.
 * @param isServed Whether the default export has been called.
 */
export async function runUnlessServed(
  program: () => Promise<void>,
  { shell, isServed }: { readonly shell: Pick<Shell, "args">; readonly isServed: () => boolean },
): Promise<void> {
  if (!isDeno() || shell.args.length > 0) return await program();
  const cancel = beforeEnd(() => {
    if (!isServed()) program().catch(reportError);
  });
  callAfter(aliveMs, cancel, (timer) => Deno.unrefTimer(timer));
}
