/**
 * The lock of a record that several processes write.
 * @module
 */
import type { StorageSettings } from "../../config/settings/storage.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { Lock, Storage } from "../../contracts/storage.ts";
import { ConnectorError } from "../../errors.ts";

/** How long a lock lasts without a heartbeat, ms: an owner that was killed is noticed after that. */
const lockMs = 3_000;

/** Time between heartbeats, ms. */
const heartbeatMs = 1_000;

/** How often work is begun anew after its lock was lost. */
const maxLosses = 2;

/** What a {@linkcode RecordLock} is made of. */
interface RecordLockParts {
  readonly storage: Pick<Storage, "acquire" | "release">;
  /** Of the record. */
  readonly key: string;
  /** How long another owner is waited for. */
  readonly locking: Required<StorageSettings>["locking"];
  readonly clock: Clock;
}

/**
 * One process's side of the lock. While its work lasts the process renews the lock at every heartbeat: a lock that ends
 * has no living owner, in whichever container that ran.
 */
export class RecordLock {
  readonly #parts: RecordLockParts;
  readonly #owner = crypto.randomUUID();
  /** Whether another owner is waited for. */
  isPatient = true;

  constructor(parts: RecordLockParts) {
    this.#parts = parts;
  }

  /**
   * Works under the lock.
   *
   * @param work Is given whether the lock is still this process's, to be asked right before it writes; returns false
   *   when that was not so. It is begun anew then.
   * @throws {ConnectorError} `locked`, when another owner keeps the lock, or it was lost again and again.
   */
  async run(work: (isOurs: () => boolean) => Promise<boolean>): Promise<void> {
    for (let losses = 0; losses <= maxLosses; losses++) if (await this.#try(work)) return;
    const message = "Cannot save the state: the lock was lost meanwhile, since this process was held up";
    throw new ConnectorError(message, undefined, "locked");
  }

  async #try(work: (isOurs: () => boolean) => Promise<boolean>): Promise<boolean> {
    const { storage, clock, locking } = this.#parts;
    let lock = await this.#acquire(this.isPatient ? locking : { timeoutMs: 0 });
    let beat = Promise.resolve();
    const stop = clock.every(heartbeatMs, () =>
      beat = this.#acquire({ timeoutMs: 0 }).then((renewed) => {
        // after its end another owner may have had it in between
        if (clock.now() < lock.expiresAt) lock = renewed;
      }));
    try {
      return await work(() => clock.now() < lock.expiresAt);
    } finally {
      stop();
      await beat.catch(() => {}); // what could not be renewed ends
      await storage.release(lock);
    }
  }

  #acquire(options: Partial<RecordLockParts["locking"]>): Promise<Lock> {
    const { storage, key } = this.#parts;
    return storage.acquire(key, { owner: this.#owner, ttlMs: lockMs, ...options });
  }
}
