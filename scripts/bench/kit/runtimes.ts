/**
 * Runtimes of contestants: Deno, and versions of Node.
 * @module
 */
import { fileURLToPath } from "node:url";
import { output } from "./process.ts";

/** Path of the repository's root, with a trailing slash. */
export const root: string = fileURLToPath(new URL("../../../", import.meta.url));

const programs = fileURLToPath(new URL("../programs/", import.meta.url));
const npmMs = 180_000;

/** Returns the path of a program of the benchmark. */
export function programPath(name: string): string {
  return programs + name;
}

/**
 * Returns the command that runs a file on Deno. Dynamic imports are loaded when they are evaluated, as `docs/cli.md`
 * recommends.
 *
 * @param flags Additional flags of Deno.
 */
export function denoCommand(path: string, flags: readonly string[] = []): string[] {
  return [
    Deno.execPath(),
    "run",
    "-A",
    "--unstable-lazy-dynamic-imports",
    ...flags,
    "--config",
    `${root}deno.json`,
    path,
  ];
}

const nodes = new Map<string, Promise<string>>();

/**
 * Returns the path of a Node version: the installed one if it has this version, else one from npm.
 *
 * @param version Major version.
 * @throws {Error} When npm cannot install it.
 */
export function nodePath(version: string): Promise<string> {
  let path = nodes.get(version);
  if (path === undefined) nodes.set(version, path = findNode(version));
  return path;
}

async function findNode(version: string): Promise<string> {
  const [here = "", path = ""] = (await anyNode() ?? "").split(" ");
  if (here.startsWith(`v${version}.`)) return path;
  const command = ["npx", "--yes", "-p", `node@${version}`, "node", "-p", "process.execPath"];
  return (await output({ command }, npmMs)).trim();
}

let node: Promise<string | undefined> | undefined;

const whichNode = "process.versions.deno ? '' : `${process.version} ${process.execPath}`";

/** Version and path of the installed Node; undefined if there is none. */
function anyNode(): Promise<string | undefined> {
  return node ??= output({ command: ["node", "-p", whichNode] }).then(
    (text) => text.trim() || undefined,
    () => undefined,
  );
}

/**
 * Returns the command of a script that runs on Node and Deno. Node is preferred, since its sockets are faster.
 *
 * @param name File name of the script.
 */
export async function scriptCommand(name: string): Promise<string[]> {
  const found = await anyNode();
  return found === undefined ? denoCommand(programPath(name)) : [found.split(" ")[1]!, programPath(name)];
}

/** Name of the runtime of the upstream and the load generator. */
export async function scriptRuntime(): Promise<string> {
  const found = await anyNode();
  return found === undefined ? `Deno ${Deno.version.deno}` : `Node ${found.split(" ")[0]}`;
}

/** Versions of Node that contestants used. */
export async function usedNodes(): Promise<string[]> {
  const paths = await Promise.allSettled(nodes.values());
  const found = paths.flatMap((path) => path.status === "fulfilled" ? [path.value] : []);
  return await Promise.all(
    found.map(async (path) => `Node ${(await output({ command: [path, "--version"] })).trim()}`),
  );
}
