/**
 * The machine wherever the package runs.
 * @module
 */
import type { Shell } from "../contracts/shell.ts";
import { denoShell } from "./deno_shell.ts";
import { nodeShell } from "./node_shell.ts";
import { isDeno } from "./server.ts";

/**
 * The machine of this process.
 *
 * @throws {MeshError} `unsupported_runtime` on a Node that is too old.
 */
export function serverShell(): Shell {
  return isDeno() ? denoShell() : nodeShell();
}
