/**
 * How to start programs on the runtime of the tests: from the sources on Deno, from the installed package on Node.
 * @module
 */
import process from "node:process";
import { fileURLToPath } from "node:url";

/** A program and its arguments. */
export type CommandLine = readonly [command: string, ...args: string[]];

const root = new URL("../../", import.meta.url);

/** Whether the tests run on Deno. */
export const onDeno: boolean = "Deno" in globalThis;

/**
 * Returns the command of this repository's command line.
 *
 * @param entry `proxy` is the entry that starts a proxy when it is imported.
 */
export function entryCommand(entry: "cli" | "proxy"): CommandLine {
  if (onDeno) return [process.execPath, "run", "-A", "--no-check", fileURLToPath(new URL(`${entry}.ts`, root))];
  const bin = nodeStarter();
  return entry === "cli" ? [process.execPath, bin] : [process.execPath, bin, "proxy"];
}

/** Path of the file that starts the command line on Node. */
export function nodeStarter(): string {
  if (onDeno) return fileURLToPath(new URL("scripts/npm/modelmesh.cjs", root));
  return fileURLToPath(new URL("modelmesh.cjs", import.meta.resolve("@modelmesh/core/package.json")));
}

/**
 * Returns the command of a program that imports the library.
 *
 * @param source Its code, with `LIBRARY` and `PROXY` for the URLs of the main and proxy entries.
 * @param heapMb Maximum heap size, MB; by default, that of the runtime.
 */
export function programCommand(source: string, heapMb?: number): CommandLine {
  const urlOf = (file: string, name: string) =>
    JSON.stringify(onDeno ? new URL(file, root).href : import.meta.resolve(name));
  const text = source
    .replaceAll("LIBRARY", urlOf("mod.ts", "@modelmesh/core"))
    .replaceAll("PROXY", urlOf("proxy.ts", "@modelmesh/core/proxy"));
  return runCommand(text, heapMb);
}

/**
 * Returns the command of a program that uses the platform.
 *
 * @param source Its code, with `SHELL` for this runtime's `Shell`.
 */
export function shellCommand(source: string): CommandLine {
  const name = onDeno ? "deno_shell" : "node_shell";
  const url = onDeno ? new URL(`src/runtime/${name}.ts`, root) : new URL(`${name}.mjs`, import.meta.url);
  const shell = `(await import(${JSON.stringify(url.href)})).${onDeno ? "denoShell" : "nodeShell"}()`;
  return runCommand(source.replaceAll("SHELL", shell));
}

function runCommand(text: string, heapMb?: number): CommandLine {
  const module = `data:text/javascript,${encodeURIComponent(text)}`;
  const limit = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`];
  if (!onDeno) return [process.execPath, ...limit, "--input-type=module", "--eval", text, "--", "program"];
  const config = fileURLToPath(new URL("deno.json", root));
  return [process.execPath, "run", "-A", ...limit.map((flag) => `--v8-flags=${flag}`), "--config", config, module];
}
