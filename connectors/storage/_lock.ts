/**
 * Shared parts of all locks: ownership, and waiting.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import type { Lock, LockOptions } from "../../src/contracts/storage.ts";
import { ConnectorError } from "../../src/errors.ts";

/** The stored state of a lock. */
export type LockRecord = Pick<Lock, "owner" | "expiresAt">;

/**
 * Whether a lock has an owner.
 *
 * @param lock The stored state; one that cannot be parsed does not block.
 * @param now Wall-clock time, ms since the Unix epoch.
 */
export function isHeld(lock: unknown, now: number): lock is LockRecord {
  const { owner, expiresAt } = Object(lock);
  return typeof owner === "string" && Number.isFinite(expiresAt) && expiresAt > now;
}

/**
 * Whether a lock has another owner.
 *
 * @param lock The stored state.
 * @param owner The owner's id.
 * @param now Wall-clock time, ms since the Unix epoch.
 */
export function isHeldByOther(lock: unknown, owner: string, now: number): boolean {
  return isHeld(lock, now) && lock.owner !== owner;
}

/**
 * Retries until the lock is acquired.
 *
 * @param wait Owner, key and timeout.
 * @param tryLock Makes one attempt: writes the record unless another owner has the lock, and returns whether it was
 * written.
 * @throws {ConnectorError} `locked` on timeout; the signal's reason when it aborts.
 */
export async function acquireLock(
  { connector, clock, key, options }: {
    readonly connector: string;
    readonly clock: Clock;
    readonly key: string;
    readonly options: LockOptions;
  },
  tryLock: (wanted: LockRecord) => Promise<boolean>,
): Promise<Lock> {
  const { owner, ttlMs, timeoutMs = 30_000, retryIntervalMs = 1000, signal } = options;
  const end = clock.monotonic() + timeoutMs;
  for (;;) {
    signal?.throwIfAborted();
    const wanted = { owner, expiresAt: clock.now() + ttlMs };
    if (await tryLock(wanted)) return { key, ...wanted };
    const leftMs = end - clock.monotonic();
    if (leftMs <= 0) throw lockedError({ connector, key, timeoutMs });
    await clock.sleep(Math.min(retryIntervalMs, leftMs), signal);
  }
}

function lockedError({ connector, key, timeoutMs }: { connector: string; key: string; timeoutMs: number }) {
  return new ConnectorError(
    `The storage "${connector}" cannot lock "${key}": another owner has held it for ${timeoutMs} ms. ` +
      "Try again later, or wait longer (timeoutMs)",
    undefined,
    "locked",
  );
}
