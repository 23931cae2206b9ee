/**
 * The programs of `examples/`, run as a reader would: each a process of its own, against the demo in another one.
 * @module
 */
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { inTime, spawnCommand } from "./_cli.ts";

const folder = new URL("../../examples/", import.meta.url);

/** The path of a file of `examples/`. */
export function examplePath(name: string): string {
  return fileURLToPath(new URL(name, folder));
}

/** What an example is run with. */
export interface ExampleOptions {
  /** Its arguments. */
  readonly args?: readonly string[];
  /** The environment; empty unless said. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * What an example prints.
 *
 * @param name Its file; one in Python is run by `python`.
 * @param options Arguments and environment.
 * @param interpreter The command before its path; Deno with the packages that `tests/deno.lock` pins, unless given.
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

/** A demo that runs. */
export interface RunningDemo extends AsyncDisposable {
  /** Without path. */
  readonly url: string;
  /** As `VLLM_HOST` has it. */
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
