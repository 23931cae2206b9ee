/**
 * The programs that others run on: Deno, and Node by version.
 * @module
 */
import { fileURLToPath } from "node:url";
import { output } from "./process.ts";

/** The repository's root, a path with a slash at its end. */
export const root: string = fileURLToPath(new URL("../../../", import.meta.url));

/** Has Deno read what is imported later when it is imported, as `docs/cli.md` recommends. */
export const lazyImports = "--unstable-lazy-dynamic-imports";

const programs = fileURLToPath(new URL("../programs/", import.meta.url));
const npmMs = 180_000;

/** The path of a program of the benchmark. */
export function programPath(name: string): string {
  return programs + name;
}

/**
 * How Deno runs a file.
 *
 * @param path The file.
 * @param flags Of Deno, beside the usual ones.
 */
export function denoCommand(path: string, flags: readonly string[] = []): string[] {
  return [Deno.execPath(), "run", "-A", "--no-lock", "--no-npm", ...flags, "--config", `${root}deno.json`, path];
}

const nodes = new Map<string, Promise<string>>();

/**
 * The path of a Node: the one at hand where it is that version, else from npm.
 *
 * @param version Its major version.
 * @throws {Error} When npm cannot bring it.
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

/** Version and path of the Node at hand, for which Deno stands in where there is none. */
function anyNode(): Promise<string | undefined> {
  return node ??= output({ command: ["node", "-p", whichNode] }).then(
    (text) => text.trim() || undefined,
    () => undefined,
  );
}

/**
 * How a script that runs on both is run: on Node where there is one, which is quicker with bare sockets.
 *
 * @param name Its file's name.
 */
export async function scriptCommand(name: string): Promise<string[]> {
  const found = await anyNode();
  return found === undefined ? denoCommand(programPath(name)) : [found.split(" ")[1]!, programPath(name)];
}

/** What the upstream and the fine load run on, for people. */
export async function scriptRuntime(): Promise<string> {
  const found = await anyNode();
  return found === undefined ? `Deno ${Deno.version.deno}` : `Node ${found.split(" ")[0]}`;
}

/** The versions of Node that contestants ran on. */
export async function usedNodes(): Promise<string[]> {
  const paths = await Promise.allSettled(nodes.values());
  const found = paths.flatMap((path) => path.status === "fulfilled" ? [path.value] : []);
  return await Promise.all(
    found.map(async (path) => `Node ${(await output({ command: [path, "--version"] })).trim()}`),
  );
}
