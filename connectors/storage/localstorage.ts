/**
 * Records in the browser's `localStorage`: they outlive the page and the browser.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import type { Lock, LockOptions, Storage, StorageStat } from "../../src/contracts/storage.ts";
import { ConnectorError } from "../../src/errors.ts";
import { acquireLock, isHeld, isHeldByOther, type LockRecord } from "./_lock.ts";
import { checkedPrefix, WebArea, type WebStorage } from "./_web_storage.ts";
import { fromBase64, toBase64 } from "../../src/util/base64.ts";

export type { WebStorage };

const id = "mesh.localstorage.v1";
const instead = "indexedDbStorage() or memoryStorage()";

/** A tab's write is visible to the others after that, ms. */
const settlingMs = 50;

/** Options of a {@linkcode LocalStorageStorage}. */
export interface LocalStorageOptions {
  /** What its items' names begin with: letters, digits, `_` and `-`; `modelmesh` unless given. */
  readonly prefix?: string;
  /** Used in place of the browser's `localStorage`, such as `sessionStorage`. */
  readonly area?: WebStorage;
}

/** A record as it was found. */
interface Found {
  readonly modifiedAt: number;
  readonly base64: string;
}

/**
 * Small records that outlive the page: `localStorage` has room for about five million characters per site, shared with
 * everything else the site keeps there, and holds text only. A record takes four characters for three bytes and about
 * fifteen more. Any script of the site can read it, and writing it holds the page up: for more than some hundred
 * kilobytes use `mesh.indexeddb.v1`.
 *
 * Locks: `localStorage` has no way to compare and write at once, so that a lock is written, and read again 50 ms later;
 * two tabs that ask at the same moment see whose write came last. It excludes as long as browsers show a write to
 * other tabs within that time, which they do, without a promise. A lock of `mesh.indexeddb.v1` is a promise.
 */
export class LocalStorageStorage implements Storage {
  readonly #clock: Clock;
  readonly #records: WebArea;
  readonly #locks: WebArea;

  /**
   * Makes one; touches nothing yet.
   *
   * @param clock For the times of records and locks.
   * @param options Prefix and place.
   * @throws {ConnectorError} When the prefix does not fit.
   */
  constructor(clock: Clock, { prefix = "modelmesh", area }: LocalStorageOptions = {}) {
    const start = checkedPrefix(prefix, id);
    const parts = { connector: id, name: "localStorage", area, instead } as const;
    this.#clock = clock;
    this.#records = new WebArea({ ...parts, prefix: `${start}.data.` });
    this.#locks = new WebArea({ ...parts, prefix: `${start}.lock.` });
  }

  load(key: string): Promise<Uint8Array | undefined> {
    return settled(() => {
      const found = this.#find(key);
      return found && this.#bytesOf(found.base64, key);
    });
  }

  save(key: string, data: Uint8Array): Promise<void> {
    return settled(() => this.#records.set(key, `${this.#clock.now()},${toBase64(data)}`));
  }

  list(prefix?: string): Promise<readonly string[]> {
    return settled(() => this.#records.keys(prefix));
  }

  delete(key: string): Promise<boolean> {
    return settled(() => this.#records.delete(key));
  }

  stat(key: string): Promise<StorageStat | undefined> {
    return settled(() => {
      const found = this.#find(key);
      return found && { size: sizeOf(found.base64), modifiedAt: found.modifiedAt };
    });
  }

  exists(key: string): Promise<boolean> {
    return settled(() => this.#records.get(key) !== undefined);
  }

  /** Takes a lock, as far as `localStorage` can: see the class. */
  acquire(key: string, options: LockOptions): Promise<Lock> {
    return acquireLock({ connector: id, clock: this.#clock, key, options }, async (wanted) => {
      if (isHeldByOther(this.#lock(key), wanted.owner, this.#clock.now())) return false;
      this.#locks.set(key, JSON.stringify(wanted));
      await this.#clock.sleep(settlingMs); // an abort would leave a lock without an owner
      return this.#lock(key)?.owner === wanted.owner;
    });
  }

  release({ key, owner }: Lock): Promise<void> {
    return settled(() => {
      if (this.#lock(key)?.owner === owner) this.#locks.delete(key);
    });
  }

  isLocked(key: string): Promise<boolean> {
    return settled(() => isHeld(this.#lock(key), this.#clock.now()));
  }

  #find(key: string): Found | undefined {
    const text = this.#records.get(key);
    if (text === undefined) return undefined;
    const comma = text.indexOf(",");
    const [modifiedAt, base64] = [text.slice(0, comma), text.slice(comma + 1)];
    if (!/^\d{1,15}$/.test(modifiedAt) || base64.length % 4 !== 0) throw this.#unreadable(key);
    return { modifiedAt: Number(modifiedAt), base64 };
  }

  #bytesOf(base64: string, key: string): Uint8Array {
    try {
      return fromBase64(base64);
    } catch (error) {
      throw this.#unreadable(key, error);
    }
  }

  #unreadable(key: string, cause?: unknown): ConnectorError {
    return new ConnectorError(
      `"${id}" cannot read "${key}": the item "${this.#records.nameOf(key)}" of localStorage is damaged, or another ` +
        "program's. Delete it, or choose another prefix",
      cause,
      "unreadable",
    );
  }

  /** What is no lock counts as none. */
  #lock(key: string): LockRecord | undefined {
    try {
      return JSON.parse(this.#locks.get(key) ?? "null") ?? undefined;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
}

/** What is thrown at once becomes a rejection, as the contract has it. */
// deno-lint-ignore require-await
async function settled<T>(work: () => T): Promise<T> {
  return work();
}

function sizeOf(base64: string): number {
  return base64.length / 4 * 3 - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);
}
