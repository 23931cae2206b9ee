/**
 * Versions of Node.
 * @module
 */
import { fromFileUrl, root } from "./files.ts";
import { run } from "./process.ts";

/**
 * Finds a version of Node: the installed one if it has this version, else one from npm.
 *
 * @param version Major version.
 * @returns The path of its program.
 * @throws {Error} When npm cannot install it.
 */
export async function findNode(version: string): Promise<string> {
  const installed = await print(["node", "--version"]);
  if (installed.startsWith(`v${version}.`)) return "node";
  return await print(["npx", "--yes", "-p", `node@${version}`, "node", "-p", "process.execPath"]);
}

async function print(command: readonly string[]): Promise<string> {
  return (await run(command, { folder: fromFileUrl(root) })).out.trim();
}
