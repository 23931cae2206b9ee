/**
 * One process at a time changes a file.
 * @module
 */
import type { Clock, Disk, FileSystem } from "../../src/contracts/runtime.ts";
import { ConnectorError } from "../../src/errors.ts";
import { acquireLock, isHeld, isHeldByOther, type LockRecord } from "../storage/_lock.ts";
import { SecretFileError } from "./_secret_file_error.ts";

/** A change takes a second at the most: a process that has the lock for longer was killed, or held up, ms. */
const ttlMs = 10_000;
/** Who waits looks again after this time, ms. */
const retryIntervalMs = 25;
/** Longest wait, ms. */
const timeoutMs = 30_000;

/** Where the lock is. */
interface LockParts {
  readonly files: FileSystem;
  readonly disk: Disk | undefined;
  readonly clock: Clock;
}

/**
 * Does something while no other process does it to the same file. The lock is a file beside it, which says whose it is
 * and until when.
 *
 * @param path The file that is changed.
 * @param parts Files, and a clock.
 * @param task What is done; it is given what says whether the lock is still ours, to be asked right before it writes.
 * @throws {SecretFileError} When others go on changing it.
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
    return await task(() => lock.isOf(owner));
  } finally {
    await lock.release(owner);
  }
}

/**
 * A file that one process can make. Nothing stays of it: `GenerationLock`, which storages use in folders of their own,
 * leaves its latest file, and needs to list the folder, which is the operator's here.
 */
class LockFile {
  readonly #path: string;
  readonly #parts: LockParts;

  constructor(path: string, parts: LockParts) {
    this.#path = path;
    this.#parts = parts;
  }

  /** One try to take it. */
  async take(wanted: LockRecord): Promise<boolean> {
    const { files, clock } = this.#parts;
    try {
      await files.writeText(this.#path, JSON.stringify(wanted), { createNew: true });
      return true;
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EEXIST") throw error;
    }
    const record = await this.#read();
    // one that cannot be read is being written
    if (typeof record?.expiresAt === "number" && !isHeld(record, clock.now())) await this.#clear(wanted.owner);
    return false;
  }

  /** Whether it is an owner's: a process that was held up may have lost it. */
  async isOf(owner: string): Promise<boolean> {
    const record = await this.#read();
    return record?.owner === owner && isHeld(record, this.#parts.clock.now());
  }

  /** Removes it, if it is still theirs. */
  async release(owner: string): Promise<void> {
    if ((await this.#read())?.owner === owner) await this.#parts.files.remove(this.#path);
  }

  /**
   * Removes one whose time is over. Several may have found that: it is moved away first, which one of them can do. What
   * was moved is another one where the next owner was quicker: then it goes back.
   */
  async #clear(owner: string): Promise<void> {
    const { files, disk, clock } = this.#parts;
    const moved = `${this.#path}~${owner}`;
    if (!await disk?.rename(this.#path, moved)) return;
    const record = await this.#read(moved);
    if (isHeldByOther(record, owner, clock.now())) {
      await files.writeText(this.#path, JSON.stringify(record), { createNew: true }).catch(() => {}); // lost: isOf() says so
    }
    await files.remove(moved);
  }

  async #read(path: string = this.#path): Promise<LockRecord | undefined> {
    try {
      return Object(JSON.parse(await this.#parts.files.readText(path)));
    } catch {
      return undefined; // it is gone by now, or being written
    }
  }
}
