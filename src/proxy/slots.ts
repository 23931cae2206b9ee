/**
 * Limits concurrent requests in one process, or in several that share the limit.
 * @module
 */
import type { Shared } from "../contracts/storage.ts";

/** The limit shared by several processes. */
interface SharedSlots {
  readonly shared: Shared;
  /** Number of processes. */
  readonly processes: number;
}

const sum = { key: "requests at once", expiresAt: Number.MAX_SAFE_INTEGER };

/**
 * Slots of requests. Processes that share a limit lease slots of it. Each keeps a few for its next requests, 1 % of the
 * limit in total, so that most requests do not wait for another process. Below 100 it keeps none, and the limit is
 * exact.
 */
export class Slots {
  readonly #several: SharedSlots | undefined;
  #taken = 0;
  /** Leased and free slots. */
  #free = 0;
  /** To be released with the next message. */
  #returned = 0;

  /** @param several Undefined for a single process. */
  constructor(several?: SharedSlots) {
    this.#several = several;
  }

  /** Whether the requests of this process alone take all slots. */
  isFull(limit: number): boolean {
    return this.#taken >= limit;
  }

  /**
   * Takes a slot.
   *
   * @returns Whether there was one; a promise if the limit is shared.
   */
  take(limit: number): boolean | Promise<boolean> {
    if (this.#taken >= limit) return false;
    if (this.#several !== undefined && this.#free === 0) return this.#lease(this.#several, limit);
    if (this.#several !== undefined) this.#free--;
    this.#taken++;
    return true;
  }

  /** Releases a slot. */
  give(limit: number): void {
    this.#taken--;
    if (this.#several === undefined) return;
    if (this.#free < computeMargin(this.#several, limit)) this.#free++;
    else this.#return(this.#several.shared);
  }

  async #lease({ shared, processes }: SharedSlots, limit: number): Promise<boolean> {
    const margin = computeMargin({ processes }, limit);
    for (const amount of margin === 0 ? [1] : [1 + margin, 1]) {
      const { isGranted } = await shared.reserve([{ ...sum, amount, limit, isLeased: true }]);
      if (!isGranted) continue;
      this.#taken++;
      this.#free += amount - 1;
      return true;
    }
    return false;
  }

  /** Sends one message for all slots released in this turn. */
  #return(shared: Shared): void {
    if (this.#returned++ > 0) return;
    queueMicrotask(() => {
      const by = -this.#returned;
      this.#returned = 0;
      shared.add([{ ...sum, by, leased: by }]).catch(() => {}); // the owner has ended: this process ends, too
    });
  }
}

/** Number of slots that each process keeps. */
function computeMargin({ processes }: Pick<SharedSlots, "processes">, limit: number): number {
  return Math.floor(limit / 100 / processes);
}
