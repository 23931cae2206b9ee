/**
 * The lease of a process that does work in the background: while it is renewed, the process is taken to be alive. Nothing
 * takes the work over, so that a record suffices.
 * @module
 */
import type { Cancel, Clock } from "../../contracts/runtime.ts";
import type { Storage } from "../../contracts/storage.ts";
import { isObject } from "../../util/is_object.ts";

/** Prefix of the records of leases. */
const prefix = "response_runners/";

/** Duration of a lease, ms. */
const leaseMs = 10_000;

/** Interval at which it is renewed, ms. */
const renewalMs = 2_000;

/** How long after its end a lease is deleted by others, ms. */
const abandonedMs = 3_600_000;

/** The lease of this process, and the state of those of others. */
export class RunnerLease {
  /** The id of this process. */
  readonly id: string = crypto.randomUUID();
  readonly #storage: Storage;
  readonly #clock: Clock;
  #count = 0;
  #cancel: Cancel = () => {};

  constructor(storage: Storage, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /**
   * Begins work under the lease.
   *
   * @throws {ConnectorError} If the storage fails.
   */
  async begin(): Promise<void> {
    await this.#renew();
    if (this.#count++ > 0) return;
    this.#cancel = this.#clock.every(renewalMs, () => this.#renew());
    await this.#deleteAbandoned().catch(() => {}); // the next time
  }

  /** Ends work. The last one ends the lease. */
  async end(): Promise<void> {
    if (--this.#count > 0) return;
    this.#cancel();
    await this.#storage.delete(prefix + this.id).catch(() => {}); // it expires
  }

  /** Whether a process has a lease. */
  async isAlive(id: string): Promise<boolean> {
    return await this.#readEnd(prefix + id) > this.#clock.now();
  }

  async #renew(): Promise<void> {
    const record = JSON.stringify({ expiresAt: this.#clock.now() + leaseMs });
    await this.#storage.save(prefix + this.id, new TextEncoder().encode(record));
  }

  async #deleteAbandoned(): Promise<void> {
    for (const key of await this.#storage.list(prefix)) {
      if (await this.#readEnd(key) < this.#clock.now() - abandonedMs) await this.#storage.delete(key);
    }
  }

  /** When a lease ends, ms since 1970; -Infinity if there is none. */
  async #readEnd(key: string): Promise<number> {
    const bytes = await this.#storage.load(key);
    try {
      const value: unknown = bytes === undefined ? undefined : JSON.parse(new TextDecoder().decode(bytes));
      return isObject(value) && typeof value.expiresAt === "number" ? value.expiresAt : -Infinity;
    } catch {
      return -Infinity; // unreadable
    }
  }
}
