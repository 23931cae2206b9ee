/**
 * The system interface of servers.
 * @module
 */
import type { Shell } from "../contracts/shell.ts";
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
