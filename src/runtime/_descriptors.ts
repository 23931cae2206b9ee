/**
 * Distinguishes lack of file descriptors from names that do not resolve: without one, a resolver can read neither its
 * files nor ask a server, and reports that the name is unknown.
 * Limits connections to what the process may open.
 * @module
 */
import { isResourceLack } from "../util/resource_lack.ts";
import { builtin } from "./_node_builtin.ts";

/** Time for which names are not blamed after a lack, ms: requests that end meanwhile release descriptors. */
const lackMs = 1_000;

/** Knows whether the process lacks file descriptors. */
export class Descriptors {
  readonly #open: () => void;
  #lackedAt = -Infinity;

  /** @param open Opens and closes a file; throws if it cannot. */
  constructor(open: () => void) {
    this.#open = open;
  }

  /** Reports an error for lack of resources. */
  lacked(): void {
    this.#lackedAt = performance.now();
  }

  /** Whether a name may not have been resolved for lack of descriptors. */
  get areLacking(): boolean {
    if (performance.now() - this.#lackedAt < lackMs) return true;
    try {
      this.#open();
      return false;
    } catch (error) {
      if (!isResourceLack(error)) return false; // no permission
      this.lacked();
      return true;
    }
  }
}

/** Descriptors for files, standard streams, and the runtime. */
const ownDescriptors = 40;

/**
 * Returns how many clients may be connected under a limit of descriptors: each may need a connection to a provider as
 * well. On Deno (2.9.6), a server over `node:http` that cannot accept a connection accepts none from then on.
 */
export function connectionsWithin(descriptors: number): number {
  return Math.max(1, Math.floor((descriptors - ownDescriptors) / 2));
}

/** Returns the limit of descriptors of this process; infinite where it is not known. */
export function readDescriptorLimit(): number {
  try {
    return parseDescriptorLimit(builtin("node:fs").readFileSync("/proc/self/limits", "utf8"));
  } catch {
    return Infinity; // another system, or no permission
  }
}

/**
 * Returns the limit of descriptors of a Linux process; infinite if it is unlimited.
 *
 * @param limits The text of `/proc/self/limits`.
 */
export function parseDescriptorLimit(limits: string): number {
  const [, soft] = /^Max open files {1,40}(\d{1,15})/m.exec(limits) ?? [];
  return soft === undefined ? Infinity : Number(soft);
}
