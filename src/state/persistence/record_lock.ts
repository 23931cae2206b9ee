/**
 * Lock of a record that several processes write.
 * @module
 */
import type { StorageSettings } from "../../config/settings/storage.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { Lock, Storage } from "../../contracts/storage.ts";
import { ConnectorError } from "../../errors.ts";

/** Lifetime of the lock without a heartbeat, ms. The lock of a killed process expires after this time. */
const lockMs = 3_000;

/** Heartbeat interval, ms. */
const heartbeatMs = 1_000;

/** Maximum number of retries after the lock was lost. */
const maxLosses = 2;

/** Dependencies of a {@linkcode RecordLock}. */
interface RecordLockParts {
  readonly storage: Pick<Storage, "acquire" | "release">;
  /** Key of the record. */
  readonly key: string;
  /** How long to wait for another owner. */
  readonly locking: Required<StorageSettings>["locking"];
  readonly clock: Clock;
}

/**
 * One process's lock of the record. The process renews the lock at every heartbeat while it works, so an expired lock
 * has no live owner, whichever container that ran in.
 */
export class RecordLock {
  readonly #parts: RecordLockParts;
  readonly #owner = crypto.randomUUID();
  /** Whether to wait while another process owns the lock. */
  waitsForOwner = true;

  constructor(parts: RecordLockParts) {
    this.#parts = parts;
  }

  /**
   * Runs a task while holding the lock.
   *
   * @param work The task. It calls its argument right before it writes, to check that the process still owns the lock,
   * and returns false if not; then the task is retried.
   * @throws {ConnectorError} `locked`, when another process owns the lock, or the lock was lost repeatedly.
   */
  async run(work: (isOurs: () => boolean) => Promise<boolean>): Promise<void> {
    for (let losses = 0; losses <= maxLosses; losses++) if (await this.#try(work)) return;
    const message = "Cannot save the state: the lock expired while this process was blocked";
    throw new ConnectorError(message, undefined, "locked");
  }

  async #try(work: (isOurs: () => boolean) => Promise<boolean>): Promise<boolean> {
    const { storage, clock, locking } = this.#parts;
    let lock = await this.#acquire(this.waitsForOwner ? locking : { timeoutMs: 0 });
    let heartbeat = Promise.resolve();
    const stop = clock.every(heartbeatMs, () =>
      heartbeat = this.#acquire({ timeoutMs: 0 }).then((renewed) => {
        // after its expiry another process may have owned it
        if (clock.now() < lock.expiresAt) lock = renewed;
      }));
    try {
      return await work(() => clock.now() < lock.expiresAt);
    } finally {
      stop();
      await heartbeat.catch(() => {}); // a lock that cannot be renewed expires
      await storage.release(lock);
    }
  }

  #acquire(options: Partial<RecordLockParts["locking"]>): Promise<Lock> {
    const { storage, key } = this.#parts;
    return storage.acquire(key, { owner: this.#owner, ttlMs: lockMs, ...options });
  }
}
