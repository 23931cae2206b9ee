/**
 * Permissions that a runtime has denied: Deno's, and those of Node's permission model.
 * @module
 */

import type { Environment } from "../contracts/runtime.ts";

/** What a runtime has denied. */
export interface Denial {
  /** Its name in the option that permits it, such as `read` or, on Node, `fs-read`. */
  readonly access: string;
  /** Path, host, variable or program; undefined if the runtime does not name it. */
  readonly resource?: string | undefined;
}

/** Deno's message, which is also that of a failed import. */
const denoPattern = /^Requires ([a-z]{2,10}) access(?: to (.{1,4000}))?, run again with the --allow-/s;

/** Node's names, by those of its errors. */
const nodeNames: Readonly<Record<string, string>> = {
  FileSystemRead: "fs-read",
  FileSystemWrite: "fs-write",
  ChildProcess: "child-process",
  WorkerThreads: "worker",
  WASI: "wasi",
  Addon: "addons",
  Net: "net",
};

/** Permissions whose option takes no value. */
const unvalued: ReadonlySet<string> = new Set(["child-process", "worker", "wasi", "addons"]);

/**
 * Returns what the runtime has denied.
 *
 * @param error Any error.
 * @returns Undefined if it is of another kind.
 */
export function findDenial(error: unknown): Denial | undefined {
  const { code, message, permission, resource, syscall } = Object(error) as Readonly<Record<string, unknown>>;
  if (code === "ERR_ACCESS_DENIED") {
    const access = nodeNames[String(permission)] ?? String(permission).toLowerCase();
    return { access, resource: typeof resource === "string" && resource !== "" ? resource : undefined };
  }
  if (code === "EPERM" && syscall === "getaddrinfo") { // Node's modules on Deno, for a name
    return { access: "net", resource: String(message).split(" ").at(-1) };
  }
  const [, access, quoted] = denoPattern.exec(typeof message === "string" ? message : "") ?? [];
  if (access === undefined) return undefined;
  return { access, resource: /^"(.*)"$/s.exec(quoted ?? "")?.[1] };
}

/** Returns the option with which the runtime permits it, such as `--allow-read=mesh.yaml`, quoted for a shell. */
export function toOption({ access, resource }: Denial): string {
  const option = `--allow-${access}`;
  if (resource === undefined || unvalued.has(access)) return option;
  const text = `${option}=${resource}`;
  return /^[\w./:@%+=,\\[\]-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Describes that an environment variable may not be read.
 *
 * @returns Undefined if it may be read.
 */
export function describeDeniedVariable(name: string, { isDenied }: Environment): string | undefined {
  if (isDenied?.(name) !== true) return undefined;
  return `this process is not permitted to read the environment variable ${name}: add --allow-env=${name}`;
}

/** Returns warnings about environment variables that are ignored since they may not be read. */
export function listIgnoredVariables(names: readonly string[], { isDenied }: Environment): readonly string[] {
  return names.filter((name) => isDenied?.(name)).map((name) =>
    `${name} is ignored, since this process is not permitted to read it: if it is set, add --allow-env=${name}`
  );
}

/** The folder of a file, which an option permits with all files in it, such as temporary ones. */
export function toFolder(path: string): string {
  return /^(.*[^\\/])[\\/][^\\/]*$/s.exec(path)?.[1] ?? (/^[\\/]/.test(path) ? "/" : ".");
}

/**
 * Describes a denial as the reason of a failure, with its remedy.
 *
 * @param error Any error.
 * @param used What the operation has used, in place of what the error names, such as a temporary file next to it.
 * @returns Such as `this process is not permitted to: add --allow-read=mesh.yaml`; undefined for other errors.
 */
export function describeDenial(error: unknown, { path, host }: {
  readonly path?: string | undefined;
  /** Host and port. */
  readonly host?: string | undefined;
} = {}): string | undefined {
  const denial = findDenial(error);
  if (denial === undefined) return undefined;
  const used = /(?:read|write)$/.test(denial.access) ? path : denial.access === "net" ? host : undefined;
  const option = toOption({ access: denial.access, resource: used ?? denial.resource });
  return `this process is not permitted to: add ${option}`;
}

/** The same for a folder whose files are read and written: a process that may not read it needs both permissions. */
export function describeFolderDenial(error: unknown, path: string): string | undefined {
  const denial = findDenial(error);
  const described = describeDenial(error, { path });
  if (denial === undefined || !denial.access.endsWith("read")) return described;
  return `${described} ${toOption({ access: denial.access.replace("read", "write"), resource: path })}`;
}
