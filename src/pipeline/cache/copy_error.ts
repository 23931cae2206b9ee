/**
 * Errors that several requests have in common.
 * @module
 */
import { MeshError } from "../../errors.ts";

/** Returns an error that each of several requests may label with its own id; others than errors of the mesh as they are. */
export function copyError(error: unknown): unknown {
  if (!MeshError.isInstance(error)) return error;
  const copy: object = Object.create(Object.getPrototypeOf(error), Object.getOwnPropertyDescriptors(error));
  Object.defineProperty(copy, "stack", { value: error.stack, configurable: true, writable: true });
  return copy;
}
