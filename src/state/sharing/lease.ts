/**
 * The leases of this process in the shared store.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { Shared } from "../../contracts/storage.ts";
import type { LeaseState } from "../counters/shared_counters.ts";

/** A pair of times, ms. A suspended machine may stop one of the clocks. */
interface LeaseTimes {
  readonly wallTimeMs: number;
  readonly monotonicMs: number;
}

/**
 * The lease of one process, as the process itself knows it. The store ends a lease that is not renewed; what other
 * processes reserve afterwards may be what this process had reserved.
 */
export class Lease implements LeaseState {
  readonly #clock: Pick<Clock, "now" | "monotonic">;
  readonly #shared: Pick<Shared, "leaseMs" | "lostLeases">;
  /** When the last successful call was sent. */
  #renewedAt: LeaseTimes;

  constructor(shared: Pick<Shared, "leaseMs" | "lostLeases">, clock: Pick<Clock, "now" | "monotonic">) {
    this.#shared = shared;
    this.#clock = clock;
    this.#renewedAt = this.#time();
  }

  get number(): number {
    return this.#shared.lostLeases ?? 0;
  }

  get isCertain(): boolean {
    const { leaseMs = Infinity } = this.#shared;
    const { wallTimeMs, monotonicMs } = this.#time();
    const before = this.#renewedAt;
    return wallTimeMs - before.wallTimeMs < leaseMs && monotonicMs - before.monotonicMs < leaseMs;
  }

  /** Performs a call to the store, which renews the lease. */
  async renew<T>(call: () => Promise<T>): Promise<T> {
    const sentAt = this.#time();
    const result = await call();
    this.#renewedAt = sentAt;
    return result;
  }

  #time(): LeaseTimes {
    return { wallTimeMs: this.#clock.now(), monotonicMs: this.#clock.monotonic() };
  }
}
