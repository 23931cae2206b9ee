/**
 * A lock file: one process at a time changes a file.
 * @module
 */
import type { Clock, Disk, FileSystem } from "../../src/contracts/runtime.ts";
import { ConnectorError } from "../../src/errors.ts";
import { acquireLock, isHeld, isHeldByOther, type LockRecord } from "../storage/_lock.ts";
import { SecretFileError } from "./_secret_file_error.ts";

/**
 * Lifetime of a lock, ms. A change takes a second at most: an older lock belongs to a process that was killed or
 * suspended.
 */
const ttlMs = 10_000;
/** Interval between attempts, ms. */
const retryIntervalMs = 25;
/** Timeout of the wait for a lock, ms. */
const timeoutMs = 30_000;

/** Dependencies of a lock. */
interface LockParts {
  readonly files: FileSystem;
  readonly disk: Disk | undefined;
  readonly clock: Clock;
}

/**
 * Runs a task while no other process changes the same file. The lock is a file next to it, which contains owner and
 * expiry time.
 *
 * @param path The file to change.
 * @param parts Files and clock.
 * @param task The change. Its argument checks that the lock is still owned; to be called right before writing.
 * @throws {SecretFileError} If other processes keep changing it.
 */
export async function withFileLock<Result>(
  path: string,
  parts: LockParts,
  task: (isOurs: () => Promise<boolean>) => Promise<Result>,
): Promise<Result> {
  const lock = new LockFile(`${path}.lock`, parts);
  const owner = crypto.randomUUID();
  const options = { owner, ttlMs, timeoutMs, retryIntervalMs };
  try {
    await acquireLock({ connector: "secrets", clock: parts.clock, key: path, options }, (wanted) => lock.take(wanted));
  } catch (error) {
    if (!ConnectorError.isInstance(error)) throw error;
    throw new SecretFileError(`another process is changing it; if there is none, remove "${path}.lock"`);
  }
  try {
    return await task(() => lock.isHeldBy(owner));
  } finally {
    await lock.release(owner);
  }
}

/**
 * A file that only one process can create. It is removed afterwards, unlike those of `GenerationLock`: that lock leaves
 * its latest file and lists its folder, which suits a storage's own folder but not the operator's.
 */
class LockFile {
  readonly #path: string;
  readonly #parts: LockParts;

  constructor(path: string, parts: LockParts) {
    this.#path = path;
    this.#parts = parts;
  }

  /** Makes one attempt to take the lock. */
  async take(wanted: LockRecord): Promise<boolean> {
    const { files, clock } = this.#parts;
    try {
      await files.writeText(this.#path, JSON.stringify(wanted), { createNew: true });
      return true;
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EEXIST") throw error;
    }
    const record = await this.#read();
    // a file that cannot be parsed is being written
    if (typeof record?.expiresAt === "number" && !isHeld(record, clock.now())) await this.#clear(wanted.owner);
    return false;
  }

  /** Whether an owner has the lock; a suspended process may have lost it. */
  async isHeldBy(owner: string): Promise<boolean> {
    const record = await this.#read();
    return record?.owner === owner && isHeld(record, this.#parts.clock.now());
  }

  /** Removes the lock, if the owner still has it. */
  async release(owner: string): Promise<void> {
    if ((await this.#read())?.owner === owner) await this.#parts.files.remove(this.#path);
  }

  /**
   * Removes an expired lock. Several processes may detect that at once: the file is first renamed, which succeeds for
   * one of them. If the renamed file is the lock of a faster new owner, it is moved back.
   */
  async #clear(owner: string): Promise<void> {
    const { files, disk, clock } = this.#parts;
    const moved = `${this.#path}~${owner}`;
    if (!await disk?.rename(this.#path, moved)) return;
    const record = await this.#read(moved);
    if (isHeldByOther(record, owner, clock.now())) {
      await files.writeText(this.#path, JSON.stringify(record), { createNew: true }).catch(() => {}); // lost: isHeldBy() detects it
    }
    await files.remove(moved);
  }

  async #read(path: string = this.#path): Promise<LockRecord | undefined> {
    try {
      return Object(JSON.parse(await this.#parts.files.readText(path)));
    } catch {
      return undefined; // it was removed, or is being written
    }
  }
}
