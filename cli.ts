/**
 * The command line.
 * @module
 */
import { serverConnectors } from "./connectors/server.ts";
import { runCli } from "./src/cli/main.ts";
import { serverRuntime } from "./src/runtime/server.ts";
import { serverShell } from "./src/runtime/server_shell.ts";

/**
 * Runs the command line of this process.
 *
 * @param args Its arguments; those of the process unless given.
 * @returns The exit code: 0 ok, 1 failed, 2 usage.
 */
export async function main(args?: readonly string[]): Promise<number> {
  const shell = serverShell();
  return await runCli(args ?? shell.args, { connectors: serverConnectors, runtime: serverRuntime(), shell });
}

if (import.meta.main) serverShell().exit(await main());
