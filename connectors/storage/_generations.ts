/**
 * Locks among processes that share a folder.
 * @module
 */
import type { Clock, Disk } from "../../src/contracts/runtime.ts";
import { isHeld, isHeldByOther, type LockRecord } from "./_lock.ts";

/** The latest file of a lock. */
interface Generation {
  readonly number: number;
  readonly record: unknown;
}

const free: LockRecord = { owner: "", expiresAt: 0 };

/**
 * One lock. Each time it goes to another owner there is a new file, numbered; the highest number says who has it. A
 * file can be made by one process only, and the highest one is never removed: so of several who find a lock free one
 * gets it, wherever the others were in between, and a process that was killed leaves nothing that could not be passed.
 */
export class GenerationLock {
  readonly #disk: Disk;
  readonly #clock: Clock;
  readonly #folder: string;
  readonly #prefix: string;

  /**
   * @param disk Where.
   * @param clock Wall clock, for the end of locks.
   * @param path What all its files' names begin with.
   */
  constructor(disk: Disk, clock: Clock, path: string) {
    this.#disk = disk;
    this.#clock = clock;
    this.#folder = path.slice(0, path.lastIndexOf("/") + 1);
    this.#prefix = `${path.slice(this.#folder.length)}.`;
  }

  /**
   * One try to take it.
   *
   * @param wanted Whose it is to be, and until when.
   * @returns Whether it is theirs.
   */
  async take(wanted: LockRecord): Promise<boolean> {
    const { number, record } = await this.#latest();
    if (isHeldByOther(record, wanted.owner, this.#clock.now())) return false;
    const isRenewed = isHeld(record, this.#clock.now());
    const own = isRenewed ? number : number + 1;
    if (isRenewed) await this.#disk.replace(this.#path(own), bytesOf(wanted));
    else if (!await this.#disk.create(this.#path(own), bytesOf(wanted))) return false;
    const [highest, ...others] = await this.#numbers();
    if (highest !== own) return false; // who was held up since they looked has made, or renewed, an old one
    await Promise.all(others.slice(1).map((old) => this.#disk.remove(this.#path(old))));
    return true;
  }

  /**
   * Gives it back, if it is still theirs.
   *
   * @param owner Whose it was.
   */
  async release(owner: string): Promise<void> {
    const { number, record } = await this.#latest();
    if (Object(record).owner === owner) await this.#disk.replace(this.#path(number), bytesOf(free));
  }

  /** Whether anybody has it. */
  async isHeld(): Promise<boolean> {
    return isHeld((await this.#latest()).record, this.#clock.now());
  }

  /** A number 0 without an owner, when there is none. An unreadable lock locks no owner out. */
  async #latest(): Promise<Generation> {
    for (;;) {
      const [number = 0] = await this.#numbers();
      const data = number === 0 ? new Uint8Array() : await this.#disk.read(this.#path(number));
      if (data !== undefined) return { number, record: recordOf(data) }; // else it is old by now, and removed
    }
  }

  /** The numbers there are, the highest first. */
  async #numbers(): Promise<number[]> {
    const names = await this.#disk.list(this.#folder === "" ? "." : this.#folder);
    const ends = names.flatMap((name) => name.startsWith(this.#prefix) ? [name.slice(this.#prefix.length)] : []);
    return ends.filter((end) => /^[1-9]\d{0,14}$/.test(end)).map(Number).sort((one, other) => other - one);
  }

  #path(number: number): string {
    return this.#folder + this.#prefix + number;
  }
}

function bytesOf(record: LockRecord): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(record));
}

function recordOf(data: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(data));
  } catch {
    return undefined;
  }
}
