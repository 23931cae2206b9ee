/**
 * Lack of this machine's resources: file descriptors, buffers or memory. It is not the fault of a provider.
 * @module
 */
import { MeshError } from "../errors.ts";

/** Codes of the system's errors: of the process, of the machine, of sockets, of memory. */
const codes: ReadonlySet<unknown> = new Set(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"]);

/** The same in messages of runtimes that provide no code. */
const texts =
  /\b(EMFILE|ENFILE|ENOBUFS|ENOMEM)\b|Too many open files|No buffer space available|Cannot allocate memory/i;

/** Whether an error of a runtime reports that this machine lacks resources. */
export function isResourceLack(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, message, cause } = error as Error & { readonly code?: unknown };
  return codes.has(code) || texts.test(message) || isResourceLack(cause);
}

/** The error of a request that cannot be sent for lack of resources. */
export function createOverload(): MeshError {
  const message = "This machine has no file descriptors or memory left for a connection to a provider";
  return new MeshError(message, { code: "overloaded" });
}

/** Whether an error is that of {@linkcode createOverload}, and not one of a provider with the same code. */
export function isOverload(error: unknown): boolean {
  return MeshError.isInstance(error) && error.name === MeshError.kind && error.code === "overloaded";
}
