/**
 * Loads Node's built-in modules without imports, which bundlers for browsers cannot resolve.
 * @module
 */
import { MeshError } from "../errors.ts";
import { guardFiles } from "./_deno_permissions.ts";

/** The modules this repository uses, by name. */
interface Builtins {
  "node:crypto": typeof import("node:crypto");
  "node:buffer": typeof import("node:buffer");
  "node:cluster": import("node:cluster").Cluster;
  "node:fs": typeof import("node:fs");
  "node:http": typeof import("node:http");
  "node:https": typeof import("node:https");
  "node:net": typeof import("node:net");
  "node:os": typeof import("node:os");
  "node:path": typeof import("node:path");
  "node:readline": typeof import("node:readline");
  "node:stream": typeof import("node:stream");
  "node:tls": typeof import("node:tls");
  "node:tty": typeof import("node:tty");
  "node:url": typeof import("node:url");
  "node:v8": typeof import("node:v8");
  "node:zlib": typeof import("node:zlib");
}

/** The part of Node's `process` that is used here; Deno has it too. */
interface NodeProcess {
  readonly argv: readonly string[];
  readonly platform: string;
  /** ID of the parent process; changes when the parent ends. */
  readonly ppid: number;
  readonly env: Record<string, string | undefined>;
  readonly versions: { readonly node?: string };
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stderr: { write(text: string): boolean };
  readonly getBuiltinModule?: (name: string) => unknown;
  on(event: string, listener: (message: unknown) => void): unknown;
  off(event: string, listener: (message: unknown) => void): unknown;
  exit(code: number): never;
  /** Sends a message to the parent process; defined if there is an IPC channel. */
  readonly send?: (message: unknown, handle: undefined, options: undefined, done: () => void) => unknown;
}

/** Returns Node's `process`; undefined on other runtimes, such as browsers. */
export function nodeProcess(): NodeProcess | undefined {
  const { process } = globalThis as { process?: NodeProcess };
  return process?.versions?.node === undefined ? undefined : process;
}

const loaded = new Map<string, unknown>();

/**
 * Returns a built-in module of Node.
 *
 * @throws {MeshError} `unsupported_runtime` if Node is missing or too old.
 */
export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] {
  let module = loaded.get(name);
  if (module === undefined) loaded.set(name, module = loadBuiltin(name)); // the lookup is slow on Deno
  return module as Builtins[Name];
}

function loadBuiltin(name: keyof Builtins): unknown {
  const process = nodeProcess();
  if (process?.getBuiltinModule === undefined) {
    const found = process === undefined ? "there is none" : `this is ${process.versions.node}`;
    throw new MeshError(`ModelMesh needs Node 20.16 or newer; ${found}`, { code: "unsupported_runtime" });
  }
  const module: unknown = process.getBuiltinModule(name);
  return name === "node:fs" && "Deno" in globalThis ? guardFiles(module as object) : module;
}
