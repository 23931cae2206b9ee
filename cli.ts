/**
 * The command-line interface.
 * @module
 */
// connectors of nearly every proxy: to import them on demand takes Deno (2.9.6) two milliseconds each
import "./connectors/observability/console.ts";
import "./connectors/providers/_openai_compatible.ts";
import "./connectors/strategies/stick_until_failure.ts";
import { serverConnectors } from "./connectors/server.ts";
import { runCli } from "./src/cli/main.ts";
import { serverRuntime } from "./src/runtime/server.ts";
import { serverShell } from "./src/runtime/server_shell.ts";

/**
 * Runs the command-line interface in this process.
 *
 * @param args Command-line arguments. @default the arguments of the process
 * @returns The exit code: 0 success, 1 failure, 2 usage error.
 */
export async function main(args?: readonly string[]): Promise<number> {
  const shell = serverShell();
  return await runCli(args ?? shell.args, { connectors: serverConnectors, runtime: serverRuntime(), shell });
}

if (import.meta.main) serverShell().exit(await main());
