/**
 * Permissions of Deno. They are queried before their use, since Deno asks on a terminal for those that it lacks, and a
 * server cannot wait for that.
 * @module
 */
import type { Environment } from "../contracts/runtime.ts";

/** Whether a permission is granted. */
function isGranted(descriptor: Deno.PermissionDescriptor): boolean {
  return Deno.permissions.querySync(descriptor).state === "granted";
}

/**
 * Requires a permission.
 *
 * @throws {Deno.errors.NotCapable} If it is not granted; with Deno's message.
 */
export function requirePermission(descriptor: Deno.ReadPermissionDescriptor | Deno.WritePermissionDescriptor): void;
export function requirePermission(
  descriptor: Deno.EnvPermissionDescriptor | Deno.NetPermissionDescriptor | Deno.RunPermissionDescriptor,
): void;
export function requirePermission(descriptor: Deno.PermissionDescriptor): void {
  if (isGranted(descriptor)) return;
  const { name, path, host, command } = { path: undefined, host: undefined, command: undefined, ...descriptor };
  const resource = path ?? host ?? command;
  const to = resource === undefined ? "" : ` to ${JSON.stringify(String(resource))}`;
  throw new Deno.errors.NotCapable(`Requires ${name} access${to}, run again with the --allow-${name} flag`);
}

/**
 * Requires the permission to use an address.
 *
 * @param host A host name or an IP address, without brackets.
 * @throws {Deno.errors.NotCapable} If it is not granted.
 */
export function requireNet(host: string, port: number | string): void {
  requirePermission({ name: "net", host: `${host.includes(":") ? `[${host}]` : host}:${port}` });
}

/** Accesses to the first path of a call of `node:fs`; the second path of the last two is written. */
const accesses: Readonly<Record<string, readonly ("read" | "write")[]>> = {
  ...Object.fromEntries(
    ["lstat", "readdir", "readFile", "readFileSync", "realpath", "stat"].map((name) => [name, ["read"]]),
  ),
  ...Object.fromEntries(["chmod", "mkdir", "mkdtempSync", "utimes", "writeFile"].map((name) => [name, ["write"]])),
  rm: ["read", "write"],
  rename: ["read", "write"],
  link: ["read", "write"],
};

/**
 * Requires the permissions for a call of `node:fs`.
 *
 * @param args Its arguments.
 * @throws {Deno.errors.NotCapable} If one is not granted.
 */
function requireFiles(name: string, args: readonly unknown[]): void {
  const [path, second] = args as readonly string[];
  const isOpen = name === "open" || name === "openSync";
  const names = isOpen ? [second === "r" ? "read" as const : "write" as const] : accesses[name] ?? [];
  for (const name of names) requirePermission({ name, path: path! });
  if (name === "rename" || name === "link") requirePermission({ name: "write", path: second! });
}

/**
 * Returns the functions of `node:fs`, which require their permissions first.
 *
 * @param returnPromises Whether they reject, rather than throw.
 */
export function guardFiles<Calls extends object>(calls: Calls, returnPromises = false): Calls {
  return new Proxy(calls, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name === "promises") return guardFiles(member as object, true);
      if (typeof name !== "string" || typeof member !== "function" || /^[A-Z]/.test(name)) return member;
      const call = (...args: unknown[]): unknown => {
        requireFiles(name, args);
        const isMade = returnPromises && name === "mkdir"; // that of `node:fs` (2.9.6) also reads the folders above
        return isMade ? Deno.mkdir(...args as Parameters<typeof Deno.mkdir>) : Reflect.apply(member, target, args);
      };
      return returnPromises ? async (...args: unknown[]) => await call(...args) : call;
    },
  });
}

/** The environment; a variable that may not be read is undefined, like one with an invalid name. */
export const env: Environment = Object.assign(readVariable, { isDenied });

function readVariable(name: string): string | undefined {
  try {
    return isDenied(name) ? undefined : Deno.env.get(name);
  } catch {
    return undefined;
  }
}

let isAllGranted: boolean | undefined;

/** Whether a variable may not be read. */
function isDenied(variable: string): boolean {
  isAllGranted ??= isGranted({ name: "env" });
  return !isAllGranted && !isGranted({ name: "env", variable });
}
