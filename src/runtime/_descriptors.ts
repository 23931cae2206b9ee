/**
 * Distinguishes lack of file descriptors from names that do not resolve: without one, a resolver can read neither its
 * files nor ask a server, and reports that the name is unknown.
 * @module
 */
import { isResourceLack } from "../util/resource_lack.ts";

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
