/**
 * Runs the programs in `examples/` as child processes, against the demo in another process.
 * @module
 */
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { inTime, spawnCommand } from "./_cli.ts";

const folder = new URL("../../examples/", import.meta.url);

/** Returns the path of a file in `examples/`. */
export function examplePath(name: string): string {
  return fileURLToPath(new URL(name, folder));
}

/** Options of an example. */
export interface ExampleOptions {
  /** Command-line arguments. */
  readonly args?: readonly string[];
  /** Environment variables; none by default. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs an example and returns its output.
 *
 * @param name File name; a Python file is run with `python`.
 * @param options Arguments and environment.
 * @param interpreter The command; by default, Deno with the packages pinned in `tests/deno.lock`.
 * @throws {Error} When it fails, or writes to standard error.
 */
export async function runExample(
  name: string,
  { args = [], env = {} }: ExampleOptions = {},
  interpreter: readonly [string, ...string[]] = [
    execPath,
    ...["run", "-A", "--quiet", "--no-check"],
    `--lock=${fileURLToPath(new URL("../deno.lock", import.meta.url))}`,
    "--frozen",
  ],
): Promise<string> {
  await using child = spawnCommand(args, {
    env: { NO_COLOR: "1", ...env },
    command: [...interpreter, examplePath(name)],
  });
  const code = await inTime(child.code, child);
  if (code !== 0 || child.err !== "") throw new Error(`${name} ended with ${code}: ${child.out}${child.err}`);
  return child.out;
}

/** A running demo. */
export interface RunningDemo extends AsyncDisposable {
  /** URL without path. */
  readonly url: string;
  /** Host and port, as in `VLLM_HOST`. */
  readonly host: string;
}

/** Starts `modelmesh proxy --demo`. */
export async function startDemoProcess(): Promise<RunningDemo> {
  const child = spawnCommand(["proxy", "--demo", "--port", "0"]);
  try {
    const url = await child.url();
    return { url, host: new URL(url).host, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
  } catch (error) {
    await child[Symbol.asyncDispose]();
    throw error;
  }
}
