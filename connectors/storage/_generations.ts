/**
 * Locks among processes that share a folder.
 * @module
 */
import type { Clock, Disk } from "../../src/contracts/runtime.ts";
import { isHeld, isHeldByOther, type LockRecord } from "./_lock.ts";

const free: LockRecord = { owner: "", expiresAt: 0 };

/**
 * A lock. Each acquisition by another owner creates a new numbered file; the highest number identifies the owner. Only
 * one process can create a given file, and the highest one is never removed. So only one of several contenders acquires
 * a free lock, whatever their timing, and a killed process leaves no file that blocks others.
 */
export class GenerationLock {
  readonly #disk: Disk;
  readonly #clock: Clock;
  readonly #folder: string;
  readonly #prefix: string;

  /**
   * @param disk File access.
   * @param clock Wall clock, for the expiry of locks.
   * @param path Prefix of the file names.
   */
  constructor(disk: Disk, clock: Clock, path: string) {
    this.#disk = disk;
    this.#clock = clock;
    this.#folder = path.slice(0, path.lastIndexOf("/") + 1);
    this.#prefix = `${path.slice(this.#folder.length)}.`;
  }

  /**
   * Makes one attempt to take the lock.
   *
   * @param wanted Owner and expiry time.
   * @returns Whether the owner has the lock.
   */
  async take(wanted: LockRecord): Promise<boolean> {
    const { number, record } = await this.#latest();
    if (isHeldByOther(record, wanted.owner, this.#clock.now())) return false;
    const isRenewed = isHeld(record, this.#clock.now());
    const own = isRenewed ? number : number + 1;
    if (isRenewed) await this.#disk.replace(this.#path(own), encodeLock(wanted));
    else if (!await this.#disk.create(this.#path(own), encodeLock(wanted))) return false;
    const [highest, ...others] = await this.#numbers();
    if (highest !== own) return false; // a process suspended after listing may have created or renewed an old generation
    await Promise.all(others.slice(1).map((old) => this.#disk.remove(this.#path(old))));
    return true;
  }

  /**
   * Releases the lock, if the owner still has it.
   *
   * @param owner The owner's id.
   */
  async release(owner: string): Promise<void> {
    const { number, record } = await this.#latest();
    if (Object(record).owner === owner) await this.#disk.replace(this.#path(number), encodeLock(free));
  }

  /** Whether any owner has the lock. */
  async isHeld(): Promise<boolean> {
    return isHeld((await this.#latest()).record, this.#clock.now());
  }

  /** Number 0 without an owner if there is no file. A lock that cannot be parsed does not block. */
  async #latest(): Promise<{ readonly number: number; readonly record: unknown }> {
    for (;;) {
      const [number = 0] = await this.#numbers();
      const data = number === 0 ? new Uint8Array() : await this.#disk.read(this.#path(number));
      if (data !== undefined) return { number, record: decodeRecord(data) }; // otherwise it is outdated and was removed
    }
  }

  /** The existing generations, latest first. */
  async #numbers(): Promise<number[]> {
    const names = await this.#disk.list(this.#folder === "" ? "." : this.#folder);
    const ends = names.flatMap((name) => name.startsWith(this.#prefix) ? [name.slice(this.#prefix.length)] : []);
    return ends.filter((end) => /^[1-9]\d{0,14}$/.test(end)).map(Number).sort((first, second) => second - first);
  }

  #path(number: number): string {
    return this.#folder + this.#prefix + number;
  }
}

function encodeLock(record: LockRecord): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(record));
}

function decodeRecord(data: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(data));
  } catch {
    return undefined;
  }
}
