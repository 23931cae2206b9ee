/**
 * What all locks have in common: who may take one, and waiting for it.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import type { Lock, LockOptions } from "../../src/contracts/storage.ts";
import { ConnectorError } from "../../src/errors.ts";

/** What a storage keeps of a lock. */
export type LockRecord = Pick<Lock, "owner" | "expiresAt">;

/**
 * Whether a lock has an owner.
 *
 * @param lock What is kept of it; an unreadable one locks no owner out.
 * @param now Wall clock, ms.
 */
export function isHeld(lock: unknown, now: number): lock is LockRecord {
  const { owner, expiresAt } = Object(lock);
  return typeof owner === "string" && Number.isFinite(expiresAt) && expiresAt > now;
}

/**
 * Whether a lock keeps an owner out.
 *
 * @param lock What is kept of it.
 * @param owner Who asks.
 * @param now Wall clock, ms.
 */
export function isHeldByOther(lock: unknown, owner: string, now: number): boolean {
  return isHeld(lock, now) && lock.owner !== owner;
}

/**
 * One try to take a lock: writes the record and returns whether it is in place, unless another owner holds the lock.
 */
type TryLock = (wanted: LockRecord) => Promise<boolean>;

/** What a wait for a lock needs. */
interface LockWait {
  readonly connector: string;
  readonly clock: Clock;
  readonly key: string;
  readonly options: LockOptions;
}

/**
 * Tries until the lock is taken.
 *
 * @param wait Whose, and how long.
 * @param tryLock One try.
 * @throws {ConnectorError} `locked`, when time is up; the signal's reason when it aborts.
 */
export async function acquireLock({ connector, clock, key, options }: LockWait, tryLock: TryLock): Promise<Lock> {
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
