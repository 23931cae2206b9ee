/**
 * Requests that may be served at once, by one process or by several that share the limit.
 * @module
 */
import type { Shared } from "../contracts/storage.ts";

/** What several processes share. */
interface SharedSlots {
  readonly shared: Shared;
  /** How many processes there are. */
  readonly processes: number;
}

const sum = { key: "requests at once", expiresAt: Number.MAX_SAFE_INTEGER };

/**
 * Slots taken by requests. Processes that share a limit lease slots of it. Each keeps a few for its next requests, 1 % of
 * the limit in all, so that most of them wait for no other process; below 100 none, and the limit is met to the request.
 */
export class Slots {
  readonly #several: SharedSlots | undefined;
  #taken = 0;
  /** Leased, and free. */
  #free = 0;
  /** To be given back with the next message. */
  #returned = 0;

  /** @param several Undefined in a process that is alone. */
  constructor(several?: SharedSlots) {
    this.#several = several;
  }

  /** Whether this process's requests alone take all slots. */
  isFull(limit: number): boolean {
    return this.#taken >= limit;
  }

  /**
   * Takes a slot.
   *
   * @returns Whether there was one; a promise where other processes have a say.
   */
  take(limit: number): boolean | Promise<boolean> {
    if (this.#taken >= limit) return false;
    if (this.#several !== undefined && this.#free === 0) return this.#lease(this.#several, limit);
    if (this.#several !== undefined) this.#free--;
    this.#taken++;
    return true;
  }

  /** Gives a slot back. */
  give(limit: number): void {
    this.#taken--;
    if (this.#several === undefined) return;
    if (this.#free < marginOf(this.#several, limit)) this.#free++;
    else this.#return(this.#several.shared);
  }

  async #lease({ shared, processes }: SharedSlots, limit: number): Promise<boolean> {
    const margin = marginOf({ processes }, limit);
    for (const amount of margin === 0 ? [1] : [1 + margin, 1]) {
      const { isGranted } = await shared.reserve([{ ...sum, amount, limit, isLeased: true }]);
      if (!isGranted) continue;
      this.#taken++;
      this.#free += amount - 1;
      return true;
    }
    return false;
  }

  /** One message for all that are given back in this turn. */
  #return(shared: Shared): void {
    if (this.#returned++ > 0) return;
    queueMicrotask(() => {
      const by = -this.#returned;
      this.#returned = 0;
      shared.add([{ ...sum, by, leased: by }]).catch(() => {}); // the owner has ended: this process ends, too
    });
  }
}

/** Slots that each process keeps. */
function marginOf({ processes }: Pick<SharedSlots, "processes">, limit: number): number {
  return Math.floor(limit / 100 / processes);
}
